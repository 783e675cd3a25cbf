"""The connection itself: refused addresses, and cancellations."""

import asyncio
import random
import subprocess
import sys

import pytest

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError
from gateway.stores.redis.client import RedisClient, Script, quoted
from gateway.stores.redis.hot_state import RedisHotState
from tests.gateway.stores.redis.support import new_prefix
from tests.support.patience import PATIENCE

LOADED = "import sys, parley.app; print([m for m in sys.modules if m.split('.')[0] == 'redis'])"


async def test_an_invalid_address_is_refused_with_advice() -> None:
    with pytest.raises(ConfigurationError, match=r"storage\.url.*redis://HOST:PORT"):
        RedisClient("http://localhost")


async def test_a_server_with_an_old_version_is_refused(
    state: RedisHotState, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def old(*_: object) -> dict[str, str]:
        return {"redis_version": "6.0.16"}

    monkeypatch.setattr(state.client, "command", old)
    with pytest.raises(StoreUnavailable, match=r"6\.0\.16 is too old: Parley needs 6\.2"):
        await state.client.start()


async def test_an_error_in_a_script_is_a_store_error(state: RedisHotState) -> None:
    with pytest.raises(StoreUnavailable, match="wrong kind"):
        await state.client.run(
            Script.of("redis.call('SET', KEYS[1], 1) return redis.call('LPUSH', KEYS[1], 1)"),
            [state.client.key("k")],
        )


async def test_after_close_no_command_is_sent(state: RedisHotState) -> None:
    await state.client.stop()
    with pytest.raises(StoreUnavailable, match="closed"):
        await state.client.command("PING")


async def test_a_cancellation_always_takes_effect(state: RedisHotState) -> None:
    chance = random.Random(7)

    async def ask() -> None:
        while True:
            await state.client.command("GET", state.client.key("k"))

    for _ in range(200):
        task = asyncio.create_task(ask())
        for _ in range(chance.randrange(60)):
            await asyncio.sleep(0)
        task.cancel()
        _, pending = await asyncio.wait((task,), timeout=PATIENCE)
        assert not pending


async def test_commands_cancelled_at_any_moment_lose_no_connection(
    redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.stores.redis.client.CONNECTIONS", 2)
    client = RedisClient(redis, prefix=new_prefix())
    try:
        for steps in range(60):
            commands = [asyncio.create_task(client.command("PING")) for _ in range(6)]
            batches = [asyncio.create_task(client.batch([("PING",)])) for _ in range(6)]
            for _ in range(steps):
                await asyncio.sleep(0)
            for task in (*commands[::2], *batches[::2]):
                task.cancel()
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*commands, *batches, return_exceptions=True)
            assert [await task for task in commands[1::2]] == [True] * 3
            assert [await task for task in batches[1::2]] == [[True]] * 3
    finally:
        await client.stop()


def test_no_two_keys_are_equal() -> None:
    assert quoted("a:b", "c") != quoted("a", "b:c")


def test_without_redis_its_library_is_not_loaded() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60
    )
    assert loaded.stdout.strip() == "[]"
