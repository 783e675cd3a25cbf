"""All stores that implement a port, in one fixture each: all pass the same tests."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from db.sqlite import SqliteDatabase
from gateway.ports.adapter import AdapterStates
from gateway.ports.queues import Inbox, Outbox
from gateway.ports.usage import Buckets
from gateway.stores.conversations import Conversations
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.sqlite.hot_state import SqliteAdapterStates, SqliteBuckets
from gateway.stores.sqlite.queues import SqliteInbox, SqliteOutbox
from gateway.stores.traces import Traces
from gateway.stores.unit_of_work import LongLivedTurns
from gateway.stores.usage import UsageLedger
from tests.gateway.stores.redis.support import age, clean, hot_state, new_prefix, redis_url
from tests.support.clock import FakeClock
from tests.support.databases import Engine


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
        "sqlite" if request.param == "sqlite" else "redis_state"
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
def conversations(engine: Engine) -> Conversations:
    return Conversations(engine)


@pytest.fixture
def usage(engine: Engine, clock: FakeClock) -> UsageLedger:
    return UsageLedger(engine, clock)


@pytest.fixture
def traces(engine: Engine) -> Traces:
    return Traces(engine)


@pytest.fixture
def keeper(engine: Engine) -> LongLivedTurns:
    return LongLivedTurns(engine)
