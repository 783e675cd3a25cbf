"""Tokens and money in PostgreSQL: sums per period, reservations of running turns, a row per call.

Limits are exact across processes: who reserves holds a lock on each account, always taken in the
same order, from before the sums are read until the reservation stands.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

from db.postgres import Connection, PostgresDatabase
from gateway.policy.budgets import Account, BudgetDecision, decide_budget
from gateway.ports import Clock, Usage
from gateway.storage.postgres.rows import recordset
from gateway.stores import UsageRow, UsageTotal

KEEP_RESERVED: Final = timedelta(hours=1)
"""After this long a reservation belongs to a turn that died, and counts no more."""
PRUNED_AT_ONCE: Final = 5_000
"""Rows that one call deletes, so that no lock is held for long; the caller comes again."""

LOCK: Final = "SELECT pg_advisory_xact_lock(account) FROM unnest(%s::bigint[]) AS account"
FORGET_DEAD: Final = """
    DELETE FROM reserved WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM reserved WHERE at <= %s ORDER BY at LIMIT 100 FOR UPDATE SKIP LOCKED
    ))
"""
SUMS: Final = """
    SELECT COALESCE((SELECT micros FROM spent WHERE spent.key = account.key), 0) + COALESCE(
        (SELECT SUM(micros)::bigint FROM reserved
         WHERE reserved.key = account.key AND turn <> %(without)s AND at > %(dead)s), 0)
    FROM unnest(%(keys)s::text[]) WITH ORDINALITY AS account (key, position)
    ORDER BY position
"""
RESERVE: Final = """
    INSERT INTO reserved (turn, key, micros, at)
    SELECT %(turn)s, key, %(micros)s, %(now)s FROM unnest(%(keys)s::text[]) AS account (key)
    ON CONFLICT (key, turn) DO UPDATE SET micros = excluded.micros, at = excluded.at
"""

COUNT: Final = """
    INSERT INTO usage (turn, position, tenant, person, workspace, model, input_tokens,
        output_tokens, cache_read_tokens, cache_write_tokens, micros, at)
    SELECT %(turn)s, position, tenant, person, workspace, model, input_tokens,
        output_tokens, cache_read_tokens, cache_write_tokens, micros, at
    FROM json_to_recordset(%(usage)s::json) AS (
        position integer, tenant text, person text, workspace text, model text,
        input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
        cache_write_tokens bigint, micros bigint, at timestamptz
    )
    ON CONFLICT (turn, position) DO NOTHING RETURNING micros
"""
"""A row that was counted before counts no more."""
RELEASE: Final = "DELETE FROM reserved WHERE turn = %(turn)s AND key = ANY (%(accounts)s)"
OWE: Final = """
    INSERT INTO spent (key, micros, since)
    SELECT key, (SELECT COALESCE(SUM(micros), 0) FROM counted), %(since)s::timestamptz
    FROM unnest(%(accounts)s::text[]) AS account (key)
    WHERE %(since)s::timestamptz IS NOT NULL ORDER BY key
    ON CONFLICT (key) DO UPDATE SET micros = spent.micros + excluded.micros
"""
PRUNE_ROWS: Final = """
    DELETE FROM usage WHERE id IN (
        SELECT id FROM usage WHERE at < %s ORDER BY at LIMIT %s FOR UPDATE SKIP LOCKED
    )
"""
PRUNE_SUMS: Final = """
    DELETE FROM spent WHERE key IN (
        SELECT key FROM spent WHERE since < %s ORDER BY since LIMIT %s FOR UPDATE SKIP LOCKED
    )
