"""Projects are synced automatically: when due, by one process, also while other sources fail."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from db.sqlite import SqliteDatabase
from gateway.errors import BadInput, ConfigurationError
from gateway.extensions import ExtensionRegistry
from gateway.ports.clock import SystemClock
from gateway.ports.work_guard import WorkItem
from gateway.stores.sqlite.hot_state import SqliteBuckets
from memory.documents.figure_sources import (
    GatewaySource,
    HttpSource,
    PostgresSource,
    SourceFailed,
    SqliteSource,
)
from parley.app import App
from parley.config import SettingsError, from_mapping
from parley.runtime.heartbeats import EARLY, ROUND, Heartbeats, Site
from parley.wiring.heartbeats import sites_of
from parley.wiring.storage import MemoryStores, Storage
from tests.memory.rig import Rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.program import running_app
from tests.support.waiting import eventually
from tests.support.work import deadly

TEA, MILK = "slack:main:TEA", "slack:main:MILK"


class Source:
    """Counts how often it is asked; breaks on demand."""

    def __init__(self, broken: Exception | None = None) -> None:
        self.asked = 0
        self.broken = broken

    async def figures(self) -> Mapping[str, object]:
        self.asked += 1
        if self.broken is not None:
            raise self.broken
        return {"times_asked": self.asked}


@asynccontextmanager
async def shop() -> AsyncIterator[tuple[Rig, SqliteDatabase]]:
    clock, database = FakeClock(), sqlite_database(":memory:")
    await database.start()
    yield rig_on(MemoryStores(database, clock), database, clock), database
    await database.stop()


def heartbeats(rig: Rig, database: SqliteDatabase, **sources: Source) -> Heartbeats:
    names = {"tea": TEA, "milk": MILK}
    sites = {
        names[name]: Site("default", source, timedelta(hours=1)) for name, source in sources.items()
    }
    return Heartbeats(sites, rig.sync, SqliteBuckets(database, rig.clock), rig.clock)


async def test_a_project_is_synced_when_it_is_due() -> None:
    async with shop() as (rig, database):
        tea = Source()
        running = heartbeats(rig, database, tea=tea)
        for _ in range(12):
            await running.round(TEA)
            await rig.clock.advance(ROUND.total_seconds())
        assert tea.asked == 1
        await running.round(TEA)
        assert tea.asked == 2


async def test_syncs_repeat_until_stop() -> None:
    async with shop() as (rig, database):
        tea, milk = Source(), Source()
        running = heartbeats(rig, database, tea=tea, milk=milk)
        running.start()
        await eventually(lambda: tea.asked == milk.asked == 1)
        await eventually(lambda: len(rig.clock.slept) == 2)
        await running.stop()
        assert rig.clock.slept == [ROUND.total_seconds()] * 2


async def test_one_of_several_processes_syncs_a_project() -> None:
    async with shop() as (rig, database):
        tea = Source()
        processes = [heartbeats(rig, database, tea=tea) for _ in range(4)]
        await asyncio.gather(*(process.round(TEA) for process in processes))
        assert tea.asked == 1
        await rig.clock.advance(timedelta(hours=1).total_seconds())
        await asyncio.gather(*(process.round(TEA) for process in processes))
        assert tea.asked == 2


@pytest.mark.parametrize("broken", [SourceFailed("away"), RuntimeError("a bug"), KeyError("x")])
async def test_a_failing_source_is_retried_and_does_not_stop_the_others(broken: Exception) -> None:
    async with shop() as (rig, database):
        tea, milk = Source(broken), Source()
        running = heartbeats(rig, database, tea=tea, milk=milk)
        for number in (1, 2):
            await running.round(TEA)
            await running.round(MILK)
            assert (tea.asked, milk.asked) == (number, 1)
            await rig.clock.advance(ROUND.total_seconds())
        assert await rig.sync.problem("default", TEA)
        assert await rig.brain.synced_at("default", TEA) is None
        assert await rig.brain.synced_at("default", MILK) is not None


async def test_an_unavailable_store_does_not_stop_the_syncs() -> None:
    async with shop() as (rig, database):
        tea = Source()
        running = heartbeats(rig, database, tea=tea)
        await database.stop()
        await running.round(TEA)
        assert tea.asked == 0


async def test_a_manual_sync_counts_and_requires_a_source() -> None:
    async with shop() as (rig, database):
        tea = Source()
        running = heartbeats(rig, database, tea=tea)
        assert await running.sync_site(TEA) == "Times asked 1."
        await running.round(TEA)
        assert tea.asked == 1
        with pytest.raises(BadInput, match="under heartbeat"):
            await running.sync_site(MILK)


def test_a_claim_expires_before_the_next_round() -> None:
    assert timedelta(0) < EARLY < ROUND


def test_the_configuration_names_the_sources() -> None:
    settings = from_mapping(
        {
            "database": {"url": "memory://"},
            "heartbeat": {
                "sources": {
                    "slack:main:T1": {"kind": "http", "url": "https://shop.example.org/f.json"},
                    "slack:main:T2": {
                        "kind": "sql", "database": "sqlite:///shop.db", "query": "SELECT 1 AS a"
                    },
                    "slack:main:T3": {
                        "kind": "sql", "database": "postgresql://h/d", "query": "SELECT 1 AS a"
                    },
                    "telegram:main:-100:5": {"every_minutes": 30},
                }
            },
        }
    )  # fmt: skip
    clock = SystemClock()
    sites = sites_of(settings, Storage(settings, clock).activity, ExtensionRegistry(), clock)
    kinds = [HttpSource, SqliteSource, PostgresSource, GatewaySource]
    assert [type(site.source) for site in sites.values()] == kinds
    assert sites["telegram:main:-100:5"].every == timedelta(minutes=30)


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ({"slack": {}}, "not a project"),
        ({"slack::T1": {}}, "not a project"),
        ({"slack:main:T1": {"kind": "http"}}, "url"),
        ({"slack:main:T1": {"kind": "sql", "query": "SELECT 1"}}, "database"),
        (
            {"slack:main:T1": {"kind": "sql", "database": "mysql://h/d", "query": "SELECT 1"}},
            "sqlite:///FILE",
        ),
        ({f"slack:main:T{n}": {} for n in range(101)}, "100"),
    ],
)
def test_invalid_sources_are_refused(sources: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        from_mapping({"heartbeat": {"sources": sources}})


def test_an_unusual_spelling_of_a_host_is_refused_at_start() -> None:
    settings = from_mapping(
        {
            "database": {"url": "memory://"},
            "heartbeat": {"sources": {"a:b:c": {"kind": "http", "url": "http://127.1/"}}},
        }
    )
    clock = SystemClock()
    with pytest.raises(ConfigurationError, match="heartbeat"):
        sites_of(settings, Storage(settings, clock).activity, ExtensionRegistry(), clock)


async def test_the_program_syncs_automatically(tmp_path: Path) -> None:
    app = App(
        from_mapping(
            {
                "database": {"url": f"sqlite:///{tmp_path}/parley.db"},
                "server": {"port": 0},
                "webhooks": {"port": 0},
                "heartbeat": {"sources": {TEA: {"kind": "gateway"}}},
            }
        )
    )
    brain = app.memory.documents
    assert brain is not None
    async with running_app(app, drain=1):
        await eventually(lambda: brain.synced_at("default", TEA))


def test_without_memory_nothing_is_synced(tmp_path: Path) -> None:
    app = App(
        from_mapping(
            {
                "database": {"url": f"sqlite:///{tmp_path}/parley.db"},
                "memory": {"enabled": False},
                "heartbeat": {"sources": {TEA: {"kind": "gateway"}}},
            }
        )
    )
    assert app.jobs.heartbeats is None


async def test_a_quarantined_project_is_skipped_and_the_others_are_recorded_as_work() -> None:
    async with shop() as (rig, database):
        tea, milk = Source(), Source()
        guard = deadly("heartbeat", TEA)
        sites = {
            name: Site("default", source, timedelta(hours=1))
            for name, source in ((TEA, tea), (MILK, milk))
        }
        buckets = SqliteBuckets(database, rig.clock)
        running = Heartbeats(sites, rig.sync, buckets, rig.clock, guard)
        await running.round(TEA)
        await running.round(MILK)
        assert (tea.asked, milk.asked) == (0, 1)
        assert guard.marked == [(WorkItem("heartbeat", MILK),)]
