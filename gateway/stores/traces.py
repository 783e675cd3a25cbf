"""Traces: the decisions about each message, as JSON, without content."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from pydantic_core import PydanticSerializationError, to_json

from db import Database, Row, Statement, Work, execute
from db.database import delete_some, deleting_some
from db.values import micros, time_of
from gateway.policy.decision import Decision
from gateway.ports.traces import Trace

COLUMNS: Final = (
    "id, message_id, platform, account, conversation, kind, at, decisions, outcome, milliseconds"
)
ADD: Final = Statement(f"""
    INSERT INTO traces ({COLUMNS}, slot) VALUES (:id, :message_id, :platform, :account,
        :conversation, :kind, :at, :decisions, :outcome, :milliseconds, :slot)
    ON CONFLICT (id) DO UPDATE SET message_id = excluded.message_id, platform = excluded.platform,
        account = excluded.account, conversation = excluded.conversation, kind = excluded.kind,
        at = excluded.at, decisions = excluded.decisions, outcome = excluded.outcome,
        milliseconds = excluded.milliseconds, slot = excluded.slot
""")  # noqa: S608 - a constant
FREE_SLOT: Final = Statement("DELETE FROM traces WHERE slot = :slot AND id <> :id")
FIND: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE message_id = :message_id ORDER BY at DESC LIMIT :limit"  # noqa: S608 - constants
)
RECENT: Final = Statement(f"SELECT {COLUMNS} FROM traces ORDER BY at DESC LIMIT :limit")  # noqa: S608 - constants
ENDED: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE outcome = :outcome ORDER BY at DESC LIMIT :limit"  # noqa: S608 - constants
)
PRUNE: Final = deleting_some("traces", "id", "at < :before", "at")
PRUNE_REFUSED: Final = deleting_some("traces", "id", "slot IS NOT NULL AND at < :before", "at")


def add_trace(trace: Trace) -> Work[None]:
    """Keep a trace; one with the same id, or in the same slot, is replaced."""
    if trace.slot is not None:
        yield from execute(FREE_SLOT, {"slot": trace.slot, "id": trace.id})
    params = {
        "id": trace.id,
        "message_id": trace.message_id,
        "platform": trace.platform,
        "account": trace.account,
        "conversation": trace.conversation,
        "kind": trace.kind,
        "at": micros(trace.at),
        "decisions": _decisions_to_json(trace),
        "outcome": trace.outcome,
        "milliseconds": trace.milliseconds,
        "slot": trace.slot,
    }
    yield from execute(ADD, params)


class SqlTraces:
    """Implements `gateway.ports.traces.Traces`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, trace: Trace) -> None:
        await self._database.run(lambda: add_trace(trace))

    async def find(self, message_id: str, limit: int = 20) -> list[Trace]:
        params = {"message_id": message_id, "limit": limit}
        return [_trace(row) for row in await self._database.fetch(FIND, params)]

    async def recent(self, limit: int = 50) -> list[Trace]:
        return [_trace(row) for row in await self._database.fetch(RECENT, {"limit": limit})]

    async def ended(self, outcome: str, limit: int) -> list[Trace]:
        params = {"outcome": outcome, "limit": limit}
        return [_trace(row) for row in await self._database.fetch(ENDED, params)]

    async def prune(self, before: datetime, refused: datetime) -> int:
        old = await delete_some(self._database, PRUNE, {"before": micros(before)})
        short = {"before": micros(refused)}
        return old + await delete_some(self._database, PRUNE_REFUSED, short)


def _decisions_to_json(trace: Trace) -> str:
    decisions = [  # a time to wait is for the moment
        decision[:4] if decision.data is None else (*decision[:4], decision.data)
        for decision in trace.decisions
    ]
    try:
        return to_json(decisions).decode()  # takes a quarter of the time of `json.dumps`
    except PydanticSerializationError:  # a lone surrogate, which `json.dumps` escapes
        return json.dumps(decisions)


def _trace(row: Row) -> Trace:
    id_, message_id, platform, account, conversation, kind, at, decisions, outcome, took = row
    decided = tuple(_decision(*item) for item in json.loads(decisions))
    named = (id_, message_id, platform, account, conversation, kind)
    return Trace(*named, time_of(at), decided, outcome, took)


def _decision(
    stage: str, allowed: bool, reason: str, detail: str, data: Mapping[str, object] | None = None
) -> Decision:
    return Decision(stage, allowed, reason, detail, data=data)
