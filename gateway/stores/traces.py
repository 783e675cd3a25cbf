"""Traces: the decisions about each message, as JSON, without content."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from pydantic_core import PydanticSerializationError, to_json

from db import Database, Row, Statement, Work, execute
from db.database import delete_some, deleting_some
from db.statements import json_item
from db.values import micros, time_of
from gateway.policy.decision import Decision
from gateway.ports.traces import Duration, Trace
from gateway.stores.personal_data import TRACES

COLUMNS: Final = (
    "id, message_id, platform, account, conversation, kind, at, decisions, outcome, milliseconds,"
    " durations"
)
ADD: Final = Statement(f"""
    INSERT INTO traces ({COLUMNS}, slot) VALUES (:id, :message_id, :platform, :account,
        :conversation, :kind, :at, :decisions, :outcome, :milliseconds, :durations,
        :slot)
    ON CONFLICT (id) DO UPDATE SET message_id = excluded.message_id, platform = excluded.platform,
        account = excluded.account, conversation = excluded.conversation, kind = excluded.kind,
        at = excluded.at, decisions = excluded.decisions, outcome = excluded.outcome,
        milliseconds = excluded.milliseconds, durations = excluded.durations,
        slot = excluded.slot
""")  # noqa: S608 - a constant of this module
FREE_SLOT: Final = Statement("DELETE FROM traces WHERE slot = :slot AND id <> :id")
FIND: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE message_id = :message_id ORDER BY at DESC LIMIT :limit"  # noqa: S608 - constants of this module
)
RECENT: Final = Statement(f"SELECT {COLUMNS} FROM traces ORDER BY at DESC LIMIT :limit")  # noqa: S608 - constants of this module
ENDED: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE outcome = :outcome ORDER BY at DESC LIMIT :limit"  # noqa: S608 - constants of this module
)
CHANNEL: Final = f"platform || ':' || account || ':' || {json_item('conversation', 4)}"
RECENT_IN: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE {CHANNEL} = :channel ORDER BY at DESC LIMIT :limit"  # noqa: S608 - constants of this module
)
RECENT_OF: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE {TRACES} ORDER BY at DESC LIMIT :limit"  # noqa: S608 - constants of this module
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
        "durations": to_json(trace.durations).decode() if trace.durations else "[]",
        "slot": trace.slot,
    }
    yield from execute(ADD, params)


class Traces:
    """The decisions about every message. Ids only, no content."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, trace: Trace) -> None:
        await self._database.run(lambda: add_trace(trace))

    async def find(self, message_id: str, limit: int = 20) -> list[Trace]:
        """Return the traces of a platform's message id, newest first."""
        params = {"message_id": message_id, "limit": limit}
        return [_trace(row) for row in await self._database.fetch(FIND, params)]

    async def recent(self, limit: int = 50) -> list[Trace]:
        """Return the latest traces, newest first."""
        return [_trace(row) for row in await self._database.fetch(RECENT, {"limit": limit})]

    async def recent_in(self, channel: str, limit: int) -> list[Trace]:
        """Return the latest traces of a "platform:account:channel", newest first."""
        params = {"channel": channel, "limit": limit}
        return [_trace(row) for row in await self._database.fetch(RECENT_IN, params)]

    async def recent_of(self, tenant: str, person: str, limit: int) -> list[Trace]:
        """Return the latest traces of a person (`str(PersonId)`), newest first. A trace names
        nobody: a refusal in a room belongs to no person."""
        params = {"tenant": tenant, "persons": [person], "limit": limit}
        return [_trace(row) for row in await self._database.fetch(RECENT_OF, params)]

    async def ended(self, outcome: str, limit: int) -> list[Trace]:
        """Return the latest traces with this outcome, newest first; searches all that are kept."""
        params = {"outcome": outcome, "limit": limit}
        return [_trace(row) for row in await self._database.fetch(ENDED, params)]

    async def prune(self, before: datetime, refused: datetime) -> int:
        """Delete some traces from before then, and of refusals from before `refused`; returns how
        many, 0 at the end."""
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
    id_, message_id, platform, account, conversation, kind, at, decisions, outcome = row[:9]
    took, durations = row[9:]
    decided = tuple(_decision(*item) for item in json.loads(decisions))
    named = (id_, message_id, platform, account, conversation, kind)
    lasted: tuple[Duration, ...] = tuple(map(tuple, json.loads(durations)))
    return Trace(*named, time_of(at), decided, outcome, took, durations=lasted)


def _decision(
    stage: str, allowed: bool, reason: str, detail: str, data: Mapping[str, object] | None = None
) -> Decision:
    return Decision(stage, allowed, reason, detail, data=data)
