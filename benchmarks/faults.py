"""What is lost, doubled or out of order when the program is killed again and again.

    python -m benchmarks.faults                                    every platform, 20 kills each
    python -m benchmarks.faults --platform telegram --kills 5 --messages 200
    python -m benchmarks.faults --platform telegram --shared       Redis, PostgreSQL, two workers

A real `parley run` answers a simulated platform with a model that takes 50 ms. People write while
it runs; at random moments it is killed with SIGKILL and started again. In the end every message has
to be answered, once, in the order of its chat. With `--shared` one of two workers is killed.

What a platform hands over late is out of order without anybody's fault: Meta sends a webhook again
after a growing pause, and the newer messages meanwhile.
"""

import argparse
import asyncio
import itertools
import json
import logging
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, PlatformSimulator, SimRoom
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.support.servers import free_port, postgres_server, redis_server

PLATFORMS: Final[Mapping[str, Callable[[], PlatformSimulator]]] = {
    "telegram": TelegramSimulator,
    "slack": SlackSimulator,
    "whatsapp": WhatsAppSimulator,
    "discord": DiscordSimulator,
}
MODEL_SECONDS: Final = 0.05
CHATS: Final = 50
READY_SECONDS: Final = 30.0
PATIENCE_SECONDS: Final = 120.0
"""How long the last answers may take after the last start."""
MARK: Final = re.compile(r"n(\d{6})")


@dataclass
class World:
    """A platform, a model, and the program between them."""

    platform: PlatformSimulator
    config: Path
    rooms: list[SimRoom] = field(default_factory=list)
    written: int = 0

    async def write(self, count: int) -> None:
        """So many messages, dealt out to the chats in turn."""
        for _ in range(count):
            who = self.written % CHATS
            person = self.platform.person(f"Person {who}")
            if who == len(self.rooms):
                self.rooms.append(self.platform.direct(person))
            await self.platform.say(person, self.rooms[who], f"this is n{self.written:06d}")
            self.written += 1
            await asyncio.sleep(0)

    def answered(self) -> dict[str, list[int]]:
        """The marks in the bot's messages, by chat, in the order they stand there."""
        return {
            room.id: [
                int(found.group(1))
                for message in self.platform.shown(room)
                if message.by_bot and not message.deleted
                for found in [MARK.search(message.text)]
                if found
            ]
            for room in self.rooms
        }


async def measure(
    name: str, kills: int, messages: int, shared: bool, seed: int
) -> dict[str, object]:
    """One platform through all its kills."""
    moments = random.Random(seed)
    async with AsyncExitStack() as stack:
        platform = PLATFORMS[name]()
        model = AnthropicSimulator()
        model.faults.add(Fault("*", "slow", times=10**9, delay=MODEL_SECONDS))
        port = free_port()
        await platform.start()
        stack.push_async_callback(platform.stop)
        await model.start()
        stack.push_async_callback(model.stop)
        platform.attach(f"http://127.0.0.1:{port}")
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stores: dict[str, object] = {"database": {"url": f"sqlite:///{folder}/parley.db"}}
        if shared:
            redis = stack.enter_context(redis_server())
            postgres = stack.enter_context(postgres_server())
            stores = {"storage": {"url": redis.url}, "database": {"url": postgres.url}}
        world = World(platform, _config(Path(folder), platform, model, port, stores))
        began = time.perf_counter()
        if shared:
            await _kill_workers(world, kills, messages, moments)
        else:
            await _kill_all(world, kills, messages, moments)
        return _result(name, world, kills, time.perf_counter() - began)


async def _kill_all(world: World, kills: int, messages: int, moments: random.Random) -> None:
    for each in _shares(messages, kills):
        async with _parley(world.config, kill=True):
            await world.platform.wait_connected(READY_SECONDS)
            await world.write(each)
            await asyncio.sleep(moments.uniform(0.0, 1.5))
    async with _parley(world.config):
        await _patience(world)


async def _kill_workers(world: World, kills: int, messages: int, moments: random.Random) -> None:
    async with (
        _parley(world.config, "--role", "adapter"),
        _parley(world.config, "--role", "worker"),
    ):
        for each in _shares(messages, kills):
            async with _parley(world.config, "--role", "worker", kill=True):
                await world.write(each)
                await asyncio.sleep(moments.uniform(0.0, 1.5))
        await _patience(world)


async def _patience(world: World) -> None:
    """Wait until everything is answered, and a moment for what comes twice."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        if len({mark for marks in world.answered().values() for mark in marks}) == world.written:
            break
        await asyncio.sleep(0.2)
    await asyncio.sleep(2.0)


def _result(name: str, world: World, kills: int, seconds: float) -> dict[str, object]:
    answered = world.answered()
    times = Counter(mark for marks in answered.values() for mark in marks)
    overtaken = 0
    for marks in answered.values():
        first = list(dict.fromkeys(marks))
        overtaken += sum(later < earlier for earlier, later in itertools.pairwise(first))
    return {
        "platform": name,
        "messages": world.written,
        "kills": kills,
        "lost": world.written - len(times),
        "answered_twice": sum(count - 1 for count in times.values()),
        "out_of_order": overtaken,
        "seconds": round(seconds, 1),
    }


def _shares(messages: int, kills: int) -> list[int]:
    each, rest = divmod(messages, kills)
    return [each + (number < rest) for number in range(kills)]


def _config(
    folder: Path,
    platform: PlatformSimulator,
    model: AnthropicSimulator,
    port: int,
    stores: Mapping[str, object],
) -> Path:
    path = folder / "parley.yaml"
    unlimited = {"user_per_minute": 0, "channel_per_minute": 0, "workspace_per_minute": 0}
    choice = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
    path.write_text(
        yaml.safe_dump(
            {
                "model": choice,
                "platforms": {platform.platform: platform.settings()},
                "limits": unlimited,
                "delivery": {"chat_per_second": 1000, "platform_per_second": 1000},
                "conversation": {"overlap": "queue"},
                "workers": {"concurrency": 16},
                "server": {"port": 0},
                "webhooks": {"port": port},
                **stores,
            }
        )
    )
    return path


@asynccontextmanager
async def _parley(
    config: Path, *arguments: str, kill: bool = False
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A `parley run` that is ready; in the end it is told to stop, or killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "parley", "run", "--config", str(config), *arguments),
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
            if kill:
                process.kill()
            else:
                process.terminate()
        await process.communicate()


def main() -> int:
    """Command line; 1 when something was lost or out of order."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults")
    parser.add_argument("--platform", choices=PLATFORMS, action="append")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # killed clients are the point
    bad = 0
    for name in arguments.platform or PLATFORMS:
        row = asyncio.run(
            measure(name, arguments.kills, arguments.messages, arguments.shared, arguments.seed)
        )
        print(json.dumps({**row, "shared": arguments.shared}), flush=True)
        bad |= bool(row["lost"] or row["out_of_order"])
    return bad


if __name__ == "__main__":
    sys.exit(main())
