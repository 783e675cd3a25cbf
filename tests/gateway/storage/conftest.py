"""Every store that implements a port, behind one fixture each: all pass the same tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.storage.sqlite.adapter_state import SqliteAdapterStates
from gateway.storage.sqlite.buckets import SqliteBuckets
from gateway.storage.sqlite.conversations import SqliteConversations
from gateway.storage.sqlite.database import Database
from gateway.storage.sqlite.inbox import SqliteInbox
from gateway.storage.sqlite.outbox import SqliteOutbox
from gateway.storage.sqlite.traces import SqliteTraces
from gateway.storage.sqlite.usage import SqliteUsage
from tests.support.clock import FakeClock


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


@pytest.fixture
def conversations(database: Database) -> SqliteConversations:
    return SqliteConversations(database)


@pytest.fixture
def usage(database: Database, clock: FakeClock) -> SqliteUsage:
    return SqliteUsage(database, clock)


@pytest.fixture
def traces(database: Database) -> SqliteTraces:
    return SqliteTraces(database)
