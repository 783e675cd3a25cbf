"""Redis answers and refuses: it is a replica after a failover, or it has no memory or disk left."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    MovedError,
    ResponseError,
)

from db.errors import StoreUnavailable
from gateway.ports.clock import SystemClock
from gateway.stores.redis.client import RedisClient, unavailable
from gateway.stores.redis.hot_state import RedisHotState
from tests.gateway.stores.redis.support import hot_state
from tests.support.relay import relay
from tests.support.servers import RedisServer, redis_server
from tests.support.waiting import eventually

FILLED = "x" * 4_000
FILLERS = 1_500
LIMIT, LESS = "4mb", "1mb"


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
async def state(server: RedisServer) -> AsyncIterator[RedisHotState]:
    async with hot_state(server.url, SystemClock(), "parley") as state:
        await state.epoch.check()
        yield state


async def fill(client: RedisClient) -> None:
    """Write more than fits, as another program in the same Redis does."""
    for number in range(FILLERS):
        await client.command("SET", f"other:{number}", FILLED, "EX", 1_000)


async def test_after_a_failover_behind_one_address_the_new_primary_is_used() -> None:
    with redis_server() as old, redis_server() as new:
        async with (
            relay(old.port) as address,
            hot_state(f"redis://127.0.0.1:{address.port}/0", SystemClock(), "parley") as state,
            hot_state(new.url, SystemClock(), "parley") as direct,
        ):
            await state.epoch.check()
            await direct.client.command("REPLICAOF", "127.0.0.1", old.port)

            async def copied() -> bool:
                return bool(await direct.client.command("EXISTS", state.epoch.key))

            await eventually(copied)
            await direct.client.command("REPLICAOF", "NO", "ONE")
            await state.client.command("REPLICAOF", "127.0.0.1", new.port)
            address.target = new.port
            with pytest.raises(StoreUnavailable, match="primary"):
                await state.buckets.claim("first", timedelta(minutes=1))
            assert await state.buckets.claim("second", timedelta(minutes=1))
            await state.epoch.check()
            assert state.epoch.losses == ()
        old.stop(kill=True)  # each would wait for the other one
        new.stop(kill=True)


async def test_a_full_memory_is_named_with_the_next_step(state: RedisHotState) -> None:
    await state.client.command("CONFIG", "SET", "maxmemory", LIMIT)
    with pytest.raises(StoreUnavailable, match=r"memory is full.*maxmemory"):
        await fill(state.client)
    await state.client.command("CONFIG", "SET", "maxmemory", LESS)
    with pytest.raises(StoreUnavailable, match=r"memory is full.*maxmemory"):
        await state.epoch.check()


async def test_an_eviction_is_noticed_once(state: RedisHotState) -> None:
    await state.client.command("CONFIG", "SET", "maxmemory", LIMIT)
    await state.client.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
    before = state.epoch.id
    await fill(state.client)
    await state.epoch.check()
    assert [loss.kind for loss in state.epoch.losses] == ["evicted"]
    assert "noeviction" in state.epoch.losses[0].sentence
    assert state.epoch.id == before
    await state.epoch.check()
    assert len(state.epoch.losses) == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ResponseError("MISCONF Redis is configured to save RDB snapshots"), "disk"),
        (ResponseError("Error running script: @user_script:3: -OOM command not"), "maxmemory"),
        (BusyLoadingError("is loading", status_code="LOADING"), "loading its data"),
        (MovedError("6093 10.0.0.7:6379", status_code="MOVED"), "cluster"),
        (ClusterDownError("Hash slot not served", status_code="CLUSTERDOWN"), "cluster"),
        (AuthenticationError("required.", status_code="NOAUTH"), "password"),
        (ResponseError("WRONGTYPE Operation against a key"), "WRONGTYPE"),
    ],
)
def test_a_refusal_says_what_to_do(error: ResponseError, said: str) -> None:
    assert said in str(unavailable(error))
