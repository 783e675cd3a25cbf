"""Two processes are fed the same events at once, each event twice: every one is answered once."""

import asyncio
import random

import pytest

from tests.gateway.stores.redis.conftest import Hire, Open
from tests.gateway.stores.redis.support import UNHURRIED
from tests.gateway.stores.redis.workers import all_answered, feed, in_order
from tests.support.waiting import eventually


@pytest.mark.parametrize("count", [1500, pytest.param(10_000, marks=pytest.mark.nightly)])
async def test_the_same_events_from_two_producers_are_answered_once(
    another: Open, hire: Hire, count: int
) -> None:
    one, two = hire(await another(lease=UNHURRIED)), hire(await another(lease=UNHURRIED))
    await eventually(lambda: one.state.work.partitions == two.state.work.partitions == 32)
    producers = [await another(), await another()]
    new = await asyncio.gather(*(feed(producer, range(count)) for producer in producers))
    assert sum(new) == count
    assert min(new) > 0
    await all_answered(producers[0], count)
    taken = [item.id for item in (*one.taken, *two.taken)]
    assert len(taken) == len(set(taken)) == len(one.won) + len(two.won) == count


async def test_a_late_repetition_is_recognised_while_workers_start_and_stop(
    another: Open, hire: Hire
) -> None:
    producer = await another()
    workers = [hire(await another())]
    numbers = list(range(1000))
    for step in range(4):
        part = numbers[step * 250 : (step + 1) * 250]
        assert await feed(producer, part) == 250
        assert await feed(producer, random.Random(step).sample(numbers[: part[-1]], 200)) == 0
        workers.append(hire(await another()))
        await (workers[step].kill() if step % 2 else workers[step].stop())
    await all_answered(producer, 1000)
    won = [item for worker in workers for item in worker.won]
    assert len({item.id for item in won}) == len(won) > 900  # a kill may hide the last from us
    assert all(in_order(worker.won) for worker in workers)
