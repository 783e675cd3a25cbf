"""Fixtures for tests of the Redis stores: a server, a key prefix, and a clock."""

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from gateway.ports import Clock
from gateway.stores.redis.client import RedisClient
from gateway.stores.redis.hot_state import RedisHotState
from tests.support.servers import redis_server

LEASE = 2.0
"""Seconds: short, so that tests of takeovers are, and longer than a busy machine stands still."""
UNHURRIED = 5.0
"""Seconds: for tests in which nobody dies and a busy machine must not make it look so."""
HELD = 120.0
"""Seconds, more than a test has: what changes hands was handed over, and did not run out."""


@contextmanager
def redis_url() -> Iterator[str]:
    """The server in `$REDIS_URL`, or one of our own."""
    given = os.environ.get("REDIS_URL")
    if given:
        yield given
        return
    with redis_server() as server:
        yield server.url


def new_prefix() -> str:
    """A corner of the server that nobody else uses."""
    return f"test-{uuid.uuid4().hex[:12]}"


@asynccontextmanager
async def hot_state(
    url: str, clock: Clock, prefix: str, *, lease: float = LEASE
) -> AsyncIterator[RedisHotState]:
    """One process's view of the hot state."""
    state = RedisHotState(url, clock, prefix=prefix, lease=lease)
    await state.client.start()
    try:
        yield state
    finally:
        await state.client.stop()


async def all_keys(client: RedisClient) -> list[str]:
    """Every key of this corner."""
    cursor, result = "0", set[str]()
    while True:
        answer = await client.command("SCAN", cursor, "MATCH", client.key("*"), "COUNT", 1000)
        cursor, keys = str(int(answer[0])), answer[1]
        result.update(key.decode() for key in keys)
        if cursor == "0":
            return sorted(result)


async def age(client: RedisClient, seconds: float) -> None:
    """Make every key as old as if so many seconds had passed."""
    for key in await all_keys(client):
        left = await client.command("PTTL", key)
        if left >= 0:
            await client.command("PEXPIRE", key, left - round(seconds * 1000))


async def clean(client: RedisClient) -> None:
    """Leave nothing behind."""
    for key in await all_keys(client):
        await client.command("UNLINK", key)
