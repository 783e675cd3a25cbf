"""Traces: the decisions about each message, as JSON, without content."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec.json import Encoder

from db import Database, Row, Statement, Work, execute
from db.database import delete_some, deleting_some
from db.statements import json_item
from db.values import micros, time_of
from gateway.policy.decision import Decision
from gateway.ports.traces import GAVE_UP, Duration, HandledMessages, Trace
from gateway.stores.personal_data import OWN_TENANT, TRACES
from gateway.stores.usage_days import took

_ENCODER: Final = Encoder()  # pydantic's takes 20 times as long for enumerations

COLUMNS: Final = (
    "id, message_id, platform, account, conversation, kind, at, decisions, outcome, milliseconds,"
    " durations, audience"
)


def columns_of(alias: str) -> str:
    """Return the columns of a trace for a statement that names the table `alias`."""
    return ", ".join(f"{alias}.{column.strip()}" for column in COLUMNS.split(","))


ADD: Final = Statement(f"""
    INSERT INTO traces ({COLUMNS}, slot) VALUES (:id, :message_id, :platform, :account,
        :conversation, :kind, :at, :decisions, :outcome, :milliseconds, :durations,
        :audience, :slot)
    ON CONFLICT (id) DO UPDATE SET message_id = excluded.message_id, platform = excluded.platform,
        account = excluded.account, conversation = excluded.conversation, kind = excluded.kind,
        at = excluded.at, decisions = excluded.decisions, outcome = excluded.outcome,
        milliseconds = excluded.milliseconds, durations = excluded.durations,
        audience = excluded.audience, slot = excluded.slot
""")
FREE_SLOT: Final = Statement("DELETE FROM traces WHERE slot = :slot AND id <> :id")
FIND: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE message_id = :message_id OR id = :message_id"
    " ORDER BY at DESC LIMIT :limit"
)
RECENT: Final = Statement(f"SELECT {COLUMNS} FROM traces ORDER BY at DESC LIMIT :limit")
GIVEN_UP: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE outcome = '{GAVE_UP}' ORDER BY at DESC LIMIT :limit"
)
CHANNEL: Final = f"platform || ':' || account || ':' || {json_item('conversation', 4)}"
RECENT_IN: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE {CHANNEL} = :channel ORDER BY at DESC LIMIT :limit"
)
RECENT_OF: Final = Statement(
    f"SELECT {COLUMNS} FROM traces WHERE {TRACES} ORDER BY at DESC LIMIT :limit"
)
HOUR: Final = 3_600_000_000
"""Microseconds."""
MAX_HANDLED: Final = 10_000
"""Rows of hours and outcomes."""


def _handled(of: str) -> Statement:
    times = ", ".join(f"sum({one})" for one in took("t"))
    return Statement(f"""
        SELECT (t.at - :since) / {HOUR} AS hour, t.outcome, count(*), {times} FROM traces t
        WHERE t.at >= :since AND {of}
        GROUP BY 1, 2 ORDER BY 1, 2 LIMIT {MAX_HANDLED}
    """)


HANDLED: Final = _handled(OWN_TENANT)
HANDLED_OF: Final = _handled(TRACES)
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
        "durations": _ENCODER.encode(trace.durations).decode() if trace.durations else "[]",
        "audience": trace.audience,
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
        """Return the traces of a platform's message id, newest first, or of the id of a turn: the
        reference that people get."""
        params = {"message_id": message_id, "limit": limit}
        return [parse_trace(row) for row in await self._database.fetch(FIND, params)]

    async def recent(self, limit: int = 50) -> list[Trace]:
        """Return the latest traces, newest first."""
        return [parse_trace(row) for row in await self._database.fetch(RECENT, {"limit": limit})]

    async def recent_in(self, channel: str, limit: int) -> list[Trace]:
        """Return the latest traces of a "platform:account:channel", newest first."""
        params = {"channel": channel, "limit": limit}
        return [parse_trace(row) for row in await self._database.fetch(RECENT_IN, params)]

    async def recent_of(self, tenant: str, person: str, limit: int) -> list[Trace]:
        """Return the latest traces of a person (`str(PersonId)`), newest first. A trace names
        nobody: a refusal in a room belongs to no person."""
        params = {"tenant": tenant, "persons": [person], "limit": limit}
        return [parse_trace(row) for row in await self._database.fetch(RECENT_OF, params)]

    async def given_up(self, limit: int) -> list[Trace]:
        """Return the latest traces of messages that were given up, newest first."""
        return [parse_trace(row) for row in await self._database.fetch(GIVEN_UP, {"limit": limit})]

    async def handled(
        self, tenant: str, since: datetime, persons: Sequence[str] | None
    ) -> list[HandledMessages]:
        """Return the numbers of messages of these people, or with None of a tenant, by the hour
        since then and by outcome. All traces since then are read, so this happens beside other
        work. Of refusals, those count whose traces are kept."""
        params = {"tenant": tenant, "since": micros(since), "persons": list(persons or ())}
        async with self._database.reader() as reader:
            rows = await reader.fetch(HANDLED if persons is None else HANDLED_OF, params)
        return [
            HandledMessages(int(hour), str(outcome), int(number), tuple(map(int, times)))
            for hour, outcome, number, *times in rows
        ]

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
        return _ENCODER.encode(decisions).decode()
    except UnicodeEncodeError:  # a lone surrogate, which `json.dumps` escapes
        return json.dumps(decisions)


def parse_trace(row: Row) -> Trace:
    """Return the trace of a row with the columns of `columns_of`."""
    id_, message_id, platform, account, conversation, kind, at, decisions, outcome = row[:9]
    took, durations, audience = row[9:]
    decided = tuple(_decision(*item) for item in json.loads(decisions))
    named = (id_, message_id, platform, account, conversation, kind)
    lasted: tuple[Duration, ...] = tuple(map(_duration, json.loads(durations)))
    return Trace(*named, time_of(at), decided, outcome, took, durations=lasted, audience=audience)


def _duration(item: list[Any]) -> Duration:
    kind, name, after, took, ended, *figures = item
    if not figures:
        return kind, name, after, took, ended
    return kind, name, after, took, ended, tuple(figures[0])


def _decision(
    stage: str, allowed: bool, reason: str, detail: str, data: Mapping[str, object] | None = None
) -> Decision:
    return Decision(stage, allowed, reason, detail, data=data)
