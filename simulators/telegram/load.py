"""A measured load: messages that wait for the bot, and a look at what came back."""

import asyncio
import re
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Final

from simulators.base import SimPerson
from simulators.telegram.simulator import TelegramSimulator

_MARK = re.compile(r"\bn(\d{6})\b")
MAX_MESSAGES: Final = 90_000
LOOK_SECONDS: Final = 0.05
"""Between two looks; the time is taken from the sends themselves."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The outcome of the messages.

    `seconds` is from the bot's first poll to its last send; `out_of_order` counts
    answers that overtook an earlier one of their chat; `doubled` answers beyond one a message.
    """

    messages: int
    chats: int
    answered: int
    lost: int
    doubled: int
    out_of_order: int
    seconds: float
    per_second: float
    simulator_cpu_seconds: float

    def as_json(self) -> dict[str, object]:
        """For printing."""
        return {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


class Load:
    """`messages` direct messages, dealt out to `chats` people in turn.

    Every text contains a mark such as `n000042`; an answer belongs to the message whose mark it
    contains, or to the one that it replies to.
    """

    def __init__(self, simulator: TelegramSimulator, messages: int, chats: int) -> None:
        if not 1 <= chats <= messages <= MAX_MESSAGES:
            raise ValueError(f"1 <= chats <= messages <= {MAX_MESSAGES} is needed")
        self._simulator = simulator
        self._messages = messages
        self._chats = chats
        self._cpu = 0.0
        self._by_message: dict[int, int] = {}

    async def preload(self) -> None:
        """Let all messages be written before the bot comes."""
        simulator = self._simulator
        people = [SimPerson(str(800_000 + n), f"Person {n}") for n in range(self._chats)]
        rooms = [simulator.direct(person) for person in people]
        for number in range(self._messages):
            which = number % self._chats
            text = f"message n{number:06d} says hello"
            self._by_message[int(await simulator.say(people[which], rooms[which], text))] = number

    async def run(self, timeout: float) -> LoadResult:
        """Wait until every message has an answer, or `timeout` seconds after the start."""
        simulator = self._simulator
        await simulator.wait_connected(timeout)
        began, began_cpu = time.perf_counter(), time.process_time()
        while time.perf_counter() - began < timeout:
            await asyncio.sleep(LOOK_SECONDS)
            if len(simulator.world.messages) >= self._messages * 2 and not self._missing():
                break
        self._cpu = time.process_time() - began_cpu
        return self.judge(max(0.0, simulator.sending.last_sent - began))

    def _missing(self) -> int:
        answered = {mark for answers in self._answers().values() for mark in answers}
        return self._messages - len(answered)

    def _answers(self) -> dict[int, list[int]]:
        """Per chat, the marks of the messages answered, in the order of the answers."""
        answers: dict[int, list[int]] = defaultdict(list)
        for posted in self._simulator.world.messages.values():
            if not posted.by_bot:
                continue
            mark = _MARK.search(posted.text)
            if mark is not None:
                answers[posted.chat.id].append(int(mark.group(1)))
            elif posted.reply_to is not None and posted.reply_to.id in self._by_message:
                answers[posted.chat.id].append(self._by_message[posted.reply_to.id])
        return answers

    def judge(self, seconds: float) -> LoadResult:
        """Count what is lost, doubled and out of order."""
        answered: set[int] = set()
        doubled = out_of_order = 0
        for marks in self._answers().values():
            latest = -1
            for mark in marks:
                doubled += mark in answered
                out_of_order += mark < latest
                latest = max(latest, mark)
                answered.add(mark)
        return LoadResult(
            messages=self._messages,
            chats=self._chats,
            answered=len(answered),
            lost=self._messages - len(answered),
            doubled=doubled,
            out_of_order=out_of_order,
            seconds=seconds,
            per_second=len(answered) / seconds if seconds else 0.0,
            simulator_cpu_seconds=self._cpu,
        )
