"""Measures two processes that get the same events at once, each event twice, and share their
limits.

    python -m benchmarks.twice                     10,000 events, 10,000 questions a process
    python -m benchmarks.twice --events 1000

Two `parley run` on one Redis and one PostgreSQL get every update of a simulated Telegram, each of
them twice, at the same time. Every message must be answered once, in order. Then two processes
request tokens with a frozen clock, where the limit per person, per channel or per workspace
applies: the number of admitted requests must be exactly the capacity, and each of the three levels
must have given exactly that number. Each line is JSON; the exit status is 1 if a requirement was
violated.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import yaml

from benchmarks.faults.program import Program
from benchmarks.faults.verdict import judge
from benchmarks.faults.world import World
from benchmarks.twice.doubler import TIMES, Doubler
from benchmarks.twice.taker import LEVELS, capacity, left, passed_in_all
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import configuration
from tests.support.ports import free_port
from tests.support.servers import postgres_server, redis_server

PROCESSES: Final = 2
PATIENCE_SECONDS: Final = 60.0
"""The time without an answer after which the rest counts as lost."""
LOOK_SECONDS: Final = 1.0
"""Between two looks at everything that was answered: a look at 10,000 takes its time."""
SETTLE_SECONDS: Final = 3.0
AHEAD: Final = 500
"""Messages that may be unanswered before more are written."""


async def events(count: int, log: Path) -> dict[str, object]:
    """Every event to both processes, twice."""
    async with AsyncExitStack() as stack:
        redis = stack.enter_context(redis_server())
        postgres = stack.enter_context(postgres_server(fsync=True))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        telegram = TelegramSimulator(mode="webhook")
        await telegram.start()
        stack.push_async_callback(telegram.stop)
        ports = [free_port() for _ in range(PROCESSES)]
        doubler = Doubler([f"http://127.0.0.1:{port}" for port in ports])
        stack.push_async_callback(doubler.stop)
        telegram.attach(await doubler.start())
        for port in ports:
            config = folder / f"{port}.yaml"
            settings = {
                "storage": {"url": redis.url},
                "database": {"url": postgres.url},
                "conversation": {"overlap": "queue"},
            }
            whole = configuration({"telegram": telegram}, folder, port, settings)
            config.write_text(yaml.safe_dump(whole))
            program = Program(config, log)
            stack.push_async_callback(program.stop)
            await program.start()
            await program.ready()
        world, began = World(telegram), time.perf_counter()
        await _write(world, count)
        seconds = time.perf_counter() - began
        verdict = judge(world.answers(), world.written, world.handed(), 0)
        return {
            "benchmark": "twice",
            "processes": PROCESSES,
            "events": verdict.messages,
            "deliveries": doubler.posted,
            "deliveries_an_event": PROCESSES * TIMES,
            "lost": verdict.lost,
            "answered_twice": verdict.answered_twice,
            "out_of_order": verdict.out_of_order,
            "seconds": round(seconds, 1),
            "kept": verdict.kept and doubler.posted >= PROCESSES * TIMES * count,
        }


async def _write(world: World, count: int) -> None:
    answered, until = -1, 0.0
    while (now := world.answered()) < count:
        if now > answered:
            answered, until = now, time.monotonic() + PATIENCE_SECONDS
        elif time.monotonic() > until:
            break
        while world.written < min(count, answered + AHEAD):
            await world.write()
        await asyncio.sleep(LOOK_SECONDS)
    await asyncio.sleep(SETTLE_SECONDS)


async def limits(count: int) -> dict[str, object]:
    """Return the amount that two simultaneous processes get, by the level that limits them."""
    levels: dict[str, object] = {}
    kept = True
    with redis_server() as redis:
        for level in LEVELS:
            passed = await passed_in_all(redis.url, level, PROCESSES, count)
            taken = await left(redis.url, level, count)
            levels[level] = {"capacity": capacity(count), "passed": passed, "taken": taken}
            kept &= sum(passed) == capacity(count) and set(taken) == {capacity(count)}
    return {"benchmark": "limits", "processes": PROCESSES, "asked": count, **levels, "kept": kept}


def main() -> int:
    """Run the command line; return 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.twice")
    parser.add_argument("--events", type=int, default=10_000)
    count = parser.parse_args().events
    with tempfile.NamedTemporaryFile(prefix="parley-twice-", suffix=".log", delete=False) as file:
        log = Path(file.name)
    results = [asyncio.run(limits(count))]
    print(json.dumps(results[0]), flush=True)
    results.append(asyncio.run(events(count, log)))
    print(json.dumps(results[1]), flush=True)
    if not all(result["kept"] for result in results):
        print(f"# the program's log is {log}", flush=True)
        return 1
    log.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
