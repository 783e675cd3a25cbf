"""Work waits for PostgreSQL once for each step whose result it needs, and once at its end."""

from collections.abc import AsyncIterator, Callable

import pytest

from db import Statement, StoreUnavailable, Work, execute, fetch, lock, together
from db.postgres import PostgresDatabase
from db.transaction import Fetch
from gateway.immutable import replace
from tests.db.conftest import PATIENT, THINGS
from tests.support.databases import new_database
from tests.support.round_trips import round_trips
from tests.support.servers import PostgresServer

pytestmark = pytest.mark.xdist_group("databases")
PUT = Statement("INSERT INTO things (id, size) VALUES (:id, :size)")
ALL = Statement("SELECT id FROM things ORDER BY id")


@pytest.fixture
async def alone(server: PostgresServer) -> AsyncIterator[PostgresDatabase]:
    """One connection."""
    limits = replace(PATIENT, connections=1)
    opened = PostgresDatabase(new_database(server), (THINGS,), limits)
    await opened.start()
    yield opened
    await opened.stop()


def puts() -> Work[None]:
    yield from lock("things")
    for id_ in ("a", "b", "c"):
        yield from execute(PUT, {"id": id_, "size": 1})


def reads() -> Work[list[str]]:
    yield from fetch(ALL)
    return [str(id_) for (id_,) in (yield from fetch(ALL))]


def reads_last() -> Work[list[str]]:
    yield from together(Fetch(ALL, {}), Fetch(ALL, {}))
    (rows,) = yield from together(Fetch(ALL, {}), last=True)
    return [str(id_) for (id_,) in rows]


@pytest.mark.parametrize(("work", "trips"), [(puts, 1), (reads, 3), (reads_last, 2)])
async def test_a_job_waits_for_results_and_for_the_commit(
    alone: PostgresDatabase, work: Callable[[], Work[object]], trips: int
) -> None:
    assert await round_trips(alone, lambda: alone.run(work)) == trips


async def test_one_statement_is_one_round_trip(alone: PostgresDatabase) -> None:
    await alone.fetch(ALL)  # the first time it is prepared
    assert await round_trips(alone, lambda: alone.fetch(ALL)) == 1


async def test_an_error_at_the_commit_is_raised_and_rolled_back(alone: PostgresDatabase) -> None:
    def twice() -> Work[None]:
        yield from puts()
        yield from execute(PUT, {"id": "a", "size": 1})
        yield from execute(PUT, {"id": "d", "size": 1})

    with pytest.raises(StoreUnavailable, match="duplicate key"):
        await alone.run(twice)
    assert await alone.fetch(ALL) == []
    await alone.run(puts)
    assert await alone.run(reads) == ["a", "b", "c"]
