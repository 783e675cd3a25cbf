"""A deliverer on a real outbox, with an adapter that writes down and a clock moved by hand."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from db.sqlite import SqliteDatabase
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.pacing import Pacer
from gateway.outbound.retry_decision import AccountSender, DeliveryRules
from gateway.ports import SendPace
from gateway.stores.sqlite.queues import SqliteOutbox
from tests.support.adapter import RecordingAdapter
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database


@dataclass
class Bench:
    deliverer: Deliverer
    adapter: RecordingAdapter
    outbox: SqliteOutbox
    clock: FakeClock
    database: SqliteDatabase
    line: AccountSender

    async def send(self, *items, seconds: float = 100.0) -> list[str]:  # type: ignore[no-untyped-def]
        await self.outbox.add(items)
        self.deliverer.submit(items)
        await self.clock.advance(seconds)
        return self.adapter.texts

    async def states(self) -> dict[str, str]:
        rows = await self.database.run_job(
            lambda db: db.execute("SELECT key, state FROM outbox ORDER BY seq").fetchall()
        )
        return dict(rows)


@pytest.fixture
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    options = getattr(request, "param", {})
    clock, database = FakeClock(), sqlite_database(":memory:")
    await database.start()
    outbox = SqliteOutbox(database, clock)
    adapter = RecordingAdapter(options.get("capabilities"))
    line = AccountSender(adapter, Pacer(SendPace(), clock))
    line.connected.set()
    rules = options.get("rules", DeliveryRules())
    deliverer = Deliverer(outbox, {("test", "main"): line}, clock, rules, lambda *_: None)
    yield Bench(deliverer, adapter, outbox, clock, database, line)
    await deliverer.stop()
    await database.stop()
