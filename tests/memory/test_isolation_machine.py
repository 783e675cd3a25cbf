"""No record reaches a person without access, for arbitrary sequences of actions."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from db.sqlite import SqliteDatabase
from gateway.ports.memory import WaitingTurn
from gateway.stores.unit_of_work import put_waiting_turn
from memory.knowledge.schema import FILE_SCHEMA
from memory.knowledge.stores.word_index import word_index_on
from parley.wiring.storage import MemoryStores
from tests.memory.isolation.base import Opened
from tests.memory.isolation.directed import WALKS, Walk
from tests.memory.isolation.machine import Isolation
from tests.memory.isolation.reached import missing, table
from tests.memory.knowledge.search.conftest import Library
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, postgres_database, sqlite_database
from tests.support.servers import PostgresServer

WAITING: Final = "SELECT id, record FROM memory_reviews WHERE state = 'pending' AND tenant = "
PAIRS: Final = "SELECT older, newer FROM memory_conflicts WHERE settled_at IS NULL AND tenant = "
LONG: Final = 5_000
"""Steps of a walk of nightly size."""
BUSY: Final = pytest.mark.timeout(300)
"""Seconds of work, and minutes on a machine that is busy."""
MANY: Final = pytest.param(
    *(100, 60), id="many", marks=[pytest.mark.nightly, pytest.mark.timeout(7_200)]
)


def test_directed_walks_reach_every_situation_on_sqlite(tmp_path: Path) -> None:
    with on_sqlite(tmp_path) as opened:
        direct(opened)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(
    "walks",
    [
        pytest.param(WALKS[::2], id="half"),
        pytest.param(WALKS, id="all", marks=pytest.mark.nightly),
    ],
)
def test_directed_walks_reach_every_situation_on_postgres(
    postgres: PostgresServer, walks: Sequence[Walk]
) -> None:
    with on_postgres(postgres) as opened:
        direct(opened, walks)


@pytest.mark.parametrize(("examples", "steps"), [pytest.param(6, 30, id="some", marks=BUSY), MANY])
def test_people_read_only_their_memories_on_sqlite(
    tmp_path: Path, examples: int, steps: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with on_sqlite(tmp_path) as opened:
        play(opened, examples, steps, capsys)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(("examples", "steps"), [MANY])
def test_people_read_only_their_memories_on_postgres(
    postgres: PostgresServer, examples: int, steps: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with on_postgres(postgres) as opened:
        play(opened, examples, steps, capsys)


@contextmanager
def on_sqlite(folder: Path) -> Iterator[Opened]:
    """Stores and an index of repositories in two files."""
    with asyncio.Runner() as runner:
        database, clock = sqlite_database(folder / "memory.db"), FakeClock()
        runner.run(database.start())

        async def waiting(tenant: str) -> list[tuple[str, str]]:
            return await database.run_job(
                lambda db: db.execute(f"{WAITING} ?", (tenant,)).fetchall()
            )

        async def pairs(tenant: str) -> list[tuple[str, str]]:
            return await database.run_job(lambda db: db.execute(f"{PAIRS} ?", (tenant,)).fetchall())

        async def keep(turn: WaitingTurn) -> None:
            await database.run(lambda: put_waiting_turn(turn))

        stores = MemoryStores(database, clock)
        index = SqliteDatabase(folder / "knowledge.db", (FILE_SCHEMA,))
        runner.run(index.start())
        library = Library(index, word_index_on(index))
        yield Opened(runner, stores, database, clock, waiting, pairs, keep, library)
        runner.run(index.stop())
        runner.run(database.stop())


@contextmanager
def on_postgres(server: PostgresServer) -> Iterator[Opened]:
    """Stores and an index of repositories in PostgreSQL, and hot state in SQLite."""
    with asyncio.Runner() as runner:
        database, clock = sqlite_database(":memory:"), FakeClock()
        pool = postgres_database(migrated_database(server), PATIENT)
        runner.run(database.start())
        runner.run(pool.start())

        async def waiting(tenant: str) -> list[tuple[str, str]]:
            rows = await pool.fetch_raw(f"{WAITING} %(tenant)s", {"tenant": tenant})
            return [(str(id_), str(record)) for id_, record in rows]

        async def pairs(tenant: str) -> list[tuple[str, str]]:
            rows = await pool.fetch_raw(f"{PAIRS} %(tenant)s", {"tenant": tenant})
            return [(str(older), str(newer)) for older, newer in rows]

        async def keep(turn: WaitingTurn) -> None:
            await pool.run(lambda: put_waiting_turn(turn))

        stores = MemoryStores(pool, clock)
        library = Library(pool, word_index_on(pool))
        yield Opened(runner, stores, database, clock, waiting, pairs, keep, library)
        runner.run(pool.stop())
        runner.run(database.stop())


def direct(opened: Opened, walks: Sequence[Walk] = WALKS) -> Counter[str]:
    """Take directed walks; return the situations that they reached."""
    reached: Counter[str] = Counter()
    for walk in walks:
        own = walk.play(opened)
        assert missing(own, walk.reaches) == [], f"not reached by {walk.steps.__name__}"
        reached += own
    return reached


def play(opened: Opened, examples: int, steps: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Let people do so many things, so many times over. In a run of nightly size the directed walks
    and the random one together have to reach every situation."""
    many = examples * steps >= LONG
    directed = direct(opened) if many else Counter[str]()
    machine = type("Isolation", (Isolation,), {"opened": opened})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
    with capsys.disabled():
        print(f"\n{table(directed, opened.reached)}")  # noqa: T201 - the result of a nightly run
    if many:
        assert missing(directed + opened.reached) == []
