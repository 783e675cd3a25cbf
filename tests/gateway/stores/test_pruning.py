"""SQLite deletes expired rows in small steps, and finds them without a scan of the table."""

import sqlite3
from datetime import timedelta

import pytest

from db.sqlite import SqliteDatabase
from gateway.conversation import key_of
from gateway.message import Receipt
from gateway.policy.rate_limits import BucketRule
from gateway.ports.conversations import StoredTurn
from gateway.ports.queues import InboxEntry
from gateway.ports.traces import Trace
from gateway.stores.conversations import Conversations
from gateway.stores.sqlite.hot_state import SqliteAdapterStates, SqliteBuckets, delete_some
from gateway.stores.sqlite.queues import SqliteInbox, SqliteOutbox
from gateway.stores.traces import Traces
from tests.support.clock import FakeClock
from tests.support.messages import outbound, place, received

MINUTE = timedelta(minutes=1)
KEY = key_of("t", place())


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.stores.sqlite.hot_state.PRUNED_AT_ONCE", 2)
    monkeypatch.setattr("db.database.AT_ONCE", {"sqlite": 2})


async def test_every_table_deletes_old_rows_in_steps_and_keeps_new_ones(
    sqlite: SqliteDatabase, clock: FakeClock
) -> None:
    inbox, outbox = SqliteInbox(sqlite, clock), SqliteOutbox(sqlite, clock)
    buckets, states = SqliteBuckets(sqlite, clock), SqliteAdapterStates(sqlite, clock)
    conversations, traces = Conversations(sqlite), Traces(sqlite)

    async def fill(names: str) -> None:
        for name in names:
            entry = InboxEntry(name, "lane", received(message_id=name), clock.now())
            await inbox.add(entry, MINUTE)
            await inbox.finish((name,), (outbound(f"{name}:0"),))
            await outbox.sent(f"{name}:0", Receipt("p"))
            await buckets.take((BucketRule("user", name, 5),), clock.now().timestamp())
            await states.of("test", "main").put(name, "v", MINUTE)
            await conversations.append(KEY, (StoredTurn(name, "user", "hi", clock.now()),))
            decisions = ()
            at = clock.now()
            await traces.add(
                Trace(name, name, "test", "main", "c", "message", at, decisions, "answered", 1)
            )

    await fill("abc")
    await clock.advance(25 * 3600)
    await fill("d")
    before = clock.now() - timedelta(hours=24)
    for prune in (
        inbox.prune,
        outbox.prune,
        buckets.prune,
        states.prune,
        lambda: conversations.prune(before),
        lambda: traces.prune(before, before),
    ):
        assert [await prune() for _ in range(3)] == [2, 1, 0]
    for table in ("inbox", "outbox", "buckets", "adapter_state", "turns", "traces"):
        sql = f"SELECT count(*) FROM {table}"
        assert await sqlite.run_job(lambda db, sql=sql: db.execute(sql).fetchone()) == (1,), table  # type: ignore[misc]


@pytest.mark.parametrize(
    ("table", "key", "where", "values"),
    [
        ("inbox", "arrival", "done = 1 AND expires_at <= ?", (0.0,)),
        ("outbox", "seq", "state = 'sent' AND settled_at <= ?", (0.0,)),
        ("outbox", "seq", "state = 'dead' AND settled_at <= ?", (0.0,)),
        ("turns", "id", "at < ?", (0.0,)),
        ("traces", "id", "at < ?", (0.0,)),
        ("usage", "id", "summed = 1 AND at < ?", (0.0,)),
        ("usage_days", "day, model", "day < ?", (0.0,)),
        ("usage_quarters", "quarter, model", "quarter < ?", (0.0,)),
        ("spent", "key", "since < ?", (0.0,)),
    ],
)
async def test_tables_that_grow_are_not_scanned(
    sqlite: SqliteDatabase, table: str, key: str, where: str, values: tuple[float, ...]
) -> None:
    questions: list[str] = []

    def job(db: sqlite3.Connection) -> None:
        db.set_trace_callback(questions.append)
        delete_some(db, table, key, where, *values)
        db.set_trace_callback(None)
        plan = db.execute(f"EXPLAIN QUERY PLAN {questions[0]}").fetchall()
        assert not [row for row in plan if row[3].startswith("SCAN")], plan

    await sqlite.run_job(job)
