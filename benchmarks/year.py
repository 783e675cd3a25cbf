"""A year of data beside none: start, messages, housekeeping and backup.

    python -m benchmarks.year                               2,500,000 messages, 1,000,000 memories
    python -m benchmarks.year --messages 50000 --memories 20000
    python -m benchmarks.year --folder DIR                  uses what an earlier run left there

Messages of a year (each with its answer: two turns), with usage and traces, and the memories of the
people, go through the stores into one SQLite file that keeps conversations for a year; the
program's own housekeeping runs every simulated day. Then an empty installation and this one are
measured in turn: seconds until `parley run` is ready, and milliseconds from written to answered at
a steady rate. The last line has the housekeeping of one more day with the longest hold of the event
loop, and a backup.

Held to `BOUNDS`: the figures of the year, in those of the empty installation.
"""

import argparse
import asyncio
import json
import math
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import yaml

from benchmarks import echo_bot
from benchmarks.console import Writer
from benchmarks.growth import Calendar
from benchmarks.latency import LEAVE_OUT, doubles
from benchmarks.machine import Machine
from benchmarks.served import mapping_for, shares
from benchmarks.soak import MEGABYTE, size_of, start
from db import Work
from gateway.people import PersonId
from gateway.ports.clock import SystemClock
from gateway.ports.unit_of_work import CompletedTurn
from gateway.stores.turn_index import index_all
from gateway.stores.unit_of_work import write_turn
from gateway.stores.usage import SUM_AFTER
from parley.config import Settings, from_mapping
from parley.runtime.housekeeping import Housekeeping
from parley.wiring.retention import storage_chores
from parley.wiring.storage import TURN_WORDS, Storage
from tests.memory.stores.records import access, record

BOUNDS: Final = {"start": 1.5, "p50": 1.5, "p99": 2.0}
HOLD_MS: Final = 100.0
"""The longest hold of the event loop by the housekeeping."""
DAYS: Final = 365
PEOPLE: Final = 20_000
AT_ONCE: Final = 250
MEMORIES_AT_ONCE: Final = 64
STARTS: Final = 3
STOP_SECONDS: Final = 60
TICK: Final = 0.005
MESSAGE_IDS: Final = 2_000_000_000
"""Each round begins with new ids of messages: the installation knows those of the others."""
WRONG: Final = ("lost", "doubled", "out_of_order")
WARM: Final = 20.0
"""Seconds after which nearly everybody's session has begun: its first message costs most, because
the brief of the person's memories is written."""
KEPT: Final = {"context": {"ttl_hours": 8_760}}
"""Conversations are kept for a year."""


def settings_in(folder: Path) -> Settings:
    """The configuration for filling and housekeeping."""
    return from_mapping({"database": {"url": f"sqlite:///{folder}/parley.db"}, **KEPT})


async def fill(folder: Path, messages: int, memories: int) -> None:
    """Write a year day by day through the stores, with the housekeeping of each day."""
    calendar = Calendar()
    calendar.at = begin = SystemClock().now() - timedelta(days=DAYS)
    writer = Writer(messages, DAYS)
    settings = settings_in(folder)
    storage = Storage(settings, calendar)
    await storage.start()
    housekeeping = Housekeeping(storage_chores(storage, settings, calendar), calendar)
    try:
        for day in range(DAYS):
            await _write_messages(
                storage, writer, messages * day // DAYS, messages * (day + 1) // DAYS
            )
            calendar.at = begin + timedelta(days=day)
            first, last = memories * day // DAYS, memories * (day + 1) // DAYS
            await _write_memories(storage, writer, calendar, range(first, last))
            while await storage.usage_days.sum_up(calendar.at - SUM_AFTER):
                pass  # as the housekeeping does
            await index_all(storage.long_lived)  # as the program does in the background
            await housekeeping.round()
    finally:
        await storage.stop()


async def _write_messages(storage: Storage, writer: Writer, first: int, last: int) -> None:
    for begin in range(first, last, AT_ONCE):
        done = [writer.turn(number) for number in range(begin, min(last, begin + AT_ONCE))]

        def work(done: list[CompletedTurn] = done) -> Work[None]:
            for one in done:
                yield from write_turn(one, TURN_WORDS)

        await storage.long_lived.run(work)


async def _write_memories(
    storage: Storage, writer: Writer, calendar: Calendar, numbers: range
) -> None:
    async def write(number: int) -> None:
        person = str(PersonId("telegram", "main", str(800_000 + number % PEOPLE)))
        kept = record(writer.text(number), person, at=calendar.at, tenant="default")
        by = access(person, tenant="default")
        await storage.memory.memories.insert(by, kept, threshold=0.92, quota=None)

    for begin in range(numbers.start, numbers.stop, MEMORIES_AT_ONCE):
        group = range(begin, min(numbers.stop, begin + MEMORIES_AT_ONCE))
        await asyncio.gather(*map(write, group))


