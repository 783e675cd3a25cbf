"""Two processes that get the same events process them once; shared limits are exact."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from benchmarks.twice.doubler import Doubler
from benchmarks.twice.taker import LEVELS, capacity, left, passed_in_all
from gateway.policy.rate_limits import Level
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import app_on, by_bot
from tests.support.databases import migrated_database
from tests.support.patience import PATIENCE
from tests.support.ports import free_port
from tests.support.servers import PostgresServer, RedisServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("databases")
CHATS = 5
EACH = 10


async def test_events_delivered_twice_to_two_gateways_are_answered_once_and_in_order(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    async with AsyncExitStack() as stack:
        stores = {"storage": {"url": redis.url}, "database": {"url": migrated_database(postgres)}}
        settings = {**stores, "conversation": {"overlap": "queue"}}
        sim = TelegramSimulator(mode="webhook")
        await sim.start()
        stack.push_async_callback(sim.stop)
        ports = [free_port(), free_port()]
        doubler = Doubler([f"http://127.0.0.1:{port}" for port in ports])
        stack.push_async_callback(doubler.stop)
        sim.attach(await doubler.start())
        for port in ports:
            await stack.enter_async_context(app_on({"telegram": sim}, tmp_path, port, settings))
        rooms = [sim.direct(sim.person(f"Person {who}")) for who in range(CHATS)]
        for number in range(EACH):
            for who, room in enumerate(rooms):
                await sim.say(sim.person(f"Person {who}"), room, f"number {number:03d}")
        for room in rooms:
            await sim.wait_for(room, lambda shown: len(by_bot(shown)) >= EACH, PATIENCE)
        await eventually(lambda: doubler.posted >= 4 * CHATS * EACH)
        for room in rooms:
            replies = [m.text.rpartition("number ")[2][:3] for m in by_bot(sim.shown(room))]
            assert replies == [f"{number:03d}" for number in range(EACH)]


@pytest.mark.parametrize("level", LEVELS)
async def test_two_processes_admit_exactly_the_limit(level: Level, redis: RedisServer) -> None:
    passed = await passed_in_all(redis.url, level, 2, 400)
    assert sum(passed) == capacity(400)
    assert set(await left(redis.url, level, 400)) == {capacity(400)}, "a refusal has eaten a token"
