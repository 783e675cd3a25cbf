"""Several workers share the conversations: each event once, in order, also after a worker
crashes."""

import asyncio
import time
from typing import Any

import pytest

from db.errors import StoreUnavailable
from gateway.message import Receipt
from gateway.stores.redis.client import Script
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.redis.keys import PARTITIONS, partition_of
from gateway.stores.redis.sources import READ
from tests.gateway.stores.redis.conftest import Hire, Open
from tests.gateway.stores.redis.support import HELD, LEASE, UNHURRIED, age, all_keys
from tests.gateway.stores.redis.workers import DAY, all_answered, entry, feed, in_order, number_of
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


async def test_two_workers_share_the_events_and_keep_their_order(another: Open, hire: Hire) -> None:
    one, two = hire(await another(lease=UNHURRIED)), hire(await another(lease=UNHURRIED))
    await eventually(lambda: one.state.work.partitions == two.state.work.partitions == 32)
    producer = await another()
    assert await feed(producer, range(2000)) == 2000
    await all_answered(producer, 2000)
    assert len(one.taken) + len(two.taken) == len(one.won) + len(two.won) == 2000
    assert one.won
    assert two.won
    assert in_order(one.won)
    assert in_order(two.won)
    assert {item.conversation for item in one.taken}.isdisjoint(
        item.conversation for item in two.taken
    )


