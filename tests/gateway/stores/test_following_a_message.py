"""The data of the stores about one message and about everything that waits: for `parley logs`,
`why` and `status`, on either engine."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from db.sqlite import SqliteDatabase
from gateway.conversation import ConversationKey
from gateway.immutable import replace
from gateway.message import Receipt
from gateway.policy.budgets import BudgetAccount
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.queues import Backlog, BacklogReader, Inbox, InboxEntry, Outbox, SendState
from gateway.ports.traces import Trace
from gateway.ports.usage import UsageRow
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.redis.outbox import RedisOutbox
from gateway.stores.sqlite.queues import SqliteBacklog, SqliteOutbox
from gateway.stores.traces import Traces
from gateway.stores.usage import UsageLedger
from tests.support.clock import FakeClock
from tests.support.messages import AT, outbound, received

KEY = ConversationKey("t", "test", "main", "W1", "C1")
TRACE = Trace(
    *("x1", "m1", "test", "main", str(KEY), "message", AT),
    (Decision("access", True, "open"),),
    "answered",
    1.5,
    durations=(
        ("queue", "waited", -3_250, 3_250, "ok"),
        ("stage", "check_access", 0, 500, "open"),
        ("model", "m", 600, 5_000, "ok", (10, 5, 3, 2, 7)),
    ),
    audience="public_room",
)
MICROS = 1_000


def usage_row(person: str) -> UsageRow:
    return UsageRow("t", person, "test:main:W1", "m", Usage(1, 1), MICROS, AT)


async def test_a_trace_holds_the_durations_of_its_stages(traces: Traces) -> None:
    await traces.add(TRACE)
    assert await traces.find("m1") == [TRACE]


async def test_the_latest_traces_of_a_chat_are_found(traces: Traces) -> None:
    elsewhere = str(KEY._replace(channel="C2"))
    for number, conversation in enumerate((str(KEY), elsewhere, str(KEY), elsewhere)):
        at = AT + timedelta(seconds=number)
        await traces.add(replace(TRACE, id=f"x{number}", at=at, conversation=conversation))
    assert [one.id for one in await traces.recent_in("test:main:C1", 5)] == ["x2", "x0"]
    assert [one.id for one in await traces.recent_in("test:main:C2", 1)] == ["x3"]
    assert await traces.recent_in("test:other:C1", 5) == []


async def test_the_latest_traces_of_a_person_are_found(traces: Traces, usage: UsageLedger) -> None:
    for number, person in enumerate(("test:main:ada", "test:main:bob", "test:main:ada")):
        await traces.add(replace(TRACE, id=f"x{number}", at=AT + timedelta(seconds=number)))
        await usage.settle(f"x{number}", (usage_row(person),), ())
    assert [one.id for one in await traces.recent_of("t", "test:main:ada", 5)] == ["x2", "x0"]
    assert [one.id for one in await traces.recent_of("t", "test:main:bob", 5)] == ["x1"]
    assert await traces.recent_of("other", "test:main:ada", 5) == []


async def test_the_person_of_a_turn_is_known_by_its_cost(usage: UsageLedger) -> None:
    await usage.settle("x1", (usage_row("test:main:ada"),), ())
    assert await usage.person_of("x1") == "test:main:ada"
    assert await usage.person_of("x2") == ""


async def test_the_largest_sums_of_a_period_are_listed(usage: UsageLedger) -> None:
    sums = {"user:t:ada:2026-11-21": 5, "user:t:a:b:2026-11-21": 7, "user:t:ada:2026-11": 9}
    sums |= {"user:t:ada:2026-11-20": 8, "workspace:t:test:main:W1:2026-11-21": 12}
    for number, (key, micros) in enumerate(sums.items()):
        row = replace(usage_row("p"), micros=micros)
        await usage.settle(f"x{number}", (row,), (BudgetAccount("name", key, 100),))
    assert await usage.largest("user", "2026-11-21", 5) == [("t:a:b", 7), ("t:ada", 5)]
    assert await usage.largest("user", "2026-11-21", 1) == [("t:a:b", 7)]
    assert await usage.largest("workspace", "2026-11-21", 5) == [("t:test:main:W1", 12)]


async def test_the_sends_of_a_turn_are_told_without_their_content(
    outbox: Outbox, clock: FakeClock, pass_time: Callable[[float], Awaitable[None]]
) -> None:
    assert isinstance(outbox, SqliteOutbox | RedisOutbox)
    queued = clock.now()
    await outbox.add([outbound(key) for key in ("x1:0", "x1:1", "x1:2", "x10:0", "x2:0")])
    await outbox.tried("x1:0", "Transient: 429")
    await pass_time(2)
    await outbox.sent("x1:0", Receipt("5"))
    await outbox.dead(["x1:2"], "Permanent: 403")
    results = sorted(await outbox.deliveries("x1", 10), key=lambda one: one.key)
    # Redis holds the time of a queued send in its stream only.
    queued_at = [None, None, queued] if isinstance(outbox, RedisOutbox) else [queued] * 3
    assert results == [
        SendState("x1:0", "sent", 2, "Transient: 429", queued_at[0], clock.now()),
        SendState("x1:1", "waiting", 0, "", queued_at[1]),
        SendState("x1:2", "dead", 0, "Permanent: 403", queued_at[2], clock.now()),
    ]
    assert len(await outbox.deliveries("x1", 2)) == 2
    assert await outbox.deliveries("x", 10) == []
    known = [await outbox.knows(key) for key in ("x1:0", "x1:1", "x1:2", "x1:3", "x1")]
    assert known == [True, True, True, False, False]


@pytest.fixture
def backlog(hot: SqliteDatabase | RedisHotState) -> BacklogReader:
    return SqliteBacklog(hot) if isinstance(hot, SqliteDatabase) else hot.backlog


async def test_what_waits_is_counted_with_the_time_of_the_oldest(
    backlog: BacklogReader,
    inbox: Inbox,
    outbox: Outbox,
    clock: FakeClock,
    pass_time: Callable[[float], Awaitable[None]],
) -> None:
    assert isinstance(outbox, SqliteOutbox | RedisOutbox)
    assert await backlog.look() == Backlog()
    begin = clock.now()
    for number in range(3):
        event = received(f"{number}")
        entry = InboxEntry(f"e{number}", f"c{number}", event, clock.now())
        await inbox.add(entry, timedelta(hours=1))
        await outbox.add([outbound(f"x{number}:0")])
        await pass_time(10)
    await inbox.finish(["e0"], ())
    await outbox.sent("x0:0", Receipt("5"))
    await outbox.dead(["x1:0"], "Permanent")
    second, third = begin + timedelta(seconds=10), begin + timedelta(seconds=20)
    assert await backlog.look() == Backlog(2, second, 1, third, 1)
