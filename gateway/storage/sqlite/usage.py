"""Tokens and money in SQLite: sums per period, reservations of running turns, a row per call."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from db.sqlite import SqliteDatabase
from gateway.policy.budgets import Account, BudgetDecision, decide_budget
from gateway.ports import Clock, Usage
from gateway.storage.sqlite.pruning import delete_some
from gateway.stores import UsageRow, UsageTotal

RESERVED_SECONDS = 3600.0
"""After this long a reservation belongs to a turn that died, and counts no more."""


TOTALS = """
    SELECT model, count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
        sum(cache_write_tokens), sum(micros)
    FROM usage WHERE tenant IN (:tenant, '') AND at >= :since AND (
        :everything OR person IN (SELECT value FROM json_each(:persons)))
    GROUP BY model ORDER BY sum(micros) DESC, model LIMIT 1000
"""


def settle_usage(
    db: sqlite3.Connection, turn: str, rows: Sequence[UsageRow], accounts: Sequence[Account]
) -> None:
    """Replace the reservation of a turn by what it cost, inside the caller's transaction. A row
    that was counted before counts no more."""
    cost = sum(row.micros for place, row in enumerate(rows) if _counted(db, turn, place, row))
    db.executemany(
        "DELETE FROM reserved WHERE key = ? AND turn = ?",
        [(account.key, turn) for account in accounts],
    )
    since = max((row.at.timestamp() for row in rows), default=None)
    if since is None:
        return
    db.executemany(
        "INSERT INTO spent (key, micros, since) VALUES (?, ?, ?)"
        " ON CONFLICT (key) DO UPDATE SET micros = micros + excluded.micros",
        [(account.key, cost, since) for account in accounts],
    )


class SqliteUsage:
    """Implements `gateway.stores.UsageLedger`."""

    def __init__(self, database: SqliteDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def reserve(
        self, turn: str, accounts: Sequence[Account], estimate: int
    ) -> BudgetDecision:
        """Set `estimate` aside in every account, or in none, in place of what the turn had."""
        if not accounts:
            return decide_budget((), (), estimate)
        now = self._clock.now().timestamp()

        def job(db: sqlite3.Connection) -> BudgetDecision:
            db.execute("DELETE FROM reserved WHERE at <= ?", (now - RESERVED_SECONDS,))
            outcome = decide_budget(accounts, _sums(db, accounts, without=turn), estimate)
            if outcome.decision.allowed:
                db.executemany(
                    "INSERT OR REPLACE INTO reserved VALUES (?, ?, ?, ?)",
                    [(turn, account.key, estimate, now) for account in accounts],
                )
            return outcome

        return await self._database.run_job(job)

    async def settle(
        self, turn: str, rows: Sequence[UsageRow], accounts: Sequence[Account]
    ) -> None:
        """Replace the reservation of a turn by what it cost."""
        await self._database.run_job(lambda db: settle_usage(db, turn, rows, accounts))

    async def spent(self, accounts: Sequence[Account]) -> list[int]:
        """What was settled and reserved, in the order of the accounts."""
        return await self._database.run_job(lambda db: _sums(db, accounts))

    async def totals(
        self, tenant: str, since: datetime, persons: Sequence[str] | None
    ) -> list[UsageTotal]:
        """Sums by model since then, the dearest first."""
        asked = {
            "tenant": tenant,
            "since": since.timestamp(),
            "everything": persons is None,
            "persons": json.dumps([person for person in persons or () if person]),
        }
        rows = await self._database.run_job(lambda db: db.execute(TOTALS, asked).fetchall())
        return [UsageTotal(row[0], row[1], Usage(*row[2:6]), row[6]) for row in rows]

    async def prune(self, before: datetime) -> int:
        """Delete some of the rows from before then, and of the sums that were begun before then."""
        limit = before.timestamp()

        def job(db: sqlite3.Connection) -> int:
            rows = delete_some(db, "usage", "id", "at < ?", limit)
            return rows + delete_some(db, "spent", "key", "since < ?", limit)

        return await self._database.run_job(job)


def _sums(db: sqlite3.Connection, accounts: Sequence[Account], without: str = "") -> list[int]:
    return [
        int(
            db.execute(
                "SELECT (SELECT COALESCE(SUM(micros), 0) FROM spent WHERE key = :key)"
                " + (SELECT COALESCE(SUM(micros), 0) FROM reserved"
                " WHERE key = :key AND turn <> :without)",
                {"key": account.key, "without": without},
            ).fetchone()[0]
        )
        for account in accounts
    ]


def _counted(db: sqlite3.Connection, turn: str, position: int, row: UsageRow) -> bool:
    added = db.execute(
        "INSERT INTO usage (turn, position, tenant, person, workspace, model,"
        " input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, micros, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn, position) DO NOTHING",
        (
            turn,
            position,
            row.tenant,
            row.person,
            row.workspace,
            row.model,
            row.usage.input_tokens,
            row.usage.output_tokens,
            row.usage.cache_read_tokens,
            row.usage.cache_write_tokens,
            row.micros,
            row.at.timestamp(),
        ),
    )
    return added.rowcount == 1
