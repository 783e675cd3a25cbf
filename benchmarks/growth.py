"""Does the database stop growing? Sixty days of a steady load, with a clock that is put forward.

    python -m benchmarks.growth                        100 messages an hour for 60 days

Every simulated hour so many messages go through inbox, conversation and outbox, as the gateway
does it, and the program's own housekeeping forgets what served its time: conversations, receipts
and event ids after a day, traces after 30 days, single calls of the model after 31. Their sums by
day stay for 400 days, and are shown by themselves. The file never shrinks (freed pages are used
again), so what counts is that it stands.

Held to: once the longest retention of the others has passed, all tables but these sums stay as they
are, and the file grows by no more than the sums do.
"""

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from gateway.conversation import ConversationKey
from gateway.message import (
    ChatMessage,
    MessageAuthor,
    MessageReceived,
    Outbound,
    Part,
    Place,
    Receipt,
)
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.conversations import StoredTurn
from gateway.ports.queues import InboxEntry
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.ports.usage import UsageRow
from parley.config import from_mapping
from parley.runtime.housekeeping import Housekeeping
from parley.wiring.retention import KEEP_TRACES, storage_chores
from parley.wiring.storage import Storage

BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
DEDUPE: Final = timedelta(hours=24)
TEXT: Final = "What is the weather like today, and will it stay? " * 3
ANSWER: Final = "It is fine. " * 40
PEOPLE: Final = 500
SETTLED: Final = KEEP_TRACES + timedelta(days=5)
"""From here on nothing may grow."""
DAY_BYTES: Final = 500.0
"""Maximum bytes of a row of the sums, with its indexes."""
SUMS: Final = ("usage_days", "usage_quarters")
BOUNDED: Final = (
    *("inbox", "outbox", "turns", "traces", "usage"),
    *("claimed_keys", "reserved", "adapter_state"),
)


class Calendar:
    """Implements `gateway.ports.Clock`; time passes when it is told to."""

    def __init__(self) -> None:
        self.at = BEGIN

    def now(self) -> datetime:
        """The simulated moment."""
        return self.at

    def monotonic(self) -> float:
        """Seconds since the beginning."""
        return (self.at - BEGIN).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Wait for nothing."""
        await asyncio.sleep(0)


async def turn(storage: Storage, number: int, now: datetime) -> None:
    """One message, stored, answered and sent."""
    who, id_ = number % PEOPLE, f"telegram:main:{700_000_000 + number}"
    place = Place("telegram", "main", str(800_000 + who), Audience.DIRECT)
    key = ConversationKey("default", "telegram", "main", "", place.channel_id)
    message = ChatMessage(str(number), TEXT, MessageAuthor(place.channel_id, "Ada"), place, now)
    await storage.stores.inbox.add(
        InboxEntry(id_, str(key), MessageReceived(id_, message), now), DEDUPE
    )
    person = f"telegram:main:{place.channel_id}"
    send = Outbound(f"x{number}:0", place, Part(ANSWER, ANSWER), reply_to_id=str(number))
    decisions = tuple(Decision(stage, True, "fine") for stage in "abcdefghijkl")
    await storage.stores.unit_of_work.complete(
        CompletedTurn(
            key,
            (
                StoredTurn(str(number), "user", TEXT, now, person, "Ada"),
                StoredTurn(str(number), "assistant", ANSWER, now),
            ),
            (UsageRow("default", person, "telegram:main:", "offline", Usage(90, 120), 0, now),),
            (),
            Trace(
                f"x{number}",
                str(number),
                "telegram",
                "main",
                str(key),
                "message",
                now,
                decisions,
                "answered",
                3.2,
            ),
            (id_,),
            (send,),
        )
    )
    await storage.stores.outbox.sent(send.key, Receipt(str(number), now))


async def run(days: int, per_hour: int, folder: str) -> list[dict[str, float]]:
    """A line a day: the file in megabytes, and the rows of each table."""
    calendar, file = Calendar(), Path(folder) / "parley.db"
    settings = from_mapping({"database": {"url": f"sqlite:///{file}"}})
    storage = Storage(settings, calendar)
    await storage.start()
    housekeeping = Housekeeping(storage_chores(storage, settings, calendar), calendar)
    rows: list[dict[str, float]] = []
    try:
        for hour in range(days * 24):
            first = hour * per_hour
            await asyncio.gather(
                *(turn(storage, number, calendar.at) for number in range(first, first + per_hour))
            )
            calendar.at += HOUR
            await housekeeping.round()
            if hour % 24 == 23:
                rows.append({"day": (hour + 1) // 24, **counted(file)})
    finally:
        await storage.stop()
    return rows


def counted(file: Path) -> dict[str, float]:
    """Megabytes in use and rows of each table."""
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
        pages, size = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
        )
        rows = {
            table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in (*BOUNDED, *SUMS)
        }
    db.close()
    return {"megabytes": round(pages * size / 1024 / 1024, 2), **rows}


def judged(rows: list[dict[str, float]]) -> dict[str, object]:
    """Growth from the day on which everything that is forgotten has been forgotten once."""
    after = [row for row in rows if row["day"] >= SETTLED.days]
    first, last = after[0], after[-1]
    grown = (last["megabytes"] - first["megabytes"]) * 1024 * 1024
    recorded = sum(last[table] - first[table] for table in SUMS)
    stands = all(last[table] <= first[table] for table in BOUNDED)
    return {
        "from_day": first["day"],
        "to_day": last["day"],
        "sums_a_day": recorded / max(1, last["day"] - first["day"]),
        "megabytes": [first["megabytes"], last["megabytes"]],
        "bytes_per_sum": round(grown / max(1, recorded)),
        "tables_stand": stands,
        "bounded": stands and grown <= recorded * DAY_BYTES,
    }


def main() -> int:
    """Command line; 1 when the file grows without end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--per-hour", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.days <= SETTLED.days:
        parser.error(f"more than {SETTLED.days} days are needed, because traces are kept for 30")
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(run(arguments.days, arguments.per_hour, folder))
    for row in rows:
        if row["day"] % 5 == 0:
            print(json.dumps(row), flush=True)
    verdict = judged(rows)
    print(json.dumps(verdict), flush=True)
    return 0 if verdict["bounded"] else 1


if __name__ == "__main__":
    sys.exit(main())
