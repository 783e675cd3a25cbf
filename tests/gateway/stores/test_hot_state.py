"""Inbox, outbox, buckets, adapter state: the contract of the ports for hot state."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from db.sqlite import SqliteDatabase
from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import InboundEvent, OutboundFile, Part, Receipt
from gateway.policy.rate_limits import Bucket, BucketRule
from gateway.ports import AdapterState
from gateway.ports.adapter import AdapterStates
from gateway.ports.queues import Inbox, InboxEntry, Outbox
from gateway.ports.usage import Buckets
from gateway.stores.codec import event_from_json, event_to_json, outbound_from_json
from gateway.stores.codec import outbound_to_json as to_json
from gateway.stores.redis.outbox import RedisOutbox
from gateway.stores.sqlite.queues import SqliteInbox, SqliteOutbox
from gateway.turn.tool_files import MAX_FILE
from tests.support.clock import FakeClock
from tests.support.events import events
from tests.support.messages import direct, outbound, received

DAY = timedelta(days=1)
PassTime = Callable[[float], Awaitable[None]]


def entry(message_id: str, clock: FakeClock, lane: str = "lane") -> InboxEntry:
    return InboxEntry(
        f"id-{message_id}", lane, received(message_id=message_id), clock.now(), "mention"
    )


async def test_an_event_is_accepted_once(inbox: Inbox, clock: FakeClock) -> None:
    assert await inbox.add(entry("m1", clock), DAY)
    assert not await inbox.add(entry("m1", clock), DAY)


async def test_an_event_is_returned_with_its_decisions(inbox: Inbox, clock: FakeClock) -> None:
    await inbox.add(entry("m1", clock), DAY)
    assert await inbox.unfinished(10) == [entry("m1", clock)]


async def test_exactly_one_of_many_concurrent_claims_succeeds(
    inbox: Inbox, clock: FakeClock
) -> None:
    added = await asyncio.gather(*(inbox.add(entry("m1", clock), DAY) for _ in range(50)))
    assert sum(added) == 1


async def test_a_completed_event_is_still_recognised(
    inbox: Inbox, clock: FakeClock, pass_time: PassTime
) -> None:
    await inbox.add(entry("m1", clock), DAY)
    await inbox.finish(("id-m1",), ())
    await pass_time(DAY.total_seconds() - 1)
    assert not await inbox.add(entry("m1", clock), DAY)


async def test_after_its_retention_the_id_is_deleted(
    inbox: Inbox, clock: FakeClock, pass_time: PassTime
) -> None:
    await inbox.add(entry("m1", clock), DAY)
    await inbox.finish(("id-m1",), ())
    await pass_time(DAY.total_seconds() + 1)
    await inbox.prune()
    assert await inbox.add(entry("m1", clock), DAY)


async def test_an_unfinished_event_is_kept_for_60_days(
    inbox: Inbox, clock: FakeClock, pass_time: PassTime
) -> None:
    await inbox.add(entry("m1", clock), DAY)
    await pass_time(59 * DAY.total_seconds())
    await inbox.add(entry("m2", clock), DAY)
    assert await inbox.prune() == 0
    assert not await inbox.add(entry("m1", clock), DAY)
    await pass_time(2 * DAY.total_seconds())
    assert [await inbox.prune() for _ in range(2)] == [1, 0]
    assert [left.id for left in await inbox.unfinished(10)] == ["id-m2"]
    assert await inbox.add(entry("m1", clock), DAY)


async def test_a_dead_letter_is_kept_for_30_days(outbox: Outbox, pass_time: PassTime) -> None:
    assert isinstance(outbox, SqliteOutbox | RedisOutbox)
    await outbox.add((outbound("r:0"), outbound("r:1"), outbound("r:2")))
    await outbox.dead(("r:0",), "Permanent: gone")
    await pass_time(29 * DAY.total_seconds())
    await outbox.dead(("r:1",), "Permanent: gone")
    assert await outbox.prune() == 0
    await pass_time(2 * DAY.total_seconds())
    assert [await outbox.prune() for _ in range(2)] == [1, 0]
    left = await outbox.dead_letters(10)
    assert [letter.entry.outbound.key for letter in left] == ["r:1"]
    assert [item.outbound.key for item in await outbox.waiting(10)] == ["r:2"]


async def test_unfinished_events_are_returned_in_order(inbox: Inbox, clock: FakeClock) -> None:
    for number in range(5):
        await inbox.add(entry(f"m{number}", clock), DAY)
    await inbox.finish(("id-m1", "id-m3"), ())
    left = await inbox.unfinished(10)
    assert [item.id for item in left] == ["id-m0", "id-m2", "id-m4"]
    assert left[0].event == received(message_id="m0")


async def test_completing_an_event_and_queuing_its_answer_are_one_step(
    inbox: Inbox, outbox: Outbox, clock: FakeClock
) -> None:
    await inbox.add(entry("m1", clock), DAY)
    await inbox.finish(("id-m1",), (outbound("r:0"), outbound("r:1")))
    assert [item.outbound.key for item in await outbox.waiting(10)] == ["r:0", "r:1"]
    assert await inbox.unfinished(10) == []


async def test_only_the_first_completion_of_an_event_queues_an_answer(
    inbox: Inbox, outbox: Outbox, clock: FakeClock
) -> None:
    await inbox.add(entry("m1", clock), DAY)
    question = (inbox.finish(("id-m1",), (outbound(f"r{n}:0"),)) for n in range(10))
    ended = await asyncio.gather(*question)
    assert sorted(map(bool, ended)) == [False] * 9 + [True]
    assert len(await outbox.waiting(10)) == 1


async def test_a_turn_with_one_open_event_is_answered(
    inbox: Inbox, outbox: Outbox, clock: FakeClock
) -> None:
    await inbox.add(entry("m1", clock), DAY)
    await inbox.add(entry("m2", clock), DAY)
    assert await inbox.finish(("id-m1",), ())
    assert await inbox.finish(("id-m1", "id-m2"), (outbound("r:0"),))
    assert await inbox.unfinished(10) == []
    assert len(await outbox.waiting(10)) == 1


async def test_a_send_without_an_event_is_always_queued(inbox: Inbox, outbox: Outbox) -> None:
    assert await inbox.finish((), (outbound("r:0"),))
    assert not await inbox.finish(("unknown",), (outbound("r:1"),))
    assert [item.outbound.key for item in await outbox.waiting(10)] == ["r:0"]


async def test_sends_wait_in_order_across_accounts(outbox: Outbox) -> None:
    rooms = [replace(direct(), account=account) for account in ("one", "two", "one", "two")]
    for number, room in enumerate(rooms):
        await outbox.add((outbound(f"r{number}:0", at=room),))
    waiting = await outbox.waiting(3)
    assert [item.outbound.key for item in waiting] == ["r0:0", "r1:0", "r2:0"]


async def test_a_send_is_queued_once(outbox: Outbox) -> None:
    await outbox.add((outbound("r:0", "first"),))
    await outbox.add((outbound("r:0", "second"),))
    waiting = await outbox.waiting(10)
    assert [item.outbound.part.text for item in waiting if item.outbound.part] == ["first"]


async def test_completed_and_dead_sends_wait_no_longer(outbox: Outbox) -> None:
    await outbox.add((outbound("r:0"), outbound("r:1"), outbound("r:2")))
    await outbox.sent("r:0", Receipt("p1"))
    await outbox.tried("r:1", "Transient: later")
    await outbox.dead(("r:2",), "Permanent: gone")
    waiting = await outbox.waiting(10)
    assert [(item.outbound.key, item.attempts) for item in waiting] == [("r:1", 1)]


async def test_the_result_of_the_last_attempt_is_stored(outbox: Outbox, clock: FakeClock) -> None:
    keys = [f"r:{number}" for number in range(5)]
    await outbox.add([outbound(key) for key in keys])
    for key in keys[1:]:
        await outbox.begin(outbound(key))
    await outbox.tried("r:2", "Transient: later", not_before=clock.now() + DAY)
    await outbox.tried("r:3", "Ambiguous: cut", unsure=True)
    await outbox.tried("r:4", "Transient: 429", not_before=clock.now() + DAY)
    await outbox.begin(outbound("r:4"))
    await outbox.tried("r:4", "Transient: 500")
    await outbox.begin(outbound("unknown"))
    results = {item.outbound.key: (item.begun, item.not_before) for item in await outbox.waiting(9)}
    assert results == {
        "r:0": (False, None),
        "r:1": (True, None),
        "r:2": (False, clock.now() + DAY),
        "r:3": (True, None),
        "r:4": (False, None),
    }


async def test_an_attempt_that_another_one_precedes_does_not_start(outbox: Outbox) -> None:
    await outbox.add([outbound(f"r:{number}") for number in range(3)])
    assert await outbox.begin(outbound("r:0"))
    assert not await outbox.begin(outbound("r:0"))
    assert await outbox.begin(outbound("r:0"), again=True)
    await outbox.tried("r:0", "Transient: later")
    assert await outbox.begin(outbound("r:0"))
    await outbox.sent("r:1", Receipt("p1"))
    await outbox.dead(["r:2"], "too old")
    for key in ("r:1", "r:2", "unknown"):
        assert not await outbox.begin(outbound(key))
        assert not await outbox.begin(outbound(key), again=True)


async def test_a_send_can_be_queued_as_started(
    inbox: Inbox, outbox: Outbox, clock: FakeClock
) -> None:
    await inbox.add(entry("m1", clock), DAY)
    await inbox.finish(("id-m1",), (outbound("r:0"), outbound("r:1")), "r:0")
    assert [item.begun for item in await outbox.waiting(9)] == [True, False]


async def test_a_resent_dead_letter_starts_anew(outbox: Outbox, clock: FakeClock) -> None:
    assert isinstance(outbox, SqliteOutbox | RedisOutbox)
    await outbox.add((outbound("r:0"),))
    await outbox.begin(outbound("r:0"))
    await outbox.tried("r:0", "Permanent", not_before=clock.now() + DAY)
    await outbox.dead(("r:0",), "Permanent: no")
    assert await outbox.requeue(("r:0",)) == 1
    (left,) = await outbox.waiting(9)
    assert (left.attempts, left.begun, left.requeued, left.not_before) == (0, False, False, None)


async def test_a_resent_dead_letter_that_may_have_arrived_stays_begun(outbox: Outbox) -> None:
    assert isinstance(outbox, SqliteOutbox | RedisOutbox)
    await outbox.add((outbound("r:0"), outbound("r:1")))
    await outbox.tried("r:0", "Ambiguous", unsure=True)
    await outbox.begin(outbound("r:1"))
    for _ in range(2):
        await outbox.dead(("r:0", "r:1"), "Ambiguous: cut")
        assert await outbox.requeue(("r:0", "r:1")) == 2
        left = await outbox.waiting(9)
        assert [(item.attempts, item.begun, item.requeued) for item in left] == [
            (0, True, True),
            (0, True, True),
        ]
    assert await outbox.begin(outbound("r:0"), again=True)
    first, _ = await outbox.waiting(9)
    assert (first.begun, first.requeued) == (True, False)


@pytest.mark.parametrize("size", [256, MAX_FILE], ids=["small", "as large as a tool's"])
async def test_a_file_survives_the_outbox(outbox: Outbox, size: int) -> None:
    file = OutboundFile("a.bin", "application/octet-stream", bytes(range(256)) * (size // 256))
    item = outbound("r:0")
    await outbox.add((replace(item, file=file),))
    assert (await outbox.waiting(1))[0].outbound.file == file


async def test_all_buckets_give_a_token_or_none(buckets: Buckets, clock: FakeClock) -> None:
    rules = (BucketRule("user", "u", 5), BucketRule("channel", "c", 2))
    now = clock.now().timestamp()
    taken = [await buckets.take(rules, now) for _ in range(3)]
    assert [t.allowed for t in taken] == [True, True, False]
    alone = [await buckets.take(rules[:1], now) for _ in range(4)]
    assert [t.allowed for t in alone] == [True, True, True, False]


async def test_buckets_are_exact_under_concurrency(buckets: Buckets, clock: FakeClock) -> None:
    rules = (BucketRule("user", "u", 5),)
    now = clock.now().timestamp()
    taken = await asyncio.gather(*(buckets.take(rules, now) for _ in range(40)))
    assert sum(t.allowed for t in taken) == 5


async def test_used_buckets_are_found_by_level_and_by_key(
    buckets: Buckets, clock: FakeClock
) -> None:
    now = clock.now().timestamp()
    for number in range(3):
        rules = (
            BucketRule("user", f"user:t:p{number}", 5),
            BucketRule("channel", "channel:t:c", 60),
            BucketRule("reserve", f"reserve:t:p{number}", 1),
        )
        await buckets.take(rules, now + number)
    await buckets.take((BucketRule("user", "user:other:p9", 5),), now)
    used = await buckets.used("user:t:", now, 10)
    assert used == {f"user:t:p{number}": Bucket(4.0, now + number) for number in (1, 2)}
    assert len(await buckets.used("user:t:", now - 1, 2)) == 2
    assert await buckets.used("channel:t:", now, 10) == {"channel:t:c": Bucket(59.0, now + 2)}
    keys = ["user:t:p0", "user:t:nobody", "channel:t:c"]
    assert await buckets.held(keys) == [Bucket(4.0, now), None, Bucket(59.0, now + 2)]
    assert await buckets.held([]) == []


async def test_once_is_true_once_in_its_window(buckets: Buckets, pass_time: PassTime) -> None:
    minute = timedelta(minutes=1)
    questions = await asyncio.gather(*(buckets.claim("k", minute) for _ in range(10)))
    assert sum(questions) == 1
    await pass_time(61)
    assert await buckets.claim("k", minute)


async def test_state_is_separate_by_account_and_expires(
    states: AdapterStates, pass_time: PassTime
) -> None:
    one: AdapterState = states.of("test", "main")
    two: AdapterState = states.of("test", "other")
    await one.put("window", "open", timedelta(hours=24))
    assert await one.get("window") == "open"
    assert await two.get("window") is None
    await pass_time(24 * 3600)
    assert await one.get("window") is None


async def test_state_has_size_limits(states: AdapterStates) -> None:
    with pytest.raises(BadInput):
        await states.of("test", "main").put("k", "x" * 4001, DAY)


@given(events())
def test_every_event_survives_conversion_to_json(event: InboundEvent) -> None:
    assert event_from_json(event_to_json(event)) == event


@given(st.text(max_size=300), st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=3))
def test_every_send_survives_conversion_to_json(text: str, payload: dict[str, str]) -> None:
    item = outbound("k:0", text, direct())
    assert outbound_from_json(to_json(item)) == item
    blocks = replace(item, part=Part({"blocks": [payload]}, text))
    assert outbound_from_json(to_json(blocks)) == blocks


async def test_an_unreadable_row_does_not_prevent_a_start(
    sqlite: SqliteDatabase,
) -> None:
    clock = FakeClock()
    inbox, outbox = SqliteInbox(sqlite, clock), SqliteOutbox(sqlite, clock)
    for name in ("m1", "m2"):
        kept = InboxEntry(name, "lane", received("private words", message_id=name), clock.now())
        await inbox.add(kept, DAY)
        await outbox.add((outbound(f"{name}:0", "private words"),))
    broken = """{"kind": "message", "message": "private words"}"""
    await sqlite.run_job(
        lambda db: db.execute("UPDATE inbox SET event = ? WHERE rowid = 1", (broken,))
    )
    await sqlite.run_job(
        lambda db: db.execute("UPDATE outbox SET outbound = ? WHERE rowid = 1", (broken,))
    )
    with capture_logs() as logs:
        assert len(await inbox.unfinished(10)) == 1
        assert len(await outbox.waiting(10)) == 1
    assert [line["event"] for line in logs] == ["row_unreadable", "row_unreadable"]
    assert "private words" not in str(logs)
