"""SIGTERM in the middle of the work: nothing new is begun, nothing is lost, nothing is doubled."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import yaml

from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, SimPerson
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import FAST, LIFTED, by_bot
from tests.parley.cli.kit import started
from tests.support.patience import LAUNCH
from tests.support.ports import free_port
from tests.support.waiting import eventually

CHATS = 40
EACH = 5
DRAIN_BOUND = LAUNCH
"""Seconds: what the program allows itself, and much more for a busy machine."""


class Town:
    """People who all write at once to a program that is a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.telegram = TelegramSimulator()
        self.model = AnthropicSimulator()
        self.port = free_port()
        self.people: list[SimPerson] = []

    async def open(self) -> None:
        await self.telegram.start()
        await self.model.start()
        self.people = [self.telegram.person(f"Person {n}") for n in range(CHATS)]
        section = {
            "provider": "anthropic",
            "api_key": self.model.api_key,
            "base_url": self.model.base_url,
        }
        configuration = {
            "model": section,
            "platforms": {"telegram": self.telegram.settings()},
            "limits": LIFTED,
            "delivery": FAST,
            "conversation": {"overlap": "queue"},
            "server": {"port": self.port},
            "observe": {"log_format": "json"},
            "webhooks": {"port": 0},
        }
        (self.folder / "parley.yaml").write_text(yaml.safe_dump(configuration))

    async def close(self) -> None:
        await self.telegram.stop()
        await self.model.stop()

    async def everybody_says(self, number: int) -> None:
        for person in self.people:
            await self.telegram.say(person, self.telegram.direct(person), f"question {number}")

    def answers(self) -> list[int]:
        return [len(by_bot(self.telegram.shown(self.telegram.direct(p)))) for p in self.people]

    async def is_ready(self) -> bool:
        try:
            return bool((await self.readiness())["ready"])
        except aiohttp.ClientConnectionError:
            return False

    async def readiness(self) -> dict[str, object]:
        address = f"http://127.0.0.1:{self.port}/readyz"
        async with aiohttp.ClientSession() as http, http.get(address) as answer:
            response: dict[str, object] = await answer.json()
            return response


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    made = Town(tmp_path)
    await made.open()
    yield made
    await made.close()


async def test_unfinished_work_continues_at_the_next_start(town: Town) -> None:
    town.model.faults.add(Fault("messages", "slow", times=100_000, delay=0.2))
    arguments = ("run", "--config", "parley.yaml")
    async with started(*arguments, cwd=town.folder) as process:
        await eventually(town.is_ready, LAUNCH)
        for number in range(EACH):
            await town.everybody_says(number)
        await eventually(lambda: sum(town.answers()) >= CHATS * EACH // 5, LAUNCH)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DRAIN_BOUND):
            _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert "Traceback" not in err.decode()
    left = CHATS * EACH - sum(town.answers())
    assert left > 0, "it was too quick for this test"
    town.model.faults.clear()
    async with started(*arguments, cwd=town.folder) as process:
        await eventually(town.is_ready, LAUNCH)
        await eventually(lambda: min(town.answers()) >= EACH, LAUNCH)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DRAIN_BOUND):
            await process.communicate()
    assert town.answers() == [EACH] * CHATS


async def test_a_second_signal_ends_the_program_immediately_without_loss(town: Town) -> None:
    town.model.faults.add(Fault("messages", "slow", times=100_000, delay=30.0))
    arguments = ("run", "--config", "parley.yaml")
    async with started(*arguments, cwd=town.folder) as process:
        await eventually(town.is_ready, LAUNCH)
        await town.everybody_says(0)
        await town.model.wait_for_requests(1, LAUNCH)
        process.send_signal(signal.SIGTERM)

        async def stopping() -> bool:
            return not await town.is_ready()

        await eventually(stopping)
        parts = (await town.readiness())["parts"]
        assert isinstance(parts, dict)
        assert parts["gateway"] == "stopping"
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DRAIN_BOUND):  # its status tells how it ended
            _, err = await process.communicate()
    assert process.returncode == 130
    assert "stopped at once" in err.decode()
    town.model.faults.clear()
    async with started(*arguments, cwd=town.folder) as process:
        await eventually(town.is_ready, LAUNCH)
        await eventually(lambda: min(town.answers()) >= 1, LAUNCH)
    assert town.answers() == [1] * CHATS