"""
SETTLE: Final = f"WITH counted AS ({COUNT}), released AS ({RELEASE}) {OWE}"


def usage_parameters(
    turn: str, rows: Sequence[UsageRow], accounts: Sequence[Account]
) -> dict[str, object]:
    """What `SETTLE` takes."""
    return {
        "turn": turn,
        "accounts": [account.key for account in accounts],
        "since": max((row.at for row in rows), default=None),
        "usage": recordset([_columns(place, row) for place, row in enumerate(rows)]),
    }


TOTALS: Final = """
    SELECT model, count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
        sum(cache_write_tokens), sum(micros)
    FROM usage WHERE tenant IN (%(tenant)s, '') AND at >= %(since)s AND (
        %(everything)s OR person = ANY (%(persons)s::text[]))
    GROUP BY model ORDER BY sum(micros) DESC, model LIMIT 1000
"""


class PostgresUsage:
    """Implements `gateway.stores.UsageLedger`."""

    def __init__(self, pool: PostgresDatabase, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def reserve(
        self, turn: str, accounts: Sequence[Account], estimate: int
    ) -> BudgetDecision:
        """Set `estimate` aside in every account, or in none, in place of what the turn had."""
        if not accounts:
            return decide_budget((), (), estimate)
        locks = sorted({_lock(account.key) for account in accounts})
        sums = self._sums_of(accounts, without=turn)
        keep = {"turn": turn, "micros": estimate, "now": self._clock.now(), "keys": sums["keys"]}

        async def work(connection: Connection) -> BudgetDecision:
            async with connection.pipeline():  # two round trips: up to the sums, and the rest
                await connection.execute("BEGIN")
                await connection.execute(LOCK, (locks,))
                await connection.execute(FORGET_DEAD, (sums["dead"],))
                rows = await (await connection.execute(SUMS, sums)).fetchall()
                outcome = decide_budget(accounts, [int(row[0]) for row in rows], estimate)
                if outcome.decision.allowed:
                    await connection.execute(RESERVE, keep)
                await connection.execute("COMMIT")
            return outcome

        return await self._pool.with_connection(work)

    async def settle(
        self, turn: str, rows: Sequence[UsageRow], accounts: Sequence[Account]
    ) -> None:
        """Replace the reservation of a turn by what it cost."""
        await self._pool.change_raw(SETTLE, usage_parameters(turn, rows, accounts))

    async def spent(self, accounts: Sequence[Account]) -> list[int]:
        """What was settled and reserved, in the order of the accounts."""
        return [int(row[0]) for row in await self._pool.fetch_raw(SUMS, self._sums_of(accounts))]

    async def totals(
        self, tenant: str, since: datetime, persons: Sequence[str] | None
    ) -> list[UsageTotal]:
        """Sums by model since then, the dearest first."""
        named = [person for person in persons or () if person]
        asked = {"tenant": tenant, "since": since, "everything": persons is None, "persons": named}
        return [
            UsageTotal(str(row[0]), int(row[1]), Usage(*map(int, row[2:6])), int(row[6]))
            for row in await self._pool.fetch_raw(TOTALS, asked)
        ]

    async def prune(self, before: datetime) -> int:
        """Delete some thousand of the rows from before then, and of the sums begun before then."""
        some = (before, PRUNED_AT_ONCE)
        return await self._pool.change_raw(PRUNE_ROWS, some) + await self._pool.change_raw(
            PRUNE_SUMS, some
        )

    def _sums_of(self, accounts: Sequence[Account], without: str = "") -> dict[str, object]:
        return {
            "keys": [account.key for account in accounts],
            "without": without,
            "dead": self._clock.now() - KEEP_RESERVED,
        }


def _lock(key: str) -> int:
    """The number of an account's advisory lock."""
    digest = blake2b(key.encode(), digest_size=8, person=b"parley budget").digest()
    return int.from_bytes(digest, signed=True)


def _columns(position: int, row: UsageRow) -> dict[str, object]:
    return {
        "position": position,
        "tenant": row.tenant,
        "person": row.person,
        "workspace": row.workspace,
        "model": row.model,
        "input_tokens": row.usage.input_tokens,
        "output_tokens": row.usage.output_tokens,
        "cache_read_tokens": row.usage.cache_read_tokens,
        "cache_write_tokens": row.usage.cache_write_tokens,
        "micros": row.micros,
        "at": row.at.isoformat(),
    }
