"""A simulated Telegram on which people write at a steady rate, in a process of its own.

    python -m benchmarks.steady --rate 100 --seconds 30 --chats 500

Prints one line of JSON with `url` and `token`, waits for the bot, lets people write (at random
moments, `--rate` a second on average), and when all is answered a second line: what was lost,
doubled or out of order. `--times FILE` keeps three doubles a message: its id, when it was written
and when its answer was here, on the clock that the processes of a machine share (CLOCK_MONOTONIC).
"""

import argparse
import asyncio
import json
import random
import re
import sys
import time
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from simulators.base import SimPerson, SimRoom
from simulators.telegram import TelegramSimulator
from simulators.telegram.world import FIRST_MESSAGE

PATIENCE: Final = 30.0
"""Seconds that the last answers may take."""
LOOK_SECONDS: Final = 0.05
NUMBER: Final = re.compile(r"message n(\d{6}) ")
SEED: Final = 7
MAX_MESSAGES: Final = 200_000
"""The capacity of the simulator, with the answers."""


@dataclass(slots=True)
class Outcome:
    """The outcome of the messages. `late` is the longest delay of the writing behind its plan."""

    messages: int = 0
    answered: int = 0
    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0
    seconds: float = 0.0
    late: float = 0.0


class Crowd:
    """People in `chats` direct conversations, each writing in turn."""

    def __init__(self, simulator: TelegramSimulator, chats: int, *, seed: int = SEED) -> None:
        self._simulator = simulator
        self._people = [SimPerson(str(800_000 + n), f"Person {n}") for n in range(chats)]
        self._rooms: list[SimRoom] = [simulator.direct(person) for person in self._people]
        self._random = random.Random(seed)
        self._numbers: dict[int, int] = {}
        self._answers = bytearray()
        self._latest: dict[int, int] = {}
        self.outcome = Outcome()
        self.times: array[float] = array("d")

    async def write(self, rate: float, seconds: float) -> None:
        """Write for so long, `rate` messages a second on average, at random moments."""
        began = due = time.monotonic()
        while (due := due + self._random.expovariate(rate)) < began + seconds:
            if (pause := due - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            else:
                await asyncio.sleep(0)
            self.outcome.late = max(self.outcome.late, time.monotonic() - due)
            await self._say()
            self._look()
        self.outcome.seconds = time.monotonic() - began

    async def settle(self) -> Outcome:
        """Wait until everything is answered, and a moment more for what comes twice."""
        until = time.monotonic() + PATIENCE
        while self.outcome.answered < self.outcome.messages and time.monotonic() < until:
            await asyncio.sleep(LOOK_SECONDS)
            self._look()
        await asyncio.sleep(1.0)
        self._look()
        self.outcome.lost = self.outcome.messages - self.outcome.answered
        return self.outcome

    async def _say(self) -> None:
        number = self.outcome.messages
        who = number % len(self._people)
        text = f"message n{number:06d} says hello, and hopes for an answer of ordinary length"
        written = time.monotonic()
        posted = await self._simulator.say(self._people[who], self._rooms[who], text)
        self._numbers[int(posted)] = number
        self._answers.append(0)
        self.times.extend((float(posted), written, 0.0))
        self.outcome.messages += 1

    def _look(self) -> None:
        """Count the answers that came since the last look."""
        calls = self._simulator.calls
        while calls:
            call = calls.popleft()
            if call.method == "sendMessage" and call.status == 200:
                self._answered(call.body, call.at)

    def _answered(self, values: Mapping[str, object], at: float) -> None:
        reply = values.get("reply_parameters")
        named = reply.get("message_id") if isinstance(reply, dict) else None
        number = self._numbers.get(named) if isinstance(named, int) else _number_in(values)
        if number is None:
            return
        chat = number % len(self._people)
        self.outcome.out_of_order += number < self._latest.get(chat, -1)
        self._latest[chat] = max(number, self._latest.get(chat, -1))
        if self._answers[number]:
            self.outcome.doubled += 1
            return
        self._answers[number] = 1
        self.outcome.answered += 1
        self.times[3 * number + 2] = at


def _number_in(values: Mapping[str, object]) -> int | None:
    """The number in the text of an answer that names no message, as an echo."""
    found = NUMBER.search(str(values.get("text", "")))
    return int(found[1]) if found else None


async def _main(arguments: argparse.Namespace) -> int:
    simulator = TelegramSimulator()
    simulator.world.number_messages_from(arguments.first)
    await simulator.start()
    try:
        _say({"url": simulator.url, "token": simulator.token})
        await simulator.wait_connected(arguments.patience)
        crowd = Crowd(simulator, arguments.chats)
        await crowd.write(arguments.rate, arguments.seconds)
        outcome = await crowd.settle()
        if arguments.times is not None:
            arguments.times.write_bytes(crowd.times.tobytes())
        _say(asdict(outcome))
        await asyncio.sleep(arguments.linger)
    finally:
        await simulator.stop()
    return 1 if outcome.lost or outcome.doubled or outcome.out_of_order else 0


def _say(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.steady")
    parser.add_argument("--rate", type=float, default=100.0, help="messages a second")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--chats", type=int, default=500)
    parser.add_argument("--patience", type=float, default=20.0, help="seconds until the bot polls")
    parser.add_argument("--linger", type=float, default=0.0, help="seconds to serve on at the end")
    parser.add_argument("--times", type=Path)
    parser.add_argument("--first", type=int, default=FIRST_MESSAGE, help="the first message's id")
    arguments = parser.parse_args()
    if not 0 < arguments.rate * arguments.seconds <= MAX_MESSAGES:
        parser.error(f"at most {MAX_MESSAGES} messages, and at least one")
    return arguments


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(_main(_arguments())))
    except KeyboardInterrupt:
        sys.exit(130)
