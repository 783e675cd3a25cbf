"""A store is unavailable while people write: it is reported, no message is lost or answered
twice."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from parley.app import App
from parley.config import from_mapping
from simulators.base import SimRoom
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import app_on, by_bot, configuration, simulated
from tests.support.databases import migrated_database
from tests.support.patience import PATIENCE
from tests.support.program import running_app
from tests.support.servers import PostgresServer, RedisServer, postgres_server
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("databases")
AWAY_SECONDS = 1.5
RECOVERED_WITHIN = 3 * PATIENCE
CHATS = 5


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch looks often enough for an outage that is short enough for a test."""
    monkeypatch.setattr("parley.runtime.health.EVERY", 0.1)
    monkeypatch.setattr("parley.runtime.health.ANSWER_SECONDS", 0.5)


@pytest.mark.parametrize(
    ("part", "how"),
    [
        ("storage", "held"),
        ("database", "killed"),
        pytest.param("storage", "killed", marks=pytest.mark.nightly),
        pytest.param("database", "held", marks=pytest.mark.nightly),
    ],
)
async def test_messages_during_an_outage_of_a_store_are_answered_once_and_in_order(
    part: str, how: str, tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    server = redis if part == "storage" else postgres
    stores = {"storage": {"url": redis.url}, "database": {"url": migrated_database(postgres)}}
    sim = TelegramSimulator()
    whole = {**stores, "conversation": {"overlap": "queue"}}
    async with (
        simulated({"telegram": sim}) as port,
        app_on({"telegram": sim}, tmp_path, port, whole) as app,
    ):
        writing = asyncio.create_task(_write(sim, 60))
        await eventually(lambda: sum(map(len, _answers(sim))) > CHATS, RECOVERED_WITHIN)
        await _take_away(server, how)
        try:
            await eventually(lambda: app.readiness().parts[part] == "unavailable", RECOVERED_WITHIN)
            await asyncio.sleep(AWAY_SECONDS)
            answer = app.readiness()
        finally:
            await _give_back(server, how)
        assert (answer.ready, part in answer.problems) == (False, True)
        await eventually(lambda: app.readiness().ready, RECOVERED_WITHIN)
        await writing
        await eventually(lambda: sum(map(len, _answers(sim))) >= 60, RECOVERED_WITHIN)
        await eventually(app.settled, RECOVERED_WITHIN)
    for reply in _answers(sim):
        assert reply == sorted(set(reply)), "twice, or out of order"


async def test_a_worker_is_ready_without_its_own_connection(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    stores = {"storage": {"url": redis.url}, "database": {"url": migrated_database(postgres)}}
    whole = configuration({"telegram": TelegramSimulator()}, tmp_path, 0, stores)
    async with running_app(App(from_mapping(whole), role="worker")) as app:
        await eventually(lambda: app.readiness().ready, RECOVERED_WITHIN)
        assert set(app.readiness().parts) == {"gateway", "storage", "database"}


async def _write(sim: TelegramSimulator, count: int) -> None:
    """Numbered messages, in turn in every chat, over some seconds."""
    for number in range(count):
        person = sim.person(f"Person {number % CHATS}")
        await sim.say(person, sim.direct(person), f"number {number:03d}")
        await asyncio.sleep(0.05)


def _answers(sim: TelegramSimulator) -> list[list[int]]:
    """By chat, the numbers that were answered, in the order of the answers."""
    rooms: list[SimRoom] = [sim.direct(sim.person(f"Person {who}")) for who in range(CHATS)]
    return [
        [int(m.text.rpartition("number ")[2][:3]) for m in by_bot(sim.shown(room))]
        for room in rooms
    ]


async def _take_away(server: RedisServer | PostgresServer, how: str) -> None:
    if how == "held":
        server.pause()
    elif isinstance(server, PostgresServer):
        await asyncio.to_thread(server.crash)
    else:
        await asyncio.to_thread(server.stop, kill=True)


async def _give_back(server: RedisServer | PostgresServer, how: str) -> None:
    if how == "held":
        server.resume()
    else:
        await asyncio.to_thread(server.start)
