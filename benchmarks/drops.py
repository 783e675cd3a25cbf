"""Measures a burst of messages during which the platform's socket is cut eight times.

    python -m benchmarks.drops                             all four ways, 1,000 messages each
    python -m benchmarks.drops --way slack-cut --messages 200

A real `parley run` answers 200 chats with a model that takes 50 ms. Half of the messages are
written while no socket is open. Four ways to lose the connection:

    discord-resume     the connection is cut, and the session can be resumed
    discord-invalid    the connection is cut, and the session is lost: no event is repeated
    slack-cut          the connection is cut, acknowledgements in transit included
    slack-disconnect   Slack requests a new connection, and closes the old one after it is open

No message may be lost, answered twice or answered out of order. Each chat is known before the first
cut, because Discord does not list a direct conversation that a bot has never seen.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from benchmarks.burst import Burst, parley_run, write_configuration
from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from tests.support.ports import free_port

CHATS: Final = 200
DROPS: Final = 8
MODEL_SECONDS: Final = 0.05
RECONNECT_SECONDS: Final = 30.0
BREATH_SECONDS: Final = 1.0
"""Between a new connection and the next share, so that Slack's first repetition gets through: its
second comes a minute later, behind what was written meanwhile."""
PATIENCE_SECONDS: Final = 150.0
"""Beyond the minute that Slack waits with its second repetition."""

Drop = Callable[[PlatformSimulator], Awaitable[None]]


async def cut(platform: PlatformSimulator) -> None:
    """Cut every socket."""
    await platform.drop_connections()


async def cut_for_good(platform: PlatformSimulator) -> None:
    """Cut every socket, and let no session be resumed."""
    assert isinstance(platform, DiscordSimulator)
    platform.forget_sessions()
    await platform.drop_connections()


async def ask_to_reconnect(platform: PlatformSimulator) -> None:
    """Say goodbye first, as Slack does every few hours."""
    assert isinstance(platform, SlackSimulator)
    await platform.request_reconnect()


WAYS: Final[Mapping[str, tuple[Callable[[], PlatformSimulator], Drop]]] = {
    "discord-resume": (DiscordSimulator, cut),
    "discord-invalid": (DiscordSimulator, cut_for_good),
    "slack-cut": (SlackSimulator, cut),
    "slack-disconnect": (SlackSimulator, ask_to_reconnect),
}


async def measure(way: str, messages: int, chats: int) -> dict[str, object]:
    """One way of losing the socket, through its burst."""
    make, drop = WAYS[way]
    async with AsyncExitStack() as stack:
        platform, model = make(), AnthropicSimulator()
        model.faults.add(Fault("messages", "slow", times=10**9, delay=MODEL_SECONDS))
        for started in (platform, model):
            await started.start()
            stack.push_async_callback(started.stop)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        choice = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
        burst = Burst(platform, chats)
        config = write_configuration(folder, platform, choice, free_port())
        async with parley_run(config):
            await platform.wait_connected()
            await burst.write(chats)
            await burst.answered(PATIENCE_SECONDS)
            began = time.perf_counter()
            await _write_and_drop(burst, messages, drop)
            await burst.answered(PATIENCE_SECONDS)
            seconds = time.perf_counter() - began
        return {
            "way": way,
            **burst.figures(),
            "drops": DROPS,
            "chats": chats,
            "seconds": round(seconds, 1),
        }


async def _write_and_drop(burst: Burst, messages: int, drop: Drop) -> None:
    """The messages in equal shares, before each cut and right after it."""
    each, rest = divmod(messages, 2 * DROPS)
    for number in range(DROPS):
        await burst.write(each + (rest if number == 0 else 0))
        await drop(burst.platform)
        await burst.write(each)
        await burst.platform.wait_connected(RECONNECT_SECONDS)
        await asyncio.sleep(BREATH_SECONDS)


def main() -> int:
    """Run the command line; return 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drops")
    parser.add_argument("--way", choices=WAYS, action="append")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--chats", type=int, default=CHATS)
    arguments = parser.parse_args()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # cut lines are the point
    bad = False
    for way in arguments.way or WAYS:
        row = asyncio.run(measure(way, arguments.messages, arguments.chats))
        ok = not (row["lost"] or row["answered_twice"] or row["out_of_order"])
        bad |= not ok
        print(json.dumps({"benchmark": "drops", "ok": ok, **row}), flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
