"""The whole gateway beside a bare python-telegram-bot echo bot, on the same simulated Telegram.

    python -m benchmarks.gateway                 both, alternating, and the ratio of their rates
    python -m benchmarks.gateway --messages 1000 --rounds 1
    python -m benchmarks.gateway --serve URL --token T      only the gateway

Offline model, limits lifted, overlap `queue`; inbox, conversations, traces and outbox in SQLite as
always. Simulator and bot are processes of their own; processor time is the bot's alone.
"""

import argparse
import asyncio
import json
import signal
import statistics
import tempfile
import time
from typing import Final

from benchmarks import echo_bot
from parley.app import App
from parley.settings import from_mapping

STOP_SECONDS: Final = 20
FAST: Final = 1000.0


async def serve(url: str, token: str, folder: str) -> None:
    """Run the gateway until SIGTERM, then print the processor seconds used since it was ready."""
    settings = from_mapping(
        {
            "model": {"provider": "offline"},
            "limits": {"user_per_minute": 0, "channel_per_minute": 0, "workspace_per_minute": 0},
            "delivery": {"chat_per_second": FAST, "platform_per_second": FAST},
            "conversation": {"overlap": "queue"},
            "database": {"url": f"sqlite:///{folder}/parley.db"},
            "server": {"port": 0},
            "platforms": {"telegram": {"bot_token": token, "base_url": url}},
        }
    )
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    app = App(settings)
    began = time.process_time()
    await app.start()
    await stop.wait()
    used = time.process_time() - began
    await app.stop()
    print(json.dumps({"cpu_seconds": used}), flush=True)


def measure(messages: int, chats: int) -> dict[str, object]:
    """Run simulator and gateway; rate, losses and processor time of the gateway."""
    simulator = echo_bot.start(
        "simulators.telegram",
        *("--messages", str(messages), "--chats", str(chats), "--linger", str(STOP_SECONDS)),
    )
    assert simulator.stdout is not None
    try:
        where = json.loads(simulator.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            bot = echo_bot.start(
                "benchmarks.gateway",
                *("--serve", where["url"], "--token", where["token"], "--folder", folder),
            )
            result: dict[str, object] = json.loads(simulator.stdout.readline())
            bot.send_signal(signal.SIGTERM)
            output, _ = bot.communicate(timeout=STOP_SECONDS)
        used = float(json.loads(output.splitlines()[-1])["cpu_seconds"])
    finally:
        simulator.terminate()
        simulator.wait(STOP_SECONDS)
    return {
        "bot": "parley",
        **result,
        "cpu_seconds": round(used, 3),
        "cpu_seconds_per_1000": round(used / messages * 1000, 3),
    }


def compare(messages: int, chats: int, rounds: int) -> dict[str, object]:
    """Alternate both bots, so that the machine's moods hit them alike; print every run."""
    ours: list[dict[str, object]] = []
    bare: list[dict[str, object]] = []
    for _ in range(rounds):
        for rows, row in (
            (bare, echo_bot.measure("httpx", messages, chats)),
            (ours, measure(messages, chats)),
        ):
            rows.append(row)
            print(json.dumps(row), flush=True)
    ratios = [
        _number(a, "per_second") / _number(b, "per_second") for a, b in zip(ours, bare, strict=True)
    ]
    return {
        "rate_against_bare_echo": round(statistics.median(ratios), 3),
        "each_round": [round(ratio, 3) for ratio in ratios],
        "lost": sum(_number(row, "lost") for row in ours),
        "doubled": sum(_number(row, "doubled") for row in ours),
        "out_of_order": sum(_number(row, "out_of_order") for row in ours),
    }


def _number(row: dict[str, object], name: str) -> float:
    value = row[name]
    assert isinstance(value, int | float)
    return value


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway")
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", metavar="URL")
    parser.add_argument("--token", default="")
    parser.add_argument("--folder", default="")
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve(arguments.serve, arguments.token, arguments.folder))
        return
    summary = compare(arguments.messages, arguments.chats, arguments.rounds)
    print(json.dumps(summary), flush=True)


if __name__ == "__main__":
    main()