def measure(folder: Path, rate: float, seconds: float) -> dict[str, float]:
    """Seconds of a start, and milliseconds from written to answered, of the installation in a
    folder."""
    times = folder / "times"
    simulator = echo_bot.start(
        "benchmarks.steady",
        *("--rate", str(rate), "--seconds", str(seconds), "--patience", "60"),
        *("--times", str(times), "--linger", str(STOP_SECONDS)),
        *("--first", str(int(time.time() * 1000) % MESSAGE_IDS)),
    )
    assert simulator.stdout is not None
    try:
        where = json.loads(simulator.stdout.readline())
        config = folder / "parley.yaml"
        settings = mapping_for(where["url"], where["token"], str(folder))
        config.write_text(yaml.safe_dump({**settings, **KEPT}))
        began = time.perf_counter()
        gateway = start(config)
        ready = time.perf_counter() - began
        outcome = json.loads(simulator.stdout.readline())
        _stop(gateway)
    finally:
        simulator.terminate()
        simulator.wait(STOP_SECONDS)
    _forget_events(folder / "parley.db")
    begin, took = answer_times(times, LEAVE_OUT, WARM), answer_times(times, WARM)
    wrong = {name: outcome[name] for name in WRONG}
    first = {f"{name}_while_sessions_begin": value for name, value in shares(begin).items()}
    return {"start": round(ready, 2), **wrong, **shares(took), **first}


def _forget_events(file: Path) -> None:
    """Delete the ids of events: each simulator numbers its updates from 1."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("DELETE FROM inbox")


def answer_times(file: Path, since: float, until: float = math.inf) -> list[float]:
    """Seconds from written to answered, of messages written in this period, in seconds after the
    first one."""
    kept = doubles(file)
    first = min(kept[1::3], default=0.0)
    pairs = zip(kept[1::3], kept[2::3], strict=True)
    return [
        answered - written
        for written, answered in pairs
        if answered and first + since <= written < first + until
    ]


def _stop(gateway: "subprocess.Popen[str]") -> None:
    gateway.send_signal(signal.SIGTERM)
    gateway.communicate(timeout=STOP_SECONDS)


async def keep_house(folder: Path) -> dict[str, float]:
    """The housekeeping of one more day: seconds, deleted rows, longest hold in milliseconds."""
    calendar = Calendar()
    calendar.at = SystemClock().now() + timedelta(days=1)
    settings = settings_in(folder)
    storage = Storage(settings, calendar)
    await storage.start()
    chores = storage_chores(storage, settings, calendar)
    longest, ended = [0.0], asyncio.Event()
    watch = asyncio.create_task(_watch(longest, ended))
    try:
        began = time.perf_counter()
        while await storage.usage_days.sum_up(calendar.at - SUM_AFTER):
            pass
        rows = await Housekeeping(chores, calendar).round()
        seconds = time.perf_counter() - began
    finally:
        ended.set()
        await watch
        await storage.stop()
    return {
        "housekeeping_s": round(seconds, 1),
        "rows": rows,
        "longest_hold_ms": round(longest[0] * 1000, 1),
    }


async def _watch(longest: list[float], ended: asyncio.Event) -> None:
    while not ended.is_set():
        began = time.perf_counter()
        await asyncio.sleep(TICK)
        longest[0] = max(longest[0], time.perf_counter() - began - TICK)


def back_up(folder: Path) -> dict[str, float]:
    """Seconds of `parley backup`, and megabytes of the copy."""
    copy = folder / "copy.db"
    began = time.perf_counter()
    subprocess.run(
        (
            *(sys.executable, "-m", "parley", "backup", str(copy), "--force"),
            *("--config", str(folder / "parley.yaml")),
        ),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    seconds = time.perf_counter() - began
    size = copy.stat().st_size / MEGABYTE
    copy.unlink()
    return {"backup_s": round(seconds, 1), "backup_megabytes": round(size)}


@contextmanager
def _kept(folder: Path | None) -> Iterator[Path]:
    """The folder, or a temporary one."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def run(folder: Path, rounds: int, rate: float, seconds: float) -> bool:
    """Measure both installations in turn; print each figure, return True if they are within the
    bounds."""
    machine, rows = Machine(), {"empty": list[dict[str, float]](), "year": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as empty:
            rows["empty"].append(measure(Path(empty), rate, seconds))
        rows["year"].append(measure(folder, rate, seconds))
        for name, of in rows.items():
            print(json.dumps({"installation": name, **of[-1]}), flush=True)
    middle = {
        name: {figure: statistics.median(row[figure] for row in of) for figure in BOUNDS}
        for name, of in rows.items()
    }
    ratios = {
        figure: round(middle["year"][figure] / middle["empty"][figure], 2) for figure in BOUNDS
    }
    wrong = sum(row[name] for of in rows.values() for row in of for name in WRONG)
    house = asyncio.run(keep_house(folder))
    held = not wrong and house["longest_hold_ms"] <= HOLD_MS
    held = held and all(ratios[figure] <= bound for figure, bound in BOUNDS.items())
    line = {**middle, "ratios": ratios, **house, **back_up(folder), "wrong": wrong}
    print(json.dumps({**line, "others_cpu": machine.others(), "held": held}), flush=True)
    return held


def main() -> int:
    """Run the command line; return 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.year")
    parser.add_argument("--messages", type=int, default=2_500_000)
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=40.0)
    arguments = parser.parse_args()
    with _kept(arguments.folder) as folder:
        file = folder / "parley.db"
        if not file.exists():
            began = time.perf_counter()
            asyncio.run(fill(folder, arguments.messages, arguments.memories))
            filled = {"filled_in": round(time.perf_counter() - began, 1)}
            print(json.dumps({**filled, "megabytes": round(size_of(file))}), flush=True)
        return 0 if run(folder, arguments.rounds, arguments.rate, arguments.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
