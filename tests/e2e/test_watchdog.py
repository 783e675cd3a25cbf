"""A hanging program ends, is restarted, and quarantines the work that hangs, with a real
process."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from simulators.base import Shown, SimPerson
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import by_bot, configuration, simulated
from tests.e2e.test_program import written
from tests.parley.cli.kit import parley, started
from tests.support import hanging
from tests.support.hanging import BEGUN
from tests.support.patience import LAUNCH
from tests.support.waiting import eventually

SECONDS: Final = 3.0
LIFE: Final = LAUNCH
"""Seconds that a program which hangs may take to end, its start included."""
OTHERS: Final = "how are you?"


@dataclass
class Supervised:
    """The program under a supervisor: restarted each time that it ends."""

    place: str
    config: str
    folder: Path
    process: asyncio.subprocess.Process | None = None
    statuses: list[int] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    stopping: bool = False

    async def run(self) -> None:
        while not self.stopping:
            command = (self.place, "run", "--config", self.config)
            async with started(*command, cwd=self.folder, module=hanging.__name__) as self.process:
                _, errors = await self.process.communicate()
            self.logs.append(errors.decode(errors="replace"))
            assert self.process.returncode is not None
            self.statuses.append(self.process.returncode)

    async def ended(self, times: int) -> None:
        await eventually(lambda: len(self.statuses) >= times, times * LIFE)

    def lines(self, life: int, event: str) -> list[dict[str, object]]:
        """The lines of the log about this event in one life."""
        document = [
            json.loads(line) for line in self.logs[life].splitlines() if line.startswith("{")
        ]
        return [line for line in document if line["event"] == event]


@asynccontextmanager
async def supervised(
    place: str, folder: Path, config: str, *, stopped: bool = True
) -> AsyncIterator[Supervised]:
    program = Supervised(place, config, folder)
    running = asyncio.create_task(program.run())
    try:
        yield program
        if stopped:
            program.stopping = True
            assert program.process is not None
            program.process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(running, LIFE)
    finally:
        program.stopping = True
        if program.process is not None and program.process.returncode is None:
            program.process.kill()
        await asyncio.gather(running, return_exceptions=True)


def settings(
    platform: TelegramSimulator, folder: Path, port: int, seconds: float = SECONDS
) -> Mapping[str, object]:
    more = {"watchdog": {"seconds": seconds}, "observe": {"log_format": "json"}}
    return configuration({"telegram": platform}, folder, port, more)


async def answers(platform: TelegramSimulator, person: SimPerson, count: int = 1) -> list[Shown]:
    shown = await platform.wait_for(
        platform.direct(person), lambda seen: len(by_bot(seen)) >= count, LIFE
    )
    return by_bot(shown)


async def answered(platform: TelegramSimulator, person: SimPerson, questions: set[str]) -> None:
    """Wait until each question has an answer, and nothing else has. A send that a crash interrupts
    is repeated, so a question may have several."""
    await platform.wait_for(
        platform.direct(person),
        lambda seen: {shown.reply_to_id for shown in by_bot(seen)} == questions,
        LIFE,
    )


@pytest.mark.parametrize(
    "place", ["turn", "thread", pytest.param("asleep", marks=pytest.mark.nightly)]
)
async def test_a_message_that_hangs_the_program_is_quarantined(place: str, tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    ada, bert = telegram.person("Ada"), telegram.person("Bert")
    async with simulated({"telegram": telegram}) as port:
        config = written(tmp_path, dict(settings(telegram, tmp_path, port)))
        async with supervised(place, tmp_path, config) as program:
            questions = {await telegram.say(bert, telegram.direct(bert), OTHERS)}
            await answers(telegram, bert)
            await telegram.say(ada, telegram.direct(ada), "this is poison")
            await program.ended(1)
            questions.add(await telegram.say(bert, telegram.direct(bert), OTHERS))
            answer = await answers(telegram, ada)
            await answered(telegram, bert, questions)
            told_bert = [shown.text for shown in await answers(telegram, bert)]
            assert not any("the program stopped" in text for text in told_bert)
            crashes = len(program.statuses)
            await telegram.say(ada, telegram.direct(ada), OTHERS)
            assert len(await answers(telegram, ada, 2)) == 2
            listed = await parley("quarantine", "list", "--config", config, cwd=tmp_path)
        assert "the program stopped each time it worked on it" in answer[0].text
        assert crashes == {"turn": 2}.get(place, crashes) <= 3
        assert program.statuses == [1] * crashes + [0]
        for life in range(crashes):
            assert "hanging.py" in program.logs[life], "the stack stands in the log"
        (line,) = program.lines(1, "earlier_process_died")
        assert "hanging.py" in str(line["stack"])
        if place == "turn":
            (named,) = program.lines(0, "event_loop_blocked")
            assert named["ran"] == line["ran"]
            assert str(line["ran"]).startswith("message:")
    assert "message" in listed.out
    assert "poison" not in listed.out + "".join(program.logs)


@pytest.mark.nightly
async def test_a_message_that_hangs_also_in_its_notice_is_quarantined(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    ada, bert = telegram.person("Ada"), telegram.person("Bert")
    async with simulated({"telegram": telegram}) as port:
        config = written(tmp_path, dict(settings(telegram, tmp_path, port)))
        async with supervised("opening", tmp_path, config) as program:
            await telegram.wait_connected(LIFE)
            await telegram.say(ada, telegram.direct(ada), "this is poison")
            await program.ended(3)
            await telegram.say(bert, telegram.direct(bert), OTHERS)
            await answers(telegram, bert)
            await telegram.say(ada, telegram.direct(ada), OTHERS)
            await answers(telegram, ada)
        assert program.statuses == [1, 1, 1, 0]


async def test_a_turn_that_hangs_the_consolidation_is_quarantined_alone(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    ada, bert = telegram.person("Ada"), telegram.person("Bert")
    async with simulated({"telegram": telegram}) as port:
        config = written(tmp_path, dict(settings(telegram, tmp_path, port)))
        async with supervised("memory", tmp_path, config) as program:
            await telegram.wait_connected(LIFE)
            await telegram.say(ada, telegram.direct(ada), "this is poison")
            await answers(telegram, ada)
            await program.ended(2)
            for person, count in ((bert, 1), (ada, 2)):
                await telegram.say(person, telegram.direct(person), OTHERS)
                await answers(telegram, person, count)
            await until_quarantined(config, tmp_path, "waiting_turn")
            await telegram.say(bert, telegram.direct(bert), "/memories")
            await answers(telegram, bert, 2)
        assert program.statuses == [1, 1, 0]
        listed = await parley("quarantine", "list", "--config", config, cwd=tmp_path)
        assert "telegram:main" in listed.out
        assert "poison" not in listed.out
        key = listed.out.split()[0]
        shown = await parley("quarantine", "show", key, "--config", config, cwd=tmp_path)
        assert "waiting_turn" in shown.out
        retried = await parley("quarantine", "retry", key, "--config", config, cwd=tmp_path)
        assert (retried.status, retried.out) == (0, "to be tried again: 1\n")
        async with supervised("nowhere", tmp_path, config) as program:
            await telegram.say(ada, telegram.direct(ada), OTHERS)
            await answers(telegram, ada, 3)
        assert program.statuses == [0]
        listed = await parley("quarantine", "list", "--config", config, cwd=tmp_path)
        assert listed.out == "The quarantine is empty.\n"


@pytest.mark.parametrize("place", ["intake", pytest.param("parser", marks=pytest.mark.nightly)])
async def test_a_delivery_that_hangs_before_storage_is_finally_acknowledged(
    place: str, tmp_path: Path
) -> None:
    telegram = TelegramSimulator()
    ada, bert = telegram.person("Ada"), telegram.person("Bert")
    async with simulated({"telegram": telegram}) as port:
        config = written(tmp_path, dict(settings(telegram, tmp_path, port)))
        async with supervised(place, tmp_path, config) as program:
            await telegram.wait_connected(LIFE)
            await telegram.say(ada, telegram.direct(ada), "this is poison")
            await program.ended(2)
            await telegram.say(bert, telegram.direct(bert), OTHERS)
            await answers(telegram, bert)
            if place == "intake":  # its author is known, and is told
                (answer,) = await answers(telegram, ada)
                assert "the program stopped each time it worked on it" in answer.text
        assert program.statuses == [1, 1, 0]


async def until_quarantined(config: str, folder: Path, kind: str) -> None:
    async with asyncio.timeout(LAUNCH):
        while True:
            listed = await parley("quarantine", "list", "--config", config, cwd=folder)
            if kind in listed.out:
                return


async def test_sigterm_ends_a_hanging_program_within_the_time_of_the_watchdog(
    tmp_path: Path,
) -> None:
    telegram = TelegramSimulator()
    ada = telegram.person("Ada")
    async with simulated({"telegram": telegram}) as port:
        config = written(tmp_path, dict(settings(telegram, tmp_path, port)))
        async with supervised("turn", tmp_path, config, stopped=False) as program:
            await telegram.wait_connected(LIFE)
            program.stopping = True
            await telegram.say(ada, telegram.direct(ada), "this is poison")
            await eventually((tmp_path / BEGUN).exists, LIFE)
            assert program.process is not None
            if program.process.returncode is None:
                program.process.send_signal(signal.SIGTERM)
            await program.ended(1)
        assert program.statuses == [1]


@pytest.mark.nightly
async def test_a_process_stopped_for_less_than_the_limit_continues(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    ada = telegram.person("Ada")
    async with simulated({"telegram": telegram}) as port:
        config = written(tmp_path, dict(settings(telegram, tmp_path, port, seconds=8)))
        async with supervised("nowhere", tmp_path, config) as program:
            await telegram.wait_connected(LIFE)
            assert program.process is not None
            # beyond the first limit, within the grace after it
            for seconds in (3.0, 8.5):
                os.kill(program.process.pid, signal.SIGSTOP)
                await asyncio.sleep(seconds)
                os.kill(program.process.pid, signal.SIGCONT)
            await telegram.say(ada, telegram.direct(ada), OTHERS)
            await answers(telegram, ada)
        assert program.statuses == [0]


async def test_a_process_stopped_for_longer_is_restarted_without_quarantine(
    tmp_path: Path,
) -> None:
    telegram = TelegramSimulator()
    ada = telegram.person("Ada")
    async with simulated({"telegram": telegram}) as port:
        config = written(tmp_path, dict(settings(telegram, tmp_path, port)))
        async with supervised("nowhere", tmp_path, config) as program:
            await telegram.wait_connected(LIFE)
            assert program.process is not None
            os.kill(program.process.pid, signal.SIGSTOP)
            await telegram.say(ada, telegram.direct(ada), OTHERS)
            await asyncio.sleep(2 * SECONDS)
            os.kill(program.process.pid, signal.SIGCONT)
            await answers(telegram, ada)
        listed = await parley("quarantine", "list", "--config", config, cwd=tmp_path)
        assert listed.out == "The quarantine is empty.\n"
        assert program.statuses in ([1, 0], [0])
