"""A copy that is taken while the program works, and another life that begins with it."""

import asyncio
import re
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, SimPerson, SimRoom
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import FAST, LIFTED, by_bot
from tests.parley.cli.kit import parley, read_until, started
from tests.support.patience import LAUNCH, PATIENCE
from tests.support.waiting import eventually

CHATS = 10
OPEN = 3
"""Messages of one person that wait for an answer at a time."""
NUMBER = re.compile(r"n(\d{4})")


@dataclass(frozen=True, slots=True)
class Copy:
    """The numbers of the messages in a copy, by what was still to be done about them then."""

    unanswered: frozenset[int]
    unsent: frozenset[int]
    answered: frozenset[int]

    @classmethod
    def of(cls, file: Path) -> "Copy":
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
            unanswered = _numbers(db, "SELECT event FROM inbox WHERE done = 0")
            unsent = _numbers(db, "SELECT outbound FROM outbox WHERE state = 'waiting'")
            kept = _numbers(db, "SELECT text FROM turns WHERE role = 'user'")
        return cls(unanswered, unsent, kept - unsent)


def _numbers(db: sqlite3.Connection, query: str) -> frozenset[int]:
    rows = db.execute(query).fetchall()
    texts = [row[0].decode() if isinstance(row[0], bytes) else row[0] for row in rows]
    return frozenset(int(NUMBER.findall(text)[0]) for text in texts)


class Town:
    """People who write to a program all the time."""

    def __init__(self) -> None:
        self.telegram = TelegramSimulator()
        self.model = AnthropicSimulator()
        self.enough = asyncio.Event()

    def settings(self) -> dict[str, object]:
        model, url = self.model, self.model.base_url
        return {
            "model": {"provider": "anthropic", "api_key": model.api_key, "base_url": url},
            "platforms": {"telegram": self.telegram.settings()},
            "limits": LIFTED,
            "delivery": FAST,
            "conversation": {"overlap": "queue"},
            "workers": {"concurrency": 4},
            "server": {"port": 0},
            "webhooks": {"port": 0},
        }

    async def write(self) -> None:
        """Everybody writes on and on, but leaves at most `OPEN` messages without an answer: a
        backlog that grows with the slowness of the machine would never be worked off."""
        numbers = iter(range(10_000))
        async with asyncio.TaskGroup() as everybody:
            for n in range(CHATS):
                everybody.create_task(self._write(self.telegram.person(f"Person {n}"), numbers))

    async def _write(self, person: SimPerson, numbers: Iterator[int]) -> None:
        room, written = self.telegram.direct(person), 0
        while not self.enough.is_set():
            if written - len(self._answered_in(room)) < OPEN:
                written += 1
                await self.telegram.say(person, room, f"this is n{next(numbers):04d}")
            await asyncio.sleep(0.1)

    def answers(self) -> Counter[int]:
        """The number of answers to each message, as people see it; notes answer none."""
        rooms = [self.telegram.direct(self.telegram.person(f"Person {n}")) for n in range(CHATS)]
        return sum(map(self._answered_in, rooms), Counter[int]())

    def _answered_in(self, room: SimRoom) -> Counter[int]:
        texts = [message.text for message in by_bot(self.telegram.shown(room))]
        return Counter(int(number) for text in texts for number in NUMBER.findall(text)[:1])

    async def hold_one(self) -> None:
        """Return once the model has a question that it does not answer any more."""
        held = Fault("messages", "slow", times=1, delay=10 * PATIENCE)
        self.model.faults.clear()
        self.model.faults.add(held)
        self.model.faults.add(Fault("messages", "slow", times=100_000, delay=0.05))
        await eventually(lambda: not held.times)

    async def until_heard(self) -> None:
        """Return once everything is received that a program sent before it was killed."""
        await eventually(lambda: not self.telegram.server.connected)

    async def until_answered(self, at_least: int) -> None:
        await eventually(lambda: len(self.answers()) >= at_least, LAUNCH)


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    made = Town()
    await made.telegram.start()
    await made.model.start()
    made.model.faults.add(Fault("messages", "slow", times=100_000, delay=0.05))
    yield made
    await made.telegram.stop()
    await made.model.stop()


async def test_open_messages_of_a_restored_backup_are_answered_and_no_others_again(
    tmp_path: Path, town: Town
) -> None:
    first, second, copy = tmp_path / "first", tmp_path / "second", tmp_path / "copy.db"
    for folder in (first, second):
        (folder / "config").mkdir(parents=True)
        (folder / "config" / "parley.yaml").write_text(yaml.safe_dump(town.settings()))
    async with started("run", cwd=first) as program:
        await read_until(program.stdout, "ready gateway")
        writing = asyncio.create_task(town.write())
        await town.until_answered(50)
        await town.hold_one()
        kept = await parley("backup", str(copy), cwd=first)
        await town.until_answered(len(town.answers()) + 50)
        program.kill()
        await program.wait()
    await town.until_heard()
    assert (kept.status, kept.err) == (0, "")
    result, at_kill = Copy.of(copy), town.answers()
    assert result.unanswered, "there was nothing left to do in the copy"
    assert result.answered
    restored = await parley("restore", str(copy), cwd=second)
    assert (restored.status, restored.err) == (0, "")
    town.model.faults.clear()
    async with started("run", cwd=second) as program:
        await read_until(program.stdout, "ready gateway")
        town.enough.set()
        await writing
        expected = {number: at_kill[number] + 1 for number in result.unanswered | result.unsent}
        await eventually(
            lambda: not any(town.answers()[number] < count for number, count in expected.items()),
            LAUNCH,
        )
        await eventually(lambda: not town.telegram.queue.waiting)
    now = town.answers()
    assert {number: now[number] for number in expected} == expected
    assert {now[number] for number in result.answered} == {1}, "answered again after the restore"
