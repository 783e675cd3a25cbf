"""Measures the time from the person's word to the stored memory. With 10,000 of one person.

    python -m benchmarks.memory_write                  SQLite and PostgreSQL, 300 writes each

The whole write path, without a model and without a page that is asked for: prepared, grounded,
compared with everything the person has, stored, audited. A person of whom 10,000 memories are kept
writes 300 more; every tenth is a repetition. Each step is timed where it is
called: `prepare` is pure, `like` looks for a repetition, `insert` stores and looks once more in its
own transaction, `examine` is the grounding, `note` the audit.

Held to: half of the writes take less than 5 ms.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from benchmarks.machine import Machine
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports.clock import SystemClock
from memory.grounding.decision import Grounding
from memory.grounding.verifier import ConfiguredVerifier, GroundingSources
from memory.model.outcome import Outcome
from memory.model.plans import Plans
from memory.model.record import Draft, InputKind, Kind
from memory.model.scope import RequestScope, access_scope_of
from memory.ports.memories import MemoryStore
from memory.stores.audit import Audit
from memory.stores.conflicts import ConflictStore
from memory.write.prepare import WriteRules, prepare
from memory.write.write_path import WritePath
from parley.wiring.storage import MemoryStores
from tests.support.databases import postgres_database, sqlite_database
from tests.support.servers import postgres_server

KEPT: Final = 10_000
WRITES: Final = 300
MEDIAN_MS: Final = 5.0
ADA: Final = PersonId("telegram", "main", "ada")
PLACE: Final = Place("telegram", "main", "ada", Audience.DIRECT)
WHAT: Final = ("invoice", "garden", "server", "recipe", "meeting", "bicycle", "contract", "parcel")
HOW: Final = ("green", "urgent", "weekly", "shared", "broken", "private", "annual", "spare")
WHERE: Final = ("Berlin", "the cellar", "the office", "Lyon", "the attic", "Porto", "room 9")
T = TypeVar("T")


def text_of(number: int) -> str:
    """One of many texts with common words, as a person's memories have them."""
    what, how, where = WHAT[number % 8], HOW[number // 8 % 8], WHERE[number // 64 % 7]
    return f"The {how} {what} number {number} is kept in {where} and Maria looks after it"


class Watch:
    """The time of each step in milliseconds."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = defaultdict(list)

    async def timed(self, step: str, work: Awaitable[T]) -> T:
        """Wait for a step."""
        began = time.perf_counter()
        try:
            return await work
        finally:
            self.took[step].append((time.perf_counter() - began) * 1000)

    def report(self) -> dict[str, dict[str, float]]:
        """Half of them took no longer, and 95 of 100 took no longer."""
        return {
            step: {
                "p50": round(statistics.median(all_), 3),
                "p95": round(statistics.quantiles(all_, n=20)[-1], 3),
            }
            for step, all_ in self.took.items()
        }


@dataclass(frozen=True, slots=True)
class Timed:
    """A part of the write path whose calls are timed."""

    part: object
    watch: Watch

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.part, name)

        async def call(*args: object, **named: object) -> object:
            return await self.watch.timed(name, method(*args, **named))

        return call


def path_over(stores: MemoryStores, watch: Watch) -> WritePath:
    """The write path, its slow steps watched."""
    clock = SystemClock()
    return WritePath(
        cast("MemoryStore", Timed(stores.memories, watch)),
        stores.reviews,
        cast("Grounding", Timed(Grounding(ConfiguredVerifier(GroundingSources()).verify), watch)),
        cast("Audit", Timed(Audit(stores.audit_on(b"key").append, b"key", clock), watch)),
        Plans(),
        WriteRules(),
        clock,
        cast("ConflictStore", Timed(stores.conflicts, watch)),
    )


async def measure(engine: str, stores: MemoryStores, writes: int) -> dict[str, object]:
    """Fill up, then write more and look at the watch."""
    request = RequestScope(
        Principal("default", ADA, Role.MEMBER), (str(ADA),), PLACE, SystemClock().now()
    )
    access, watch = access_scope_of(request), Watch()
    path = path_over(stores, Watch())
    for number in range(KEPT):
        draft = Draft(text_of(number), Kind.FACT)
        result = await path.write(request, access, draft, InputKind.EXPLICIT)
        if result.outcome is not Outcome.STORED:
            raise RuntimeError(f"memory {number} was not stored: {result.code}")
    path, machine = path_over(stores, watch), Machine()
    for number in range(writes):
        again = number % 10 == 9
        draft = Draft(text_of(number if again else KEPT + number), Kind.FACT)
        began = time.perf_counter()
        prepare(draft, InputKind.EXPLICIT, draft.kind.tier)
        watch.took["prepare"].append((time.perf_counter() - began) * 1000)
        result = await watch.timed("whole", path.write(request, access, draft, InputKind.EXPLICIT))
        expected = "duplicate" if again else "stored"
        if result.code != expected:
            raise RuntimeError(f"write {number} is {result.code}, not {expected}")
    median = statistics.median(watch.took["whole"])
    return {
        "engine": engine,
        "kept": KEPT,
        "writes": writes,
        "milliseconds": watch.report(),
        "others_used": machine.others(),
        "kept_to": median < MEDIAN_MS,
    }


@asynccontextmanager
async def opened(engine: str, folder: str) -> AsyncIterator[MemoryStores]:
    """The stores of an engine with nothing in it."""
    clock = SystemClock()
    if engine == "sqlite":
        database = sqlite_database(Path(folder) / "parley.db")
        await database.start()
        yield MemoryStores(database, clock)
        await database.stop()
        return
    with postgres_server(fsync=True) as server:
        pool = postgres_database(server.url)
        await pool.start()
        yield MemoryStores(pool, clock)
        await pool.stop()


async def run(engines: list[str], writes: int) -> bool:
    """Measure each engine; whether all kept to the limit."""
    fine = True
    for engine in engines:
        with tempfile.TemporaryDirectory() as folder:
            async with opened(engine, folder) as stores:
                line = await measure(engine, stores, writes)
        print(json.dumps(line), flush=True)
        fine = fine and bool(line["kept_to"])
    return fine


def main() -> int:
    """Command line; 1 when half of the writes take longer."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory_write")
    parser.add_argument("--engine", choices=("sqlite", "postgres"))
    parser.add_argument("--writes", type=int, default=WRITES)
    arguments = parser.parse_args()
    engines = [arguments.engine] if arguments.engine else ["sqlite", "postgres"]
    return 0 if asyncio.run(run(engines, arguments.writes)) else 1


if __name__ == "__main__":
    sys.exit(main())
