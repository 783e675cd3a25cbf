"""Measures each search of recall by itself, over 10,000 memories of one person.

    python -m benchmarks.vectors                       SQLite and PostgreSQL, 300 questions each

Texts of made words, as frequent as words are (a few in most texts, most in few); vectors of 384
numbers; questions of some words of a text, without the most common ones, which are stop words in a
language, and a vector near its own. `first` is the first question
by meaning after the start, which reads the vectors; `vectors_mb` the memory that they take.

Held to, at 95 of 100 in SQLite: 8 ms by words (nothing else is asked where there is no model), 8 ms
by meaning (a question's vector takes a model some 10 ms more; 40 ms are allowed for all).
"""

import argparse
import asyncio
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import psutil

from benchmarks.machine import Machine
from gateway.immutable import replace
from gateway.ports.clock import SystemClock
from memory.model.record import Embedding, Record
from memory.ports.memories import Filter
from parley.wiring.storage import MemoryStores
from tests.memory.stores.records import AT, access, record
from tests.support.databases import postgres_database, sqlite_database
from tests.support.servers import postgres_server

KEPT: Final = 10_000
AT_ONCE: Final = 100
"""Memories of one transaction while the store is filled, also on a machine that is busy."""
QUESTIONS: Final = 300
DIMENSION: Final = 384
WORDS: Final = 8_000
STOP_WORDS: Final = 60
TOP: Final = 50
LIMITS_MS: Final = {"words": 8.0, "meaning": 8.0}

Floats = npt.NDArray[np.float32]


class Made:
    """Texts and vectors that are always the same."""

    def __init__(self, count: int) -> None:
        self._random = random.Random(7)
        numbers = np.random.default_rng(7)
        rows = numbers.standard_normal((count, DIMENSION), np.float32)
        self.vectors: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self._common = {_spelled(place) for place in range(STOP_WORDS)}
        self.texts = [f"{self._text()} n{number}" for number in range(count)]

    def question(self) -> tuple[str, Embedding]:
        """Half of the words of a text, some others, and a vector not far from its own."""
        number = self._random.randrange(len(self.texts))
        words = [word for word in self.texts[number].split()[:-1] if word not in self._common]
        some = self._random.sample(words, min(len(words), 8))
        noise = np.array([self._random.gauss(0, 0.03) for _ in range(DIMENSION)], np.float32)
        return f"when did we {' '.join(some)}?", embedding(self.vectors[number] + noise)

    def _text(self) -> str:
        return " ".join(self._word() for _ in range(self._random.randint(6, 25)))

    def _word(self) -> str:
        return _spelled(int(math.exp(self._random.random() * math.log(WORDS))))


def _spelled(place: int) -> str:
    return "".join("bcdfgklmnprstvz"[place // 15**n % 15] + "aeiou"[n] for n in range(4))


def embedding(row: Floats) -> Embedding:
    """As the store takes it."""
    return Embedding("made", tuple(row.tolist()))


@asynccontextmanager
async def opened(engine: str, folder: str) -> AsyncIterator[MemoryStores]:
    """The stores of an engine with nothing in it."""
    if engine == "sqlite":
        database = sqlite_database(Path(folder) / "parley.db")
        await database.start()
        yield MemoryStores(database, SystemClock())
        await database.stop()
        return
    with postgres_server() as server:
        pool = postgres_database(server.url)
        await pool.start()
        yield MemoryStores(pool, SystemClock())
        await pool.stop()


async def fill(stores: MemoryStores, made: Made) -> None:
    """Keep everything."""
    records: list[Record] = [
        replace(
            record(text, role="user", conversation="g", at=AT + timedelta(minutes=number)),
            embedding=embedding(made.vectors[number]),
        )
        for number, text in enumerate(made.texts)
    ]
    for begin in range(0, len(records), AT_ONCE):
        await stores.memories.keep_turns(access(), records[begin : begin + AT_ONCE])


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    """Milliseconds, and the result."""
    began = time.perf_counter()
    result = await work()
    return (time.perf_counter() - began) * 1000, result


async def measure(engine: str, stores: MemoryStores, questions: int) -> dict[str, object]:
    """Ask every search."""
    made = Made(KEPT)
    await fill(stores, made)
    recall, took = stores.recall, {name: list[float]() for name in ("words", "typed", "meaning")}
    took["around"] = []
    process, right = psutil.Process(), 0
    before = process.memory_info().rss
    first, _ = await timed(lambda: recall.nearest(access(), made.question()[1], Filter(), TOP))
    after, machine = process.memory_info().rss, Machine()
    for _ in range(questions):
        text, vector = made.question()
        ms, hits = await timed(lambda: recall.lexical(access(), text, Filter(), TOP))  # noqa: B023 - run at once
        took["words"].append(ms)
        typed = Filter(unfinished=True)
        ms, _ = await timed(lambda: recall.lexical(access(), text[-9:-2], typed, TOP))  # noqa: B023 - run at once
        took["typed"].append(ms)
        ms, near = await timed(lambda: recall.nearest(access(), vector, Filter(), TOP))  # noqa: B023 - run at once
        took["meaning"].append(ms)
        ids = [hit.id for hit in hits[:20]]
        ms, _ = await timed(lambda: recall.neighbours(access(), ids, 1))  # noqa: B023 - run at once
        took["around"].append(ms)
        right += near[0].id in ids
    report = {
        name: {
            "p50": round(statistics.median(all_), 2),
            "p95": round(statistics.quantiles(all_, n=20)[-1], 2),
        }
        for name, all_ in took.items()
    }
    return {
        "engine": engine,
        "kept": KEPT,
        "milliseconds": report,
        "first": round(first, 1),
        "vectors_mb": round((after - before) / 2**20, 1),
        "both_agree": round(right / questions, 3),
        "others_used": machine.others(),
        "kept_to": engine != "sqlite" or all(report[n]["p95"] <= ms for n, ms in LIMITS_MS.items()),
    }


async def run(engines: list[str], questions: int) -> bool:
    """Measure each engine; whether all kept to the limit."""
    fine = True
    for engine in engines:
        with tempfile.TemporaryDirectory() as folder:
            async with opened(engine, folder) as stores:
                line = await measure(engine, stores, questions)
        print(json.dumps(line), flush=True)
        fine = fine and bool(line["kept_to"])
    return fine


def main() -> int:
    """Command line; 1 when SQLite takes longer than it may."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vectors")
    parser.add_argument("--engine", choices=("sqlite", "postgres"))
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    arguments = parser.parse_args()
    engines = [arguments.engine] if arguments.engine else ["sqlite", "postgres"]
    return 0 if asyncio.run(run(engines, arguments.questions)) else 1


if __name__ == "__main__":
    sys.exit(main())
