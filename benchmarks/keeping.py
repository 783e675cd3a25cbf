"""The end of a turn, kept in SQLite and in PostgreSQL: turns, usage, four budgets and a trace.

    python -m benchmarks.keeping                 2,000 turns each, in one run

SQLite commits with `synchronous=NORMAL` (no fsync before the answer) and with `FULL` (an fsync a
commit, shared by what is asked for at once); PostgreSQL commits with fsync, on this machine over
loopback. `budget` is a reservation in four accounts that all of them share.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import psycopg

from db.postgres import PostgresDatabase
from gateway.conversation import ConversationKey
from gateway.policy.budgets import BudgetAccount
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.clock import SystemClock
from gateway.ports.conversations import StoredTurn
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.ports.usage import UsageRow
from gateway.stores.unit_of_work import LongLivedTurns
from gateway.stores.usage import UsageLedger
from tests.support.databases import postgres_database, sqlite_database
from tests.support.servers import postgres_server

SIDE_BY_SIDE: Final = (1, 10, 50)
CONVERSATIONS: Final = 200
NO_LIMIT: Final = 10**15


def turn(name: str, number: int) -> CompletedTurn:
    """An answered question of one of `CONVERSATIONS` people."""
    who, now, id_ = number % CONVERSATIONS, datetime.now(UTC), f"{name}-{number}"
    key = ConversationKey("bench", "test", "main", "W", f"C{who}")
    turns = (
        StoredTurn(id_, "user", "What is the weather like today? " * 5, now, f"p{who}", "Ada"),
        StoredTurn(id_, "assistant", "It is fine. " * 40, now),
    )
    usage = UsageRow("bench", f"p{who}", "W", "model", Usage(500, 200), 1_234, now)
    decisions = tuple(Decision(stage, True, "fine") for stage in "abcdefgh")
    trace = Trace(id_, id_, "test", "main", str(key), "message", now, decisions, "answered", 9.9)
    return CompletedTurn(key, turns, (usage,), accounts(who), trace, (id_,), ())


def accounts(who: int) -> tuple[BudgetAccount, ...]:
    """Day and month of a person, and of one of five workspaces."""
    keys = (f"u{who}:day", f"u{who}:month", f"w{who % 5}:day", f"w{who % 5}:month")
    return tuple(BudgetAccount(key, key, NO_LIMIT) for key in keys)


async def per_second(
    work: Callable[[int], Awaitable[object]], total: int, side_by_side: int
) -> float:
    """The rate a second when so many callers each wait for the end of one before the next."""
    numbers = iter(range(total))

    async def caller() -> None:
        for number in numbers:
            await work(number)

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(side_by_side)))
    return total / (time.perf_counter() - began)


async def measure(
    name: str, keeper: LongLivedTurns, ledger: UsageLedger, total: int
) -> dict[str, object]:
    """All figures of one engine."""

    async def keep(side: object, n: int) -> None:
        await keeper.keep(turn(f"{side}", n))

    await per_second(partial(keep, "warm"), CONVERSATIONS, 10)
    kept = {
        f"kept_per_second_{side}": round(
            await per_second(
                partial(keep, side),
                total,
                side,
            )
        )
        for side in SIDE_BY_SIDE
    }
    budget = await per_second(lambda n: ledger.reserve(f"r{n}", accounts(n % 200), 5), total, 10)
    return {"engine": name, **kept, "budget_per_second_10": round(budget)}


@asynccontextmanager
async def postgres() -> AsyncIterator[PostgresDatabase]:
    """PostgreSQL that waits for the disk."""
    with postgres_server(fsync=True) as server:
        with psycopg.connect(server.url) as connection:
            row = connection.execute("SHOW fsync").fetchone()
            if row != ("on",):
                raise RuntimeError(f"fsync is {row}, the figures would not mean anything")
        pool = postgres_database(server.url)
        await pool.start()
        try:
            yield pool
        finally:
            await pool.stop()


async def main(total: int) -> None:
    """Measure every engine, one after the other."""
    clock = SystemClock()
    with tempfile.TemporaryDirectory() as folder:
        for level in ("NORMAL", "FULL"):
            database = sqlite_database(Path(folder) / f"{level}.db", synchronous=level)
            await database.start()
            stores = LongLivedTurns(database), UsageLedger(database, clock)
            print(json.dumps(await measure(f"sqlite {level}", *stores, total)), flush=True)
            await database.stop()
    async with postgres() as pool:
        memory_stores = LongLivedTurns(pool), UsageLedger(pool, clock)
        print(json.dumps(await measure("postgres fsync", *memory_stores, total)), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--total", type=int, default=2_000)
    asyncio.run(main(parser.parse_args().total))
