"""The pages of the console over a large database, beside those over one with a tenth of it.

    python -m benchmarks.console                       500,000 messages, 15,000 memories
    python -m benchmarks.console --messages 20000      a smaller one
    python -m benchmarks.console --postgres            on a PostgreSQL of its own

Fills 5,000 conversations of 2,000 people through the stores, as finished turns leave them; one room
has a fiftieth of the messages. An operator opens each page, and searches for common and for rare
words, in turns with an installation that has a tenth of the messages and memories. Held to
`MAX_FIRST` for the first page with all that it loads, to `MAX_P95_MS` for each page, and to
`MAX_GROWTH` for its median. Where Chromium is installed, the operator then scrolls, without a
stall.

A page shows at most a fixed number of rows, and a tenth of the messages fills them, so both
installations show as much: what is slower in the large one is due to the rows that are not shown.
An empty installation would measure the rows that are shown. The bound of growth alone would pass a
page that is slow in both, the bound of time alone one that grows but is still fast.
"""

import argparse
import asyncio
import json
import math
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from benchmarks.console_scrolling import scroll
from benchmarks.machine import Machine
from db import Database, Work
from db.postgres import PostgresDatabase
from gateway.conversation import key_of
from gateway.message import Place
from gateway.people import Audience, PersonId
from gateway.ports import Usage
from gateway.ports.clock import SystemClock
from gateway.ports.conversations import StoredTurn
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.ports.usage import UsageRow
from gateway.stores.unit_of_work import write_turn
from gateway.stores.usage import SUM_AFTER
from parley.wiring.storage import SCHEMAS, TURN_WORDS
from tests.memory.stores.records import access, record
from tests.parley.console.kit import (
    OPERATOR,
    Console,
    Visitor,
    console_in,
    console_settings,
    on_postgres,
)
from tests.parley.console.talk import DECISIONS, LASTED
from tests.parley.demo.browser import CHROMIUM
from tests.support.servers import PostgresServer, postgres_server

MAX_FIRST: Final = 150_000
"""Bytes of the first page with its scripts and styles, as they are sent."""
MAX_P95_MS: Final = 800.0
"""The 95th percentile of a page over the large database."""
MAX_GROWTH: Final = 2.0
"""The median of a page over the large database, in that over the smaller one. A page that reads all
messages grows tenfold, and one that looks them up in indexes by less than a half. The median,
because the 95th percentile of 40 views depends on what else the machine does."""
SHARE: Final = 10
"""The large database has so many times the messages and memories of the smaller one."""
CONVERSATIONS: Final = 5_000
BUSY: Final = 1
"""The number of a room in which every `BUSY_EVERY`-th message is written."""
BUSY_EVERY: Final = 50
PEOPLE: Final = 2_000
DAYS: Final = 29
KEPT: Final = {"ttl_hours": 24 * (DAYS + 1)}
"""Texts that are kept as long as the decisions about them, so that all can be searched."""
AT_ONCE: Final = 250
ROUNDS: Final = 40
TURN: Final = 5
"""Rounds of an installation before it is the other one's turn."""
WORDS: Final = 20_000
PAGES: Final = (
    *("/overview", "/conversations", "/conversations?q=cabebi", "/conversations?q=rareword"),
    *("/conversations?state=done", "/outbox", "/memory/entries", "/memory/reviews", "/usage"),
    *("/audit", "/access", "/configuration", "/health"),
)
"""Pages that exist are measured; one that is not there is named in the result."""
_LOADED: Final = re.compile(r'(?:src|href)="(/console/static/[^"]{1,200})"')


def turn_id(number: int) -> str:
    """The id of a turn."""
    return f"{number:016x}"


