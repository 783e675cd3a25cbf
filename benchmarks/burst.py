"""A burst of messages to a simulated platform, and a real `parley run` that answers it."""

import asyncio
import itertools
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from gateway.outbound.retry_decision import REPEAT_NOTE
from simulators.base import PlatformSimulator, Shown, SimRoom

READY_SECONDS: Final = 60.0
"""The time limit for a start, on a busy machine."""
SETTLED_SECONDS: Final = 2.0
"""The time for which repetitions are looked for after the last answer."""
LOOK_SECONDS: Final = 0.2
MARK: Final = re.compile(r"n(\d{6})")
UNLIMITED: Final = {"user_per_minute": 0, "channel_per_minute": 0, "workspace_per_minute": 0}


@dataclass
class Burst:
    """People who write numbered messages in `chats` direct conversations, and what they get."""

    platform: PlatformSimulator
    chats: int
    rooms: list[SimRoom] = field(default_factory=list)
    written: int = 0

    async def write(self, count: int) -> None:
        """So many messages, dealt out to the chats in turn."""
        for _ in range(count):
            who = self.written % self.chats
            person = self.platform.person(f"Person {who}")
            if who == len(self.rooms):
                self.rooms.append(self.platform.direct(person))
            await self.platform.say(person, self.rooms[who], f"this is n{self.written:06d}")
            self.written += 1
            await asyncio.sleep(0)

    def messages(self) -> list[list[Shown]]:
        """The bot's messages, by chat, in the order they stand there."""
        return [
            [m for m in self.platform.shown(room) if m.by_bot and not m.deleted]
            for room in self.rooms
        ]

    async def answered(self, patience: float) -> None:
        """Return a moment after every message was answered, or after `patience` seconds."""
        loop = asyncio.get_running_loop()
        until = loop.time() + patience
        while loop.time() < until:
            if len(set(itertools.chain(*map(marks, self.messages())))) == self.written:
                break
            await asyncio.sleep(LOOK_SECONDS)
        await asyncio.sleep(SETTLED_SECONDS)

    def figures(self) -> dict[str, int]:
        """Return the numbers of lost, duplicated and unordered answers."""
        chats = self.messages()
        times = Counter(itertools.chain(*map(marks, chats)))
        overtaken = 0
        for chat in chats:
            first = list(dict.fromkeys(marks(chat)))
            overtaken += sum(later < earlier for earlier, later in itertools.pairwise(first))
        return {
            "messages": self.written,
            "lost": self.written - len(times),
            "answered_twice": sum(count - 1 for count in times.values()),
            "out_of_order": overtaken,
        }


def marks(messages: list[Shown]) -> list[int]:
    """The numbers of the messages that these answer, as often as they stand there."""
    return [int(number) for message in messages for number in MARK.findall(message.text)]


def is_note(message: Shown) -> bool:
    """Return True for the note that announces a possible repetition."""
    return message.text == REPEAT_NOTE.english


def write_configuration(
    folder: Path,
    platform: PlatformSimulator,
    model: Mapping[str, object],
    webhook_port: int,
    overrides: Mapping[str, object] | None = None,
) -> Path:
    """A configuration without limits of ours, so that only the platform's own are met."""
    path = folder / "parley.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "model": dict(model),
                "platforms": {platform.platform: platform.settings()},
                "limits": UNLIMITED,
                "delivery": {"chat_per_second": 1000, "platform_per_second": 1000},
                "conversation": {"overlap": "queue"},
                "workers": {"concurrency": 32},
                "server": {"port": 0},
                "webhooks": {"port": webhook_port},
                "database": {"url": f"sqlite:///{folder}/parley.db"},
                **(overrides or {}),
            }
        )
    )
    return path


@asynccontextmanager
async def parley_run(config: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process of a `parley run` that is ready; in the end it is told to stop."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "parley", "run", "--config", str(config)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(READY_SECONDS):
            while b"ready gateway" not in (line := await process.stdout.readline()):
                if not line:
                    raise RuntimeError("parley ended before it was ready")
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()
