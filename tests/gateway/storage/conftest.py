"""Every store that implements a port, behind one fixture each: all pass the same tests."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.storage.postgres.conversations import PostgresConversations
from gateway.storage.postgres.keeper import PostgresKeeper
from gateway.storage.postgres.pool import PostgresPool
from gateway.storage.postgres.traces import PostgresTraces
from gateway.storage.postgres.usage import PostgresUsage
from gateway.storage.sqlite.adapter_state import SqliteAdapterStates
from gateway.storage.sqlite.buckets import SqliteBuckets
from gateway.storage.sqlite.conversations import SqliteConversations
from gateway.storage.sqlite.database import Database
from gateway.storage.sqlite.inbox import SqliteInbox
from gateway.storage.sqlite.keeper import SqliteKeeper
from gateway.storage.sqlite.outbox import SqliteOutbox
from gateway.storage.sqlite.traces import SqliteTraces
from gateway.storage.sqlite.usage import SqliteUsage
from gateway.stores import Conversations, Keeper, Traces, UsageLedger
from tests.support.clock import FakeClock
from tests.support.databases import new_database
from tests.support.servers import PostgresServer, postgres_server


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(tmp_path / "test.db")
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
def inbox(database: Database, clock: FakeClock) -> SqliteInbox:
    return SqliteInbox(database, clock)


@pytest.fixture
def outbox(database: Database, clock: FakeClock) -> SqliteOutbox:
    return SqliteOutbox(database, clock)


@pytest.fixture
def buckets(database: Database, clock: FakeClock) -> SqliteBuckets:
    return SqliteBuckets(database, clock)


@pytest.fixture
def states(database: Database, clock: FakeClock) -> SqliteAdapterStates:
    return SqliteAdapterStates(database, clock)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture
async def pool(postgres: PostgresServer) -> AsyncIterator[PostgresPool]:
    opened = PostgresPool(new_database(postgres))
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
def long_lived(request: pytest.FixtureRequest) -> Database | PostgresPool:
    """Each test of what lasts runs once on either database."""
    opened: Database | PostgresPool = request.getfixturevalue(
        "database" if request.param == "sqlite" else "pool"
    )
    return opened


@pytest.fixture
def conversations(long_lived: Database | PostgresPool) -> Conversations:
    if isinstance(long_lived, Database):
        return SqliteConversations(long_lived)
    return PostgresConversations(long_lived)


@pytest.fixture
def usage(long_lived: Database | PostgresPool, clock: FakeClock) -> UsageLedger:
    if isinstance(long_lived, Database):
        return SqliteUsage(long_lived, clock)
    return PostgresUsage(long_lived, clock)


@pytest.fixture
def traces(long_lived: Database | PostgresPool) -> Traces:
    return (
        SqliteTraces(long_lived) if isinstance(long_lived, Database) else PostgresTraces(long_lived)
    )


@pytest.fixture
def keeper(long_lived: Database | PostgresPool) -> Keeper:
    return (
        SqliteKeeper(long_lived) if isinstance(long_lived, Database) else PostgresKeeper(long_lived)
    )
