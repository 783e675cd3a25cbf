"""The whole gateway beside a bare echo bot on each of the four simulated platforms.

    python -m benchmarks.platforms                  all of them, offline model
    python -m benchmarks.platforms --model          a simulated Anthropic that streams for 20 ms
    python -m benchmarks.platforms --messages 500 --rounds 1 --platform slack --platform discord

The echo bots use the usual client library of their platform (`benchmarks/echo`; `echo_bot` on
Telegram) and call no model. The gateway is `parley run` with SQLite, its limits lifted. Everybody
writes once and is answered; then a burst of messages is written to all chats. Who comes first
changes from round to round. Bot and model are processes of their own; this process is the
simulator, without rate limits, and without a repetition of slowly confirmed events on Slack.

Processor time is the bot's alone, from the first message of the burst until all are answered. On
WhatsApp it ends when the two statuses of each answer are delivered as well. The last line has the
table: the median of the rounds. The status is 1 if a message is lost, or if the gateway answers
twice or out of order; with `--model`, also if it takes more than `benchmarks.gateway.PROCESSOR`
times the echo's processor time.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from benchmarks.burst import Burst, parley_run, write_configuration
from benchmarks.faults.world import SEND
from benchmarks.gateway import PROCESSOR
from benchmarks.machine import Machine, processor_seconds
from benchmarks.served import number
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.discord.requests import RateLimit
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.support.ports import free_port

MAX_MESSAGES: Final = 5000
"""The simulators remember 20,000 requests, and the answers are counted there."""
PATIENCE_SECONDS: Final = 180.0
LOOK_SECONDS: Final = 0.05
PLATFORMS: Final[Mapping[str, Callable[[], PlatformSimulator]]] = {
    "discord": lambda: DiscordSimulator(rate_limit=RateLimit(limit=1_000_000)),
    "slack": lambda: SlackSimulator(ack_within=PATIENCE_SECONDS),
    "telegram": TelegramSimulator,
    "whatsapp": WhatsAppSimulator,
}
WRONG: Final = ("lost", "answered_twice", "out_of_order")


@asynccontextmanager
async def module(name: str, *arguments: str) -> AsyncIterator[Process]:
    """A module of this project as a process of its own; in the end it is killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", name, *arguments), stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def echo_bot(platform: PlatformSimulator, port: int) -> AsyncIterator[Process]:
    """The process of a bare echo bot."""
    section = platform.settings()
    if platform.platform == "telegram":
        where = ("--serve", str(section["base_url"]), "--token", str(section["bot_token"]))
        started = module("benchmarks.echo_bot", *where)
    else:
        name = f"benchmarks.echo.{platform.platform}"
        started = module(name, json.dumps(section), str(port))
    async with started as process:
        yield process


@asynccontextmanager
async def gateway(platform: PlatformSimulator, port: int, *, model: bool) -> AsyncIterator[Process]:
    """The process of a gateway, with a model or the offline model."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        choice = {"provider": "offline"}
        if model:
            server = await stack.enter_async_context(
                module("benchmarks.model_server", "--numbered")
            )
            assert server.stdout is not None
            url = json.loads(await server.stdout.readline())["url"]
            choice = {"provider": "anthropic", "api_key": "test-key", "base_url": url}
        config = write_configuration(folder, platform, choice, port, {"workers": {}})
        yield await stack.enter_async_context(parley_run(config))


async def measure(
    name: str, messages: int, chats: int, *, echo: bool, model: bool
) -> dict[str, object]:
    """One bot through its burst: rate, processor time, and its mistakes."""
    platform, port = PLATFORMS[name](), free_port()
    await platform.start()
    try:
        bot = echo_bot(platform, port) if echo else gateway(platform, port, model=model)
        async with bot as process:
            platform.attach(f"http://127.0.0.1:{port}")
            await platform.wait_connected(PATIENCE_SECONDS)
            burst = Burst(platform, chats)
            await burst.write(chats)
            await burst.answered(PATIENCE_SECONDS)
            await _delivered(platform)
            spent = processor_seconds(process.pid)
            began = asyncio.get_running_loop().time()
            await burst.write(messages)
            await _sent(platform, process, chats + messages)
            await _delivered(platform)
            spent = processor_seconds(process.pid) - spent
            await burst.answered(PATIENCE_SECONDS)
        seconds = max(_sends(platform)) - began
    finally:
        await platform.stop()
    return {
        "benchmark": "platforms",
        "platform": name,
        "bot": "echo" if echo else "parley",
        "model": model and not echo,
        "chats": chats,
        **burst.figures(),
        "seconds": round(seconds, 3),
        "per_second": round(messages / seconds, 1),
        "cpu_ms_per_message": round(spent / messages * 1000, 3),
    }


def _sends(platform: PlatformSimulator) -> list[float]:
    """The loop's time, in seconds, of each successful request to send."""
    method = SEND[platform.platform]
    return [call.at for call in platform.calls if call.method == method and call.status == 200]


