"""Stores that go and come back are told while they are gone."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from db.errors import StoreUnavailable
from gateway.stores.sqlite.buckets import SqliteBuckets
from gateway.stores.usage import SqlUsage
from parley.runtime.store_health import EVERY, StoreMonitor, database_probe, storage_probe
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.patience import PATIENCE


class Store:
    """A store that does as it is told."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.asked = 0

    async def probe(self) -> None:
        self.asked += 1
        if self.failure is not None:
            raise self.failure


async def test_a_store_that_fails_is_named_until_it_is_back() -> None:
    store, other, clock = Store(), Store(), FakeClock()
    watch = StoreMonitor({"storage": store.probe, "database": other.probe}, clock)
    watch.start()
    await clock.advance(0)
    assert watch.problems == {}
    store.failure = StoreUnavailable("the disk is full\nDETAIL: what somebody wrote")
    with capture_logs() as logs:
        await clock.advance(EVERY * 100)
        assert watch.problems == {"storage": "the disk is full"}
        store.failure = None
        await clock.advance(EVERY)
    assert watch.problems == {}
    errors = [line["event"] for line in logs if line["log_level"] == "error"]
    assert errors == ["store_unavailable"]
    assert other.asked == store.asked
    await watch.stop()
    await watch.stop()


async def test_a_store_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("parley.runtime.store_health.ANSWER_SECONDS", 0.01)
    watch = StoreMonitor({"storage": lambda: asyncio.Event().wait()}, FakeClock())
    with capture_logs():
        await asyncio.wait_for(watch.round(), PATIENCE)
    assert "no answer" in watch.problems["storage"]


async def test_an_outage_is_told_before_the_driver_has_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("parley.runtime.store_health.ANSWER_SECONDS", 0.01)
    held, let_go = asyncio.Event(), asyncio.Event()

    async def slow_to_give_up() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            held.set()
            await let_go.wait()

    watch = StoreMonitor({"database": slow_to_give_up}, FakeClock())
    with capture_logs():
        asking = asyncio.create_task(watch.round())
        await asyncio.wait_for(held.wait(), PATIENCE)
        assert "no answer" in watch.problems["database"]
    let_go.set()
    await asking


async def test_whatever_a_store_raises_it_is_not_available() -> None:
    store = Store()
    store.failure = KeyError("a bug")
    watch = StoreMonitor({"storage": store.probe}, FakeClock())
    with capture_logs():
        await watch.round()
    assert set(watch.problems) == {"storage"}


async def test_the_probes_work_on_a_real_file_and_leave_little_behind(tmp_path: Path) -> None:
    clock = FakeClock()
    database = sqlite_database(tmp_path / "parley.db")
    await database.start()
    buckets, usage = SqliteBuckets(database, clock), SqlUsage(database, clock)
    watch = StoreMonitor(
        {"storage": storage_probe(buckets), "database": database_probe(usage)}, clock
    )
    for _ in range(20):
        await watch.round()
        await clock.advance(EVERY)
    assert watch.problems == {}
    count = "SELECT (SELECT count(*) FROM reserved) + (SELECT count(*) FROM once)"
    assert await database.run_job(lambda db: db.execute(count).fetchone()) == (2,)
    await database.run_job(lambda db: db.execute("PRAGMA query_only=ON").fetchall() and None)
    with capture_logs():
        await watch.round()
    assert set(watch.problems) == {"storage", "database"}
    await database.stop()
