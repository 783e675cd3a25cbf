"""All stores that implement a port, in one fixture each: all pass the same tests."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from gateway.ports.adapter import AdapterStates
from gateway.ports.inbox import Inbox
from gateway.ports.outbox import Outbox
from gateway.ports.usage import Buckets
from gateway.stores.conversations import Conversations
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.sqlite.hot_state import (
    SqliteAdapterStates,
    SqliteBuckets,
    SqliteInbox,
    SqliteOutbox,
)
from gateway.stores.traces import Traces
from gateway.stores.unit_of_work import TurnWriter
from gateway.stores.usage import UsageLedger
from tests.gateway.stores.redis.support import age, clean, hot_state, new_prefix, redis_url
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, postgres_database, sqlite_database
from tests.support.servers import PostgresServer


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = sqlite_database(tmp_path / "test.db")
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture(scope="session")
def redis() -> Iterator[str]:
    """The URL of a Redis."""
    with redis_url() as url:
        yield url


@pytest.fixture
async def redis_state(redis: str, clock: FakeClock) -> AsyncIterator[RedisHotState]:
    async with hot_state(redis, clock, new_prefix()) as state:
        yield state
        await clean(state.client)


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.xdist_group("redis"))])
def hot(request: pytest.FixtureRequest) -> SqliteDatabase | RedisHotState:
    """Each test of what moves runs once on either store."""
    opened: SqliteDatabase | RedisHotState = request.getfixturevalue(
        "database" if request.param == "sqlite" else "redis_state"
    )
    return opened


@pytest.fixture
def pass_time(
    hot: SqliteDatabase | RedisHotState, clock: FakeClock
) -> Callable[[float], Awaitable[None]]:
    """Lets seconds pass, in the store as well."""

    async def passing(seconds: float) -> None:
        await clock.advance(seconds)
        if isinstance(hot, RedisHotState):
            await age(hot.client, seconds)

    return passing


@pytest.fixture
def inbox(hot: SqliteDatabase | RedisHotState, clock: FakeClock) -> Inbox:
    return SqliteInbox(hot, clock) if isinstance(hot, SqliteDatabase) else hot.inbox


@pytest.fixture
def outbox(hot: SqliteDatabase | RedisHotState, clock: FakeClock) -> Outbox:
    return SqliteOutbox(hot, clock) if isinstance(hot, SqliteDatabase) else hot.outbox


@pytest.fixture
def buckets(hot: SqliteDatabase | RedisHotState, clock: FakeClock) -> Buckets:
    return SqliteBuckets(hot, clock) if isinstance(hot, SqliteDatabase) else hot.buckets


@pytest.fixture
def states(hot: SqliteDatabase | RedisHotState, clock: FakeClock) -> AdapterStates:
    return SqliteAdapterStates(hot, clock) if isinstance(hot, SqliteDatabase) else hot.states


@pytest.fixture
async def pool(postgres: PostgresServer) -> AsyncIterator[PostgresDatabase]:
    opened = postgres_database(await migrated_database(postgres), PATIENT)
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
def long_lived(request: pytest.FixtureRequest) -> SqliteDatabase | PostgresDatabase:
    """Each test of what lasts runs once on either database."""
    opened: SqliteDatabase | PostgresDatabase = request.getfixturevalue(
        "database" if request.param == "sqlite" else "pool"
    )
    return opened


@pytest.fixture
def conversations(long_lived: SqliteDatabase | PostgresDatabase) -> Conversations:
    return Conversations(long_lived)


@pytest.fixture
def usage(long_lived: SqliteDatabase | PostgresDatabase, clock: FakeClock) -> UsageLedger:
    return UsageLedger(long_lived, clock)


@pytest.fixture
def traces(long_lived: SqliteDatabase | PostgresDatabase) -> Traces:
    return Traces(long_lived)


@pytest.fixture
def keeper(long_lived: SqliteDatabase | PostgresDatabase) -> TurnWriter:
    return TurnWriter(long_lived)
