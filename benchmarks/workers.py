"""One adapter process and one, two or four workers on Redis and PostgreSQL, with a streaming model.

    python -m benchmarks.workers                       1, 2 and 4 workers, 3,000 messages each
    python -m benchmarks.workers --workers 1 --messages 600
    python -m benchmarks.workers --rate 20             20 messages a second for half a minute

A burst of messages on a simulated Telegram, and a simulated Anthropic that answers in 300 ms. Each
worker answers up to `CONCURRENCY` conversations at once, so that the model allows
`CONCURRENCY / 0.3` messages a second for each. Every process is one of its own, and each row has
the processor time of all of them for one message. Held to `PROMISED` and to nothing lost, doubled
or out of order in a chat.

With `--rate`, people write at random moments, and the row has the milliseconds from written to
answered, the model's 300 among them. It is held to nothing lost, doubled or out of order.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Final

import yaml

from benchmarks import echo_bot
from benchmarks.faults.program import Program
from benchmarks.latency import LEAVE_OUT, doubles
from benchmarks.machine import Machine, processor_seconds
from benchmarks.served import mapping_for, shares
from tests.support.servers import PostgresServer, RedisServer, postgres_server, redis_server

WORKERS: Final = (1, 2, 4)
CONCURRENCY: Final = 64
MODEL_SECONDS: Final = 0.3
PROMISED: Final = 1.15
"""Processor time of a message with several workers, in that with one worker."""
STOP_SECONDS: Final = 20
SECONDS: Final = 30
"""The time for which people write with `--rate`."""


@contextmanager
def model_server() -> Iterator[str]:
    """The address of a simulated Anthropic in a process of its own."""
    server = echo_bot.start("benchmarks.model_server", "--seconds", str(MODEL_SECONDS))
    assert server.stdout is not None
    try:
        yield json.loads(server.stdout.readline())["url"]
    finally:
        server.terminate()
        server.wait(STOP_SECONDS)


def burst(messages: int, chats: int) -> "subprocess.Popen[str]":
    """A simulated Telegram on which everything is written at once."""
    return echo_bot.start(
        "simulators.telegram",
        *("--messages", str(messages), "--chats", str(chats), "--linger", str(STOP_SECONDS)),
    )


def steady(rate: float, chats: int, times: Path) -> "subprocess.Popen[str]":
    """One on which people write at random moments; `times` gets the moments of each message."""
    return echo_bot.start(
        "benchmarks.steady",
        *("--rate", str(rate), "--seconds", str(SECONDS), "--chats", str(chats)),
        *("--times", str(times), "--linger", str(STOP_SECONDS)),
    )


async def measure(workers: int, messages: int, chats: int, rate: float = 0.0) -> dict[str, object]:
    """Answer a burst of `messages`, or `rate` a second; return rate, losses, processor time, and
    with `rate` the milliseconds from written to answered."""
    async with AsyncExitStack() as stack:
        redis = stack.enter_context(redis_server())
        postgres = stack.enter_context(postgres_server(fsync=True))
        model = stack.enter_context(model_server())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        times = folder / "times"
        simulator = steady(rate, chats, times) if rate else burst(messages, chats)
        stack.callback(simulator.wait, STOP_SECONDS)
        stack.callback(simulator.terminate)
        assert simulator.stdout is not None
        where = json.loads(await asyncio.to_thread(simulator.stdout.readline))
        config = _config(folder, where, redis, postgres, model)
        programs = [
            Program(config, folder / "log", "--role", role)
            for role in (*(["worker"] * workers), "adapter")
        ]
        machine = Machine()
        for program in programs:
            stack.push_async_callback(program.stop)
            await program.start()
            await program.ready()
        before = [processor_seconds(program.pid) for program in programs]
        servers = (redis.pid, postgres.pid)
        stores = [processor_seconds(pid) for pid in servers]
        result = json.loads(await asyncio.to_thread(simulator.stdout.readline))
        used = [
            processor_seconds(program.pid) - was
            for program, was in zip(programs, before, strict=True)
        ]
        stored = [processor_seconds(pid) - was for pid, was in zip(servers, stores, strict=True)]
        took = _taken(times) if rate else {}
    each = 1000 / result["messages"]
    return {
        "workers": workers,
        **{name: result[name] for name in ("messages", "lost", "doubled", "out_of_order")},
        "per_second": round(result["messages"] / result["seconds"], 1),
        "model_allows": round(workers * CONCURRENCY / MODEL_SECONDS, 1),
        "milliseconds_a_message": {
            "workers": round(sum(used[:-1]) * each, 2),
            "adapter": round(used[-1] * each, 2),
            "redis": round(stored[0] * each, 2),
            "postgresql": round(stored[1] * each, 2),
        },
        **({"for_people_ms": took} if rate else {}),
        "others_cpu": machine.others(),
    }


def _taken(times: Path) -> dict[str, float]:
    """The shares of the milliseconds from written to answered, without the first seconds."""
    numbers = doubles(times)
    first = min(numbers[1::3], default=0.0) + LEAVE_OUT
    return shares(
        [
            answered - written
            for written, answered in zip(numbers[1::3], numbers[2::3], strict=True)
            if written >= first and answered
        ]
    )


def _config(
    folder: Path, where: dict[str, str], redis: RedisServer, postgres: PostgresServer, model: str
) -> Path:
    settings = mapping_for(where["url"], where["token"], str(folder)) | {
        "model": {"provider": "anthropic", "api_key": "test-key", "base_url": model},
        "database": {"url": postgres.url},
        "storage": {"url": redis.url},
        "workers": {"concurrency": CONCURRENCY},
        "watchdog": {"folder": str(folder)},
    }
    path = folder / "parley.yaml"
    path.write_text(yaml.safe_dump(settings))
    return path


def held(rows: list[dict[str, object]]) -> bool:
    """True if nothing is wrong, and in bursts no row needs more than `PROMISED` times the first
    one's processor time."""
    first = _of_program(rows[0])
    right = not any(row[name] for row in rows for name in ("lost", "doubled", "out_of_order"))
    steady_rate = "for_people_ms" in rows[0]
    return right and (steady_rate or all(_of_program(row) <= PROMISED * first for row in rows))


def _of_program(row: dict[str, object]) -> float:
    """Return the milliseconds of workers and adapter for one message."""
    times = row["milliseconds_a_message"]
    assert isinstance(times, dict)
    return float(times["workers"]) + float(times["adapter"])


def main() -> int:
    """Run the command line; return 1 if a guarantee is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers")
    parser.add_argument("--workers", type=int, action="append")
    parser.add_argument("--messages", type=int, default=3000)
    parser.add_argument("--chats", type=int, default=300)
    parser.add_argument("--rate", type=float, default=0.0, help="messages a second; 0: a burst")
    arguments = parser.parse_args()
    rows = []
    for workers in arguments.workers or WORKERS:
        row = asyncio.run(measure(workers, arguments.messages, arguments.chats, arguments.rate))
        print(json.dumps(row), flush=True)
        rows.append(row)
    return 0 if held(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
