"""A send that another process requeued is sent once by the running gateway."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from db.errors import StoreUnavailable
from gateway.errors import Permanent
from gateway.message import Receipt
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.outbox_sweeper import EVERY, OutboxSweeper
from gateway.outbound.pacing import Pacer
from gateway.outbound.retry_decision import AccountSender, DeliveryRules
from gateway.ports import SendPace
from gateway.stores.sqlite.queues import SqliteOutbox
from tests.support.adapter import RecordingAdapter
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.messages import direct, outbound


class Flaky(SqliteOutbox):
    """An outbox that can be told to be away."""

    away = False

    async def sent(self, key: str, receipt: Receipt, message_key: str = "") -> None:
        if self.away:
            raise StoreUnavailable("database or disk is full")
        await super().sent(key, receipt, message_key)


@dataclass
class Bench:
    outbox: Flaky
    deliverer: Deliverer
    leftovers: OutboxSweeper
    clock: FakeClock
    adapter: RecordingAdapter = field(default_factory=RecordingAdapter)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    clock, database, adapter = FakeClock(), sqlite_database(":memory:"), RecordingAdapter()
    await database.start()
    outbox = Flaky(database, clock)
    line = AccountSender(adapter, Pacer(SendPace(), clock))
    line.connected.set()
    rules = DeliveryRules(lifetime=timedelta(hours=24))
    deliverer = Deliverer(outbox, {("test", "main"): line}, clock, rules, lambda *_: None)
    leftovers = OutboxSweeper(outbox, deliverer, clock)
    yield Bench(outbox, deliverer, leftovers, clock, adapter)
    await leftovers.stop()
    await deliverer.stop()
    await database.stop()


async def test_a_dead_letter_is_listed_and_sent_again(bench: Bench) -> None:
    bench.adapter.failures.append(Permanent("chat not found"))
    item = outbound("r:0", "important")
    await bench.outbox.add([item])
    bench.deliverer.submit([item])
    await bench.clock.advance(1)
    (letter,) = await bench.outbox.dead_letters(10)
    assert (letter.entry.outbound.key, letter.reason) == ("r:0", "Permanent: chat not found")
    bench.leftovers.start()
    assert await bench.outbox.requeue(["r:0", "unknown"]) == 1
    assert await bench.outbox.dead_letters(10) == []
    await bench.clock.advance(3 * EVERY)
    assert bench.adapter.texts.count("important") == 1
    assert await bench.outbox.waiting(10) == []


async def test_a_resent_dead_letter_has_a_new_lifetime(bench: Bench) -> None:
    await bench.outbox.add([outbound("r:0", "late")])
    await bench.outbox.dead(["r:0"], "too old")
    await bench.clock.advance(72 * 3600)
    bench.leftovers.start()
    await bench.outbox.requeue(["r:0"])
    await bench.clock.advance(3 * EVERY)
    assert bench.adapter.texts == ["late"]


async def test_resent_parts_keep_their_order(bench: Bench) -> None:
    items = [outbound(f"r:{n}", str(n)) for n in range(5)]
    await bench.outbox.add(items)
    keys = [item.key for item in items]
    await bench.outbox.dead(keys, "no")
    bench.leftovers.start()
    await bench.outbox.requeue(list(reversed(keys)))
    await bench.clock.advance(20)
    assert bench.adapter.texts == ["0", "1", "2", "3", "4"]


async def test_a_dropped_dead_letter_is_deleted(bench: Bench) -> None:
    await bench.outbox.add([outbound("r:0"), outbound("s:0")])
    await bench.outbox.dead(["r:0"], "no")
    assert await bench.outbox.drop(["r:0", "s:0"]) == 1, "what waits is not dropped"
    assert await bench.outbox.requeue(["r:0"]) == 0


async def test_a_send_in_progress_or_just_stored_is_not_taken_twice(bench: Bench) -> None:
    held, fresh = outbound("r:0", "held", direct("ada")), outbound("s:0", "fresh", direct("ben"))
    bench.deliverer._senders["test", "main"].connected.clear()
    await bench.outbox.add([held, fresh])
    bench.deliverer.submit([held])
    assert await bench.leftovers.look() == 0, "it may be submitted in a moment"
    bench.deliverer.submit([fresh])
    assert await bench.leftovers.look() == 0
    bench.deliverer._senders["test", "main"].connected.set()
    await bench.clock.advance(10)
    assert sorted(bench.adapter.texts) == ["fresh", "held"]


async def test_a_confirmed_send_that_cannot_be_stored_is_not_sent_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Hours of pauses of seconds say no more than hours of pauses of minutes.
    monkeypatch.setattr("gateway.outbound.deliverer.WRITE_PAUSE", 60.0)
    items = [outbound(f"r:{n}", str(n)) for n in range(3)]
    await bench.outbox.add(items)
    bench.outbox.away = True
    bench.leftovers.start()
    bench.deliverer.submit(items)
    await bench.clock.advance(6 * 3600)
    assert bench.adapter.texts == ["0"], "the chat waits for the store"
    assert await bench.leftovers.look() == 0
    bench.outbox.away = False
    await bench.clock.advance(120)
    assert bench.adapter.texts == ["0", "1", "2"]
    assert await bench.outbox.waiting(10) == []
    assert bench.deliverer.held == set()


async def test_other_chats_continue_meanwhile(bench: Bench) -> None:
    one, other = outbound("r:0", "one", direct("ada")), outbound("s:0", "other", direct("ben"))
    await bench.outbox.add([one, other])
    bench.outbox.away = True
    bench.deliverer.submit([one])
    await bench.clock.advance(5)
    bench.deliverer.submit([other])
    await bench.clock.advance(5)
    assert bench.adapter.texts == ["one", "other"]
    bench.outbox.away = False
    await bench.clock.advance(60)
    assert bench.deliverer.idle


async def test_a_full_disk_loses_and_repeats_nothing(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """SQLite itself refuses: the file may not grow any more."""
    clock, database = FakeClock(), sqlite_database(tmp_path / "full.db")
    await database.start()
    outbox, adapter = SqliteOutbox(database, clock), RecordingAdapter()
    line = AccountSender(adapter, Pacer(SendPace(), clock))
    line.connected.set()
    deliverer = Deliverer(outbox, {("test", "main"): line}, clock, DeliveryRules(), lambda *_: None)
    items = [outbound(f"r:{n}", str(n)) for n in range(3)]
    await outbox.add(items)
    await database.run_job(_fill)
    with pytest.raises(StoreUnavailable, match="full"):
        await outbox.add([outbound("s:0", "x" * 100_000)])
    deliverer.submit(items)
    await clock.advance(30)
    await database.run_job(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchall())
    await clock.advance(120)
    await asyncio.sleep(0)
    assert adapter.texts == ["0", "1", "2"]
    assert await outbox.waiting(10) == []
    await deliverer.stop()
    await database.stop()


def _fill(db) -> None:  # type: ignore[no-untyped-def]
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}").fetchall()
