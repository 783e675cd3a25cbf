"""Queue depths in Redis for all processes together."""

import pytest

from db.errors import StoreUnavailable
from gateway.ports.queues import QueueDepths
from gateway.stores.redis.hot_state import RedisHotState
from tests.gateway.stores.redis.conftest import Hire, Open
from tests.gateway.stores.redis.support import HELD
from tests.gateway.stores.redis.workers import feed
from tests.support.messages import outbound
from tests.support.waiting import eventually


async def test_the_depths_and_the_running_workers_are_counted(another: Open, hire: Hire) -> None:
    looking = await another(lease=HELD)
    assert await looking.depths.look() == QueueDepths(0, 0, 0, 0)
    await feed(looking, range(5))
    await looking.outbox.add([outbound(f"r:{number}") for number in range(4)])
    await looking.outbox.dead(["r:0"], "Permanent: gone")
    assert await looking.depths.look() == QueueDepths(5, 3, 1, 0)

    async def alive(count: int) -> bool:
        return (await looking.depths.look()).workers == count

    workers = [hire(await another(lease=HELD), closed=True) for _ in range(2)]
    await eventually(lambda: alive(2))
    await workers[0].stop()
    assert await alive(1)


async def test_the_counts_are_dropped_when_redis_does_not_answer(state: RedisHotState) -> None:
    await state.depths.look()
    assert state.depths.latest is not None
    await state.client.stop()
    with pytest.raises(StoreUnavailable):
        await state.depths.look()
    assert state.depths.latest is None