async def _sent(platform: PlatformSimulator, bot: Process, count: int) -> None:
    """Return after so many sends, or after `PATIENCE_SECONDS`. Raises RuntimeError if the bot ends
    before."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_SECONDS
    while loop.time() < until:
        if len(_sends(platform)) >= count:
            return
        if bot.returncode is not None:
            raise RuntimeError(f"the bot ended with status {bot.returncode}")
        await asyncio.sleep(LOOK_SECONDS)


async def _delivered(platform: PlatformSimulator) -> None:
    """Return when the statuses of all answers are delivered, on WhatsApp."""
    if isinstance(platform, WhatsAppSimulator):
        await platform.settled(PATIENCE_SECONDS)


def compare(name: str, messages: int, chats: int, rounds: int, *, model: bool) -> dict[str, object]:
    """Both bots in alternation on one platform; print every run, return the row of the table."""
    bare: list[dict[str, object]] = []
    ours: list[dict[str, object]] = []
    for turn in range(rounds):
        for echo in (True, False) if turn % 2 == 0 else (False, True):
            machine = Machine()
            row = asyncio.run(measure(name, messages, chats, echo=echo, model=model))
            row["others_cpu"] = machine.others()
            (bare if echo else ours).append(row)
            print(json.dumps(row), flush=True)
    return summary(bare, ours)


def summary(
    bare: Sequence[Mapping[str, object]], ours: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """The row of the table from the runs of the echo and of the gateway, in pairs."""
    ratios = [
        round(number(a, "cpu_ms_per_message") / number(b, "cpu_ms_per_message"), 2)
        for a, b in zip(ours, bare, strict=True)
    ]
    return {
        "platform": ours[0]["platform"],
        "echo_per_second": _median(bare, "per_second"),
        "parley_per_second": _median(ours, "per_second"),
        "echo_cpu_ms": _median(bare, "cpu_ms_per_message"),
        "parley_cpu_ms": _median(ours, "cpu_ms_per_message"),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_each_round": ratios,
        **{fault: sum(number(row, fault) for row in ours) for fault in WRONG},
        "lost_by_echo": sum(number(row, "lost") for row in bare),
        "others_cpu": _median([*bare, *ours], "others_cpu"),
    }


def _median(rows: Sequence[Mapping[str, object]], name: str) -> float:
    return round(statistics.median(number(row, name) for row in rows), 3)


def held(row: Mapping[str, object], *, model: bool) -> bool:
    """True if a row of the table is within the stated limits."""
    if any(number(row, fault) for fault in (*WRONG, "lost_by_echo")):
        return False
    return not model or number(row, "ratio") <= PROCESSOR


def main() -> int:
    """Run the command line; return 1 if a guarantee is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.platforms")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--chats", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--platform", choices=PLATFORMS, action="append")
    parser.add_argument("--model", action="store_true", help="a model that answers in 20 ms")
    arguments = parser.parse_args()
    if not 0 < arguments.messages <= MAX_MESSAGES:
        parser.error(f"--messages takes 1 to {MAX_MESSAGES}")
    messages, chats, model = arguments.messages, arguments.chats, arguments.model
    table = [
        compare(name, messages, chats, arguments.rounds, model=model)
        for name in arguments.platform or PLATFORMS
    ]
    ok = all(held(row, model=model) for row in table)
    print(json.dumps({"benchmark": "platforms", "model": model, "ok": ok, "table": table}))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