async def test_an_event_is_delivered_immediately(
    another: Open, hire: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.stores.redis.sources.LONGEST_WAIT", HELD)
    monkeypatch.setattr("gateway.stores.redis.client.LONGEST_WAIT", HELD)
    monkeypatch.setattr("gateway.stores.redis.client.TIMEOUT", 2 * HELD)
    state = await another(lease=12 * HELD)
    worker = hire(state)
    await eventually(lambda: state.work.partitions == PARTITIONS)
    for number in range(30):  # by itself it would look again when the test is long over
        await state.inbox.add(entry(number, 5), DAY)
        await eventually(lambda: len(worker.taken) > number)  # noqa: B023 - asked at once


async def test_the_events_of_a_crashed_worker_go_to_another_one(another: Open, hire: Hire) -> None:
    dying, other = hire(await another(), closed=True), hire(await another(), closed=True)
    await eventually(lambda: dying.state.work.partitions == other.state.work.partitions == 32)
    await feed(other.state, range(400))
    await eventually(lambda: len(dying.taken) + len(other.taken) == 400)
    lost = {item.id for item in dying.taken}
    await dying.kill()
    since = time.monotonic()
    await feed(other.state, range(400, 500))
    other.gate.set()
    await all_answered(other.state, 500)
    assert time.monotonic() - since < 40 * LEASE  # nothing but the lease brings them back
    assert lost
    assert lost <= {item.id for item in other.won}
    assert in_order(other.taken)
    assert len(other.taken) == 500


async def test_a_delayed_worker_and_its_successor_answer_once(another: Open, hire: Hire) -> None:
    stuck = hire(await another(), closed=True)
    await eventually(lambda: stuck.state.work.partitions == PARTITIONS)
    await feed(stuck.state, range(200))
    await eventually(lambda: len(stuck.taken) == 200)
    await stuck.stall()
    other = hire(await another(), closed=True)
    await eventually(lambda: len(other.taken) == 200)
    stuck.gate.set()
    other.gate.set()
    await all_answered(other.state, 200)
    await eventually(lambda: other.state.work.unfinished == 0)
    won = [*stuck.won, *other.won]
    assert sorted(map(number_of, won)) == list(range(200))


async def test_a_new_worker_gets_its_share_without_repetition(another: Open, hire: Hire) -> None:
    old = hire(await another(lease=UNHURRIED))
    await eventually(lambda: old.state.work.partitions == PARTITIONS)
    new = hire(await another(lease=UNHURRIED))
    await feed(old.state, range(1000))
    await eventually(lambda: old.state.work.partitions == new.state.work.partitions == 32)
    await feed(old.state, range(1000, 1500))
    await all_answered(old.state, 1500)
    assert len(old.taken) + len(new.taken) == 1500
    assert in_order(old.won)
    assert in_order(new.won)


async def test_a_partition_moves_only_when_none_of_its_events_is_in_progress(
    another: Open, hire: Hire
) -> None:
    old = hire(await another(lease=UNHURRIED), closed=True)
    await feed(old.state, range(300), conversations=300)
    await eventually(lambda: len(old.taken) == 300)
    new = hire(await another(lease=UNHURRIED))
    await new.state.client.pop("nothing", UNHURRIED)  # longer than handing over takes
    assert new.taken == []
    old.gate.set()
    await all_answered(old.state, 300)
    await eventually(lambda: old.state.work.partitions == new.state.work.partitions == 32)
    assert len(old.won) == 300


async def test_a_stopping_worker_releases_its_partitions_immediately(
    another: Open, hire: Hire
) -> None:
    leaving = hire(await another(lease=UNHURRIED), closed=True)
    staying = hire(await another(lease=UNHURRIED))
    await eventually(lambda: staying.state.work.partitions == 32)
    await feed(staying.state, range(100))
    await eventually(lambda: len(leaving.taken) + len(staying.taken) == 100)
    await leaving.stop()
    since = time.monotonic()
    await eventually(lambda: staying.state.work.partitions == PARTITIONS)
    assert time.monotonic() - since < UNHURRIED
    await all_answered(staying.state, 100)


async def test_a_worker_without_its_lease_reads_no_more_events(another: Open, hire: Hire) -> None:
    worker = hire(await another())
    await eventually(lambda: worker.state.work.partitions == PARTITIONS)
    client = worker.state.client
    stolen = partition_of("conversation-0")
    lease = client.key("lease", "work", str(stolen))
    await client.command("SET", lease, "somebody-else", "PX", 60_000)
    await feed(worker.state, range(300), conversations=300)
    elsewhere = {
        f"conversation-{n}" for n in range(300) if partition_of(f"conversation-{n}") != stolen
    }
    await eventually(lambda: len(worker.won) >= len(elsewhere))
    await eventually(lambda: worker.state.work.partitions == PARTITIONS - 1)
    assert {item.conversation for item in worker.taken} == elsewhere
    await client.command("DEL", lease)
    await all_answered(worker.state, 300)
    assert len(worker.taken) == 300


async def test_it_takes_no_more_events_than_it_has_room_for(
    state: RedisHotState, hire: Hire
) -> None:
    worker = hire(state, closed=True, room=20)
    await feed(state, range(300))
    await eventually(lambda: worker.waiting >= 20)
    assert len(worker.taken) <= 20 + 50
    worker.gate.set()
    await all_answered(state, 300)
    assert in_order(worker.won)


async def test_an_event_completed_during_a_second_read_is_not_delivered(
    state: RedisHotState, hire: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = hire(state, closed=True)
    await feed(state, range(2), conversations=1)
    await eventually(lambda: len(worker.taken) == 2)
    run, read_again = state.client.run, asyncio.Event()

    async def finishing_meanwhile(script: Script, *rest: Any, **options: Any) -> Any:
        answer = await run(script, *rest, **options)
        if script is READ and any(entries for _, _, entries in answer):
            await state.inbox.finish(("id-1",), ())
            read_again.set()
        return answer

    monkeypatch.setattr(state.client, "run", finishing_meanwhile)
    leases = [state.client.key("lease", "work", str(partition)) for partition in range(PARTITIONS)]
    await state.client.command("DEL", *leases)  # as when they ran out: what is open is read again
    await asyncio.wait_for(read_again.wait(), PATIENCE)
    await feed(state, range(2, 3), conversations=1)
    await eventually(lambda: len(worker.taken) > 2)
    assert [item.id for item in worker.taken] == ["id-0", "id-1", "id-2"]


async def test_an_event_that_nobody_received_is_read_again(
    state: RedisHotState, hire: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, broken = state.client.run, 0

    async def breaking(script: Script, *rest: Any, **options: Any) -> Any:
        nonlocal broken
        answer = await run(script, *rest, **options)
        if script is READ and any(entries for _, _, entries in answer) and broken < 3:
            broken += 1
            raise StoreUnavailable("the connection broke before the answer came")
        return answer

    monkeypatch.setattr(state.client, "run", breaking)
    worker = hire(state)
    await feed(state, range(200))
    await all_answered(state, 200)
    assert broken == 3
    assert len(worker.taken) == 200
    assert in_order(worker.taken)


async def test_an_unreadable_event_does_not_block_the_others(
    state: RedisHotState, hire: Hire
) -> None:
    inbox_key = state.client.key("inbox", "0")
    await state.client.command(
        "XADD", inbox_key, "*", "id", "x", "conversation", "l", "event", "{}", "at", "1"
    )
    worker = hire(state)
    await feed(state, range(100))
    await eventually(lambda: len(worker.won) == 100)


async def test_nothing_grows_after_the_work(state: RedisHotState, hire: Hire) -> None:
    worker = hire(state)
    await feed(state, range(500))
    await all_answered(state, 500)
    sends = [send.outbound.key for send in await state.outbox.waiting(500)]
    await state.outbox.dead(sends[:5], "gone")
    for key in sends[5:]:
        await state.outbox.sent(key, Receipt("p1"))
    await worker.stop()
    assert len(await all_keys(state.client)) > 1000
    await age(state.client, DAY.total_seconds() + 1)
    left = await all_keys(state.client)
    streams = [key for key in left if ":inbox:" in key or ":outbox:" in key]
    assert [await state.client.command("XLEN", key) for key in streams] == [0] * len(streams)
    assert len(streams) <= PARTITIONS + 1
    others = {key.removeprefix(state.client.key("")) for key in left if key not in streams}
    assert others == {
        "epoch",
        "outbox-sequence",
        "outbox-accounts",
        "outbox-dead",
        *(f"send:{key}" for key in sends[:5]),
    }
