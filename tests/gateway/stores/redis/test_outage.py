"""Redis is unavailable for a while: no accepted event is lost, and all work continues by itself."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress

import pytest

from db.errors import StoreUnavailable
from gateway.ports.clock import SystemClock
from gateway.ports.queues import InboxEntry, OutboxEntry
from gateway.stores.redis.hot_state import RedisHotState
from tests.gateway.stores.redis.conftest import Hire
from tests.gateway.stores.redis.support import LEASE, hot_state
from tests.gateway.stores.redis.workers import DAY, Worker, all_answered, entry, feed
from tests.support.servers import RedisServer, redis_server
from tests.support.waiting import eventually

GONE = 1.5 * LEASE
"""Seconds without Redis: every lease runs out."""


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
async def states(server: RedisServer) -> AsyncIterator[list[RedisHotState]]:
    async with AsyncExitStack() as opened:
        yield [
            await opened.enter_async_context(hot_state(server.url, SystemClock(), "parley"))
            for _ in range(3)
        ]


async def without_redis(server: RedisServer, state: RedisHotState, *, kill: bool = False) -> None:
    async def answers() -> bool:
        with suppress(StoreUnavailable):
            return bool(await state.client.command("EXISTS", "k") == 0)
        return False

    await asyncio.to_thread(server.stop, kill=kill)
    await asyncio.sleep(GONE)
    await asyncio.to_thread(server.start)
    await eventually(answers)  # it may listen while it still loads its data


async def feed_through(state: RedisHotState, numbers: range) -> None:
    """Add events as a platform delivers them: again, until they were accepted."""
    for number in numbers:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with suppress(StoreUnavailable):
                await state.inbox.add(entry(number, 20), DAY)
                break
            await asyncio.sleep(0.05)


class Persistent(Worker):
    """Finishes a turn although Redis is gone for a while."""

    async def finish(self, item: InboxEntry) -> bool:
        until = time.monotonic() + 30
        while True:
            try:
                return await super().finish(item)
            except StoreUnavailable:
                assert time.monotonic() < until
                await asyncio.sleep(0.05)


async def test_no_accepted_event_is_lost_or_answered_twice(
    server: RedisServer, states: list[RedisHotState]
) -> None:
    producer, *rest = states
    workers = [Persistent(state) for state in rest]
    for worker in workers:
        worker.start()
    feeding = asyncio.create_task(feed_through(producer, range(600)))
    await eventually(lambda: sum(len(worker.won) for worker in workers) > 100)
    await without_redis(server, states[0])
    await feeding
    await all_answered(producer, 600)
    won = [item.id for worker in workers for item in worker.won]
    assert len(won) == len(set(won)) == 600
    for worker in workers:
        await worker.kill()


async def test_waiting_events_continue_when_redis_returns(
    server: RedisServer, states: list[RedisHotState], hire: Hire
) -> None:
    await feed(states[0], range(300))
    await without_redis(server, states[0])
    worker = hire(states[1])
    await all_answered(states[0], 300)
    assert len(worker.taken) == 300


async def test_accepted_events_survive_a_crash_of_redis(
    server: RedisServer, states: list[RedisHotState], hire: Hire
) -> None:
    await states[0].client.command("CONFIG", "SET", "appendfsync", "always")
    await feed(states[0], range(300))
    await without_redis(server, states[0], kill=True)
    hire(states[1])
    await all_answered(states[0], 300)


async def test_sends_continue_when_redis_returns(
    server: RedisServer, states: list[RedisHotState]
) -> None:
    taken: list[OutboxEntry] = []
    account = ("test", "main")
    running = asyncio.create_task(states[0].sends.run([account], taken.extend, lambda: True))
    await feed(states[1], range(1))
    worker = Persistent(states[1])
    worker.start()
    await eventually(lambda: len(taken) == 1)
    await without_redis(server, states[0])
    await feed_through(states[2], range(1, 50))
    await eventually(lambda: len(taken) == 50)
    assert len({send.outbound.key for send in taken}) == 50
    await worker.kill()
    running.cancel()
    await asyncio.wait((running,))


async def test_every_operation_reports_the_outage_of_redis(
    server: RedisServer, states: list[RedisHotState]
) -> None:
    state = states[0]
    await asyncio.to_thread(server.stop)
    for question in (
        state.inbox.add(entry(1, 1), DAY),
        state.inbox.unfinished(1),
        state.outbox.waiting(1),
        state.buckets.claim("k", DAY),
        state.buckets.held(["k"]),
        state.buckets.used("user:", 0.0, 1),
        state.states.of("test", "main").get("k"),
        state.client.start(),
    ):
        with pytest.raises(StoreUnavailable, match="Redis"):
            await question
    await state.work.release()