class Writer:
    """Makes messages with words of a natural frequency."""

    def __init__(self, messages: int, days: int = DAYS) -> None:
        self._random = random.Random(7)
        self._step = timedelta(days=days) / messages
        self._begin = SystemClock().now() - timedelta(days=days)

    def text(self, number: int) -> str:
        """A text of 6 to 30 words; one in 50,000 has a rare word."""
        words = [self._word() for _ in range(self._random.randint(6, 30))]
        return " ".join((*words, *(("rareword",) if number % 50_000 == 7 else ())))

    def turn(self, number: int) -> CompletedTurn:
        """One exchange: half of the conversations are direct ones."""
        conversation = self._random.randrange(CONVERSATIONS)
        person = f"p{conversation % PEOPLE}"
        if number % BUSY_EVERY == 0:
            conversation = BUSY
        direct = conversation % 2 == 0
        place = Place(
            *("web", "main", person if direct else f"c{conversation}"),
            *((Audience.DIRECT, "") if direct else (Audience.PUBLIC_ROOM, "guild")),
        )
        at, id_ = self._begin + number * self._step, turn_id(number)
        who, key = str(PersonId("web", "main", person)), key_of("default", place)
        turns = (
            StoredTurn(f"m{number}", "user", self.text(number), at, who, person),
            StoredTurn(f"m{number}", "assistant", self.text(number), at),
        )
        trace = Trace(
            *(id_, f"m{number}", "web", "main", str(key), "message", at),
            *(DECISIONS, "answered", 900.0),
            durations=LASTED,
            audience=place.audience,
        )
        usage = UsageRow("default", who, "web:main:", "model-a", Usage(900, 60), 3_000, at)
        return CompletedTurn(key, turns, (usage,), (), trace, (), ())

    def _word(self) -> str:
        place = int(math.exp(self._random.random() * math.log(WORDS)))
        return "".join("bcdfgklmnprstvz"[place // 15**n % 15] + "aeiou"[n] for n in range(3))


@asynccontextmanager
async def database_of(console: Console) -> AsyncIterator[Database]:
    """The database of the long-lived state."""
    url = console.program.settings.database.url
    if not url.startswith("postgresql://"):
        yield console.app.storage.long_lived
        return
    database = PostgresDatabase(url, SCHEMAS)
    await database.start()
    try:
        yield database
    finally:
        await database.stop()


async def fill(console: Console, messages: int, memories: int) -> None:
    """Write everything through the stores."""
    storage, writer = console.app.storage, Writer(messages)
    async with database_of(console) as database:
        await _fill_messages(database, writer, messages)
    while await storage.usage_days.sum_up(SystemClock().now() - SUM_AFTER):
        pass  # as the housekeeping does
    for number in range(memories):
        name = OPERATOR if number % 15 == 0 else f"p{number % PEOPLE}"
        person = str(PersonId("web", "main", name))
        at = SystemClock().now() - timedelta(minutes=number)
        kept = record(writer.text(number), person, at=at, tenant="default")
        by = access(person, tenant="default")
        await storage.memory.memories.insert(by, kept, threshold=0.92, quota=None)


async def _fill_messages(database: Database, writer: Writer, messages: int) -> None:
    for begin in range(0, messages, AT_ONCE):
        done = [writer.turn(number) for number in range(begin, min(messages, begin + AT_ONCE))]

        def work(done: list[CompletedTurn] = done) -> Work[None]:
            for one in done:
                yield from write_turn(one, TURN_WORDS)

        await database.run(work)


async def times(visitor: Visitor, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each page that exists."""
    took: dict[str, list[float]] = {}
    for _ in range(rounds):
        for path in PAGES:
            began = time.perf_counter()
            page = await visitor.get(path)
            if page.status == 200:
                took.setdefault(path, []).append((time.perf_counter() - began) * 1000)
    return took


async def bytes_of_first(console: Console, visitor: Visitor) -> int:
    """Return what the first page and everything that it loads weigh, as they are sent."""
    page = await visitor.get("/overview")
    size = len(page.text.encode())
    for path in _paths_in(page.text):
        async with console.program.http.get(f"{visitor.base}{path}") as answer:
            size += len(await answer.read())
    return size


def _paths_in(text: str) -> Iterator[str]:
    yield from dict.fromkeys(_LOADED.findall(text))


def p95(figures: list[float]) -> float:
    """The 95th percentile."""
    return sorted(figures)[int(0.95 * (len(figures) - 1))]


async def alternating(
    visitors: Mapping[str, Visitor], rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of each page, in turns of five rounds: the load of the machine is the same."""
    took: dict[str, dict[str, list[float]]] = {name: {} for name in visitors}
    for _ in range(0, rounds, TURN):
        for name, visitor in visitors.items():
            for path, figures in (await times(visitor, TURN)).items():
                took[name].setdefault(path, []).extend(figures)
    return took


@asynccontextmanager
async def started(folder: Path, server: PostgresServer | None) -> AsyncIterator[Console]:
    """A program with an empty database of its own. The folder exists."""
    database = on_postgres(server, folder) if server else {}
    async with console_in(console_settings(folder, context=KEPT, **database)) as console:
        yield console


async def run(messages: int, memories: int, folder: Path, server: PostgresServer | None) -> bool:
    """Measure the smaller and the large database; print a row for each page."""
    async with AsyncExitStack() as stack:
        consoles = {
            name: await stack.enter_async_context(started(folder / name, server))
            for name in ("smaller", "large")
        }
        console = consoles["large"]
        await fill(consoles["smaller"], max(1, messages // SHARE), memories // SHARE)
        began = time.perf_counter()
        await fill(console, messages, memories)
        seconds = time.perf_counter() - began
        visitors = {name: await one.visitor(OPERATOR) for name, one in consoles.items()}
        visitor = visitors["large"]
        for one in visitors.values():
            await times(one, 3)  # templates are compiled, and all turns are indexed
        machine = Machine()
        took = await alternating(visitors, ROUNDS)
        smaller, large = took["smaller"], took["large"]
        first = await bytes_of_first(console, visitor)
        last = turn_id((messages - 1) // BUSY_EVERY * BUSY_EVERY)
        scrolled = await scroll(console, OPERATOR, last) if CHROMIUM else ()
    kept = first <= MAX_FIRST and not any(row["stalls"] for row in scrolled)
    for path, figures in large.items():
        before, median = statistics.median(smaller[path]), statistics.median(figures)
        within = p95(figures) <= MAX_P95_MS and median <= MAX_GROWTH * before
        kept = kept and within
        row = {"page": path, "smaller_median": round(before, 1), "median": round(median, 1)}
        row |= {"p95": round(p95(figures), 1), "growth": round(median / before, 2)}
        print(json.dumps({**row, "within": within}), flush=True)
    for row in scrolled:
        print(json.dumps(row), flush=True)
    missing = [path for path in PAGES if path not in large]
    print(
        json.dumps(
            {
                "messages": messages,
                "memories": memories,
                "filled_in": round(seconds, 1),
                "first_view_bytes": first,
                "missing": missing,
                "others_cpu": machine.others(),
            }
        )
    )
    return kept


def main() -> int:
    """Run the command line; return 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.console")
    parser.add_argument("--messages", type=int, default=500_000)
    parser.add_argument("--memories", type=int, default=15_000)
    parser.add_argument("--postgres", action="store_true")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name in ("smaller", "large"):
            (folder / name).mkdir()
        server = stack.enter_context(postgres_server()) if arguments.postgres else None
        kept = asyncio.run(run(arguments.messages, arguments.memories, folder, server))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
