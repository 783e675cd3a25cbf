"""Traces in PostgreSQL: the decisions about each message, as JSON, without content."""

import json
from datetime import UTC, datetime
from typing import Final

from psycopg.rows import TupleRow

from db.postgres import PostgresDatabase
from gateway.policy.decision import Decision
from gateway.storage.postgres.rows import storable
from gateway.stores import Trace

PRUNED_AT_ONCE: Final = 5_000
"""Rows that one call deletes, so that no lock is held for long; the caller comes again."""

COLUMNS: Final = (
    "id, message_id, platform, account, conversation, kind, at, decisions, outcome, milliseconds"
)
INSERT_TRACE: Final = f"""
    INSERT INTO traces ({COLUMNS}, slot)
    VALUES (%(turn)s, %(message_id)s, %(platform)s, %(account)s,
        %(traced)s, %(kind)s, %(at)s, %(decisions)s::json, %(outcome)s, %(milliseconds)s,
        %(slot)s)
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, at = excluded.at,
        decisions = excluded.decisions, outcome = excluded.outcome,
        milliseconds = excluded.milliseconds, slot = excluded.slot
"""  # noqa: S608 - a constant
LEAVE_SLOT: Final = "DELETE FROM traces WHERE slot = %(slot)s AND id <> %(turn)s"
"""Run beside `INSERT_TRACE`, in the same statement."""
ADD: Final = f"WITH left_slot AS ({LEAVE_SLOT}) {INSERT_TRACE}"
FIND: Final = f"SELECT {COLUMNS} FROM traces WHERE message_id = %s ORDER BY at DESC LIMIT %s"  # noqa: S608 - a constant
RECENT: Final = f"SELECT {COLUMNS} FROM traces ORDER BY at DESC LIMIT %s"  # noqa: S608 - a constant
ENDED: Final = f"SELECT {COLUMNS} FROM traces WHERE outcome = %s ORDER BY at DESC LIMIT %s"  # noqa: S608 - a constant
PRUNE: Final = """
    DELETE FROM traces WHERE id IN (
        SELECT id FROM traces WHERE at < %s ORDER BY at LIMIT %s FOR UPDATE SKIP LOCKED
    )
"""
PRUNE_REFUSED: Final = "DELETE FROM traces WHERE slot IS NOT NULL AND at < %s"


def trace_parameters(trace: Trace) -> dict[str, object]:
    """What `INSERT_TRACE` takes."""
    decisions = [[d.stage, d.allowed, d.reason, storable(d.detail)] for d in trace.decisions]
    return {
        "turn": trace.id,
        "message_id": trace.message_id,
        "platform": trace.platform,
        "account": trace.account,
        "traced": trace.conversation,
        "kind": trace.kind,
        "at": trace.at,
        "decisions": json.dumps(decisions),
        "outcome": trace.outcome,
        "milliseconds": trace.milliseconds,
        "slot": trace.slot,
    }


class PostgresTraces:
    """Implements `gateway.stores.Traces`."""

    def __init__(self, pool: PostgresDatabase) -> None:
        self._pool = pool

    async def add(self, trace: Trace) -> None:
        """Keep a trace; one with a known id is replaced."""
        await self._pool.change_raw(ADD, trace_parameters(trace))

    async def find(self, message_id: str, limit: int = 20) -> list[Trace]:
        """The traces of a platform's message id, newest first."""
        return [_trace(row) for row in await self._pool.fetch_raw(FIND, (message_id, limit))]

    async def recent(self, limit: int = 50) -> list[Trace]:
        """The latest traces, newest first."""
        return [_trace(row) for row in await self._pool.fetch_raw(RECENT, (limit,))]

    async def ended(self, outcome: str, limit: int) -> list[Trace]:
        """The latest traces with this outcome, newest first."""
        return [_trace(row) for row in await self._pool.fetch_raw(ENDED, (outcome, limit))]

    async def prune(self, before: datetime, refused: datetime) -> int:
        """Delete some thousand of the traces from before then, and those of refusals from before
        `refused`."""
        old = await self._pool.change_raw(PRUNE, (before, PRUNED_AT_ONCE))
        return old + await self._pool.change_raw(PRUNE_REFUSED, (refused,))


def _trace(row: TupleRow) -> Trace:
    id_, message_id, platform, account, conversation, kind, at, decisions, outcome, took = row
    return Trace(
        id_,
        message_id,
        platform,
        account,
        conversation,
        kind,
        at.astimezone(UTC),
        tuple(Decision(*item) for item in decisions),
        outcome,
        took,
    )
