"""The platform without buttons, over its real socket: questions are answered by typing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from parley.app import App
from parley.config import from_mapping
from tests.e2e.harness import configuration
from tests.examples.installing import install
from tests.examples.test_lines_adapter import EXAMPLE, PASSWORD, a_person
from tests.support.patience import PATIENCE
from tests.support.ports import free_port
from tests.support.program import running_app

YES_OR_NO = "Reply *yes* ("


@dataclass(frozen=True, slots=True)
class Line:
    """Somebody who is connected."""

    app: App
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, text: str) -> str:
        """Everything that is answered."""
        self.writer.write(f"{text}\n".encode())
        async with asyncio.timeout(PATIENCE):
            answer = await self.reader.readline()
            while not self.app.settled():
                await asyncio.sleep(0.01)
        try:
            while True:
                async with asyncio.timeout(0.1):
                    answer += await self.reader.readline()
        except TimeoutError:
            return answer.decode()


@pytest.fixture
async def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[App, int]]:
    for folder in install(EXAMPLE, tmp_path):
        monkeypatch.syspath_prepend(str(folder))
    port = free_port()
    platforms = {"lines": {"port": port, "password": PASSWORD}}
    settings = from_mapping(configuration({}, tmp_path, 0, {"platforms": platforms}))
    async with running_app(App(settings)) as app:
        assert not app.supervisor.errors
        yield app, port


@asynccontextmanager
async def line(program: tuple[App, int], name: str) -> AsyncIterator[Line]:
    app, port = program
    async with a_person(port, f"{name} {PASSWORD}") as (reader, writer):
        await reader.readline()
        yield Line(app, reader, writer)


async def test_forget_is_confirmed_by_a_typed_answer(program: tuple[App, int]) -> None:
    async with line(program, "ada") as ada, line(program, "ben") as ben:
        await ada.say("/remember I prefer tabs")
        reply = await ada.say("/forget tabs")
        assert "I prefer tabs" in reply
        assert YES_OR_NO in reply
        assert "within 5 minutes" in reply
        assert "I deleted" not in await ben.say("yes")
        assert "I prefer tabs" in await ada.say("/memories")
        assert "I deleted" not in await ada.say("yes"), "another command came between"
        await ada.say("/forget tabs")
        assert "I deleted" in await ada.say("yes")
        assert "I prefer tabs" not in await ada.say("/memories")
        assert "I deleted" not in await ada.say("yes")


async def test_pages_are_turned_and_decisions_made_by_typed_answers(
    program: tuple[App, int],
) -> None:
    async with line(program, "ada") as ada:
        for number in range(12):
            await ada.say(f"/remember Boat {number} is blue")
        first = await ada.say("/memories")
        assert "Reply *next page* within 5 minutes." in first
        second = await ada.say("next page")
        assert "Boat 0 is blue" in second
        assert "previous page" in second
        assert "Boat 11 is blue" in await ada.say("Previous page.")
        reply = await ada.say("remember that the pump might leak")
        assert "Reply *keep* or *forget it* within 5 minutes." in reply
        assert await ada.say("keep") == "I will remember that.\n"
        reply = await ada.say("/clear")
        assert YES_OR_NO in reply
        assert "Nothing was deleted" in await ada.say("no")
