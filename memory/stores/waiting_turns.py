"""Turns that wait to become memories."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, among, either, execute, fetch, together
from db.statements import json_values, within
from db.transaction import Change
from db.values import storable, texts_of, time_of
from gateway.ports.memory import WaitingTurn
from memory.model.record import Record
from memory.model.scope import AccessScope
from memory.stores.insert import NewRecord, keep_turns
from memory.stores.limits import check_turn

QUARANTINED: Final = "SELECT 1 FROM quarantine q WHERE q.kind = 'waiting_turn' AND q.id = t.id"
TURN: Final = f"""
    SELECT t.id, t.tenant, t.person, t.room, t.channel, t.message_ids, t.at, t.body
    FROM waiting_turns t WHERE NOT EXISTS ({QUARANTINED})
"""
ORDER: Final = f"ORDER BY {either(sqlite='t.rowid', postgres='t.at, t.id')}"
"""SQLite stores them in order of arrival, without an index by time."""
OLDEST: Final = Statement(f"{TURN} {ORDER} LIMIT :limit")
OF_REACH: Final = f"""
    SELECT w.id FROM waiting_turns w WHERE {among("w.person", "for_persons")}
    UNION ALL SELECT w.id FROM waiting_turns w WHERE w.room = :for_room AND w.room <> ''
"""
WITHIN: Final = Statement(f"""
    {TURN} AND t.tenant = :for_tenant AND {within("t.id", OF_REACH)} {ORDER} LIMIT :limit
""")
OF_MESSAGES: Final = f"""
    t.tenant = :tenant AND t.channel = :channel AND EXISTS (
        SELECT 1 FROM {json_values("t.message_ids", "said")} WHERE {among("said.value", "messages")}
    )
"""
SAYING: Final = Statement(f"{TURN} AND {OF_MESSAGES} {ORDER} LIMIT :limit")
TAKE: Final = Statement("DELETE FROM waiting_turns WHERE id = :id AND body = :body")
DISCARD: Final = Statement(f"""
    DELETE FROM waiting_turns AS t WHERE {OF_MESSAGES} AND EXISTS ({QUARANTINED}) RETURNING id
""")
RELEASE: Final = Statement(f"""
    DELETE FROM quarantine WHERE kind = 'waiting_turn' AND {among("id", "ids")}
""")
COUNT: Final = Statement("SELECT count(*) FROM waiting_turns")


class ConsolidatedTurn(Struct, frozen=True):
    """A waiting turn and the records that replace it."""

    turn: WaitingTurn
    access: AccessScope
    records: tuple[Record, ...]


class WaitingTurns:
    """Unchanged turns that the gateway stored (`gateway.ports.unit_of_work.CompletedTurn`).
    Quarantined ones are not returned."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def oldest(self, limit: int) -> list[WaitingTurn]:
        """Return the oldest turns, oldest first."""
        return await self._read(OLDEST, {"limit": limit})

    async def within(self, access: AccessScope, limit: int) -> list[WaitingTurn]:
        """Return turns of this person and of this room, oldest first."""
        return await self._read(WITHIN, access.parameters() | {"limit": limit})

    async def saying(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str], limit: int
    ) -> list[WaitingTurn]:
        """Return turns that contain one of these messages."""
        return await self._read(SAYING, _messages(tenant, channel, message_ids) | {"limit": limit})

    async def take_up(self, turns: Sequence[ConsolidatedTurn]) -> set[str]:
        """Replace turns by their records, in one transaction; return the ids of those that were
        still waiting, unchanged."""
        for taken in turns:
            for record in taken.records:
                check_turn(taken.access, record)
        return await self._database.run(lambda: _take_up(turns)) if turns else set()

    async def discard_quarantined(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> int:
        """Delete quarantined turns that contain one of these messages; return their number."""
        params = _messages(tenant, channel, message_ids)

        def work() -> Work[int]:
            gone = [str(id_) for (id_,) in (yield from fetch(DISCARD, params))]
            yield from execute(RELEASE, {"ids": gone})
            return len(gone)

        return await self._database.run(work)

    async def count(self) -> int:
        """Return the number of waiting turns."""
        ((count,),) = await self._database.fetch(COUNT)
        return int(count)

    async def _read(self, statement: Statement, params: Mapping[str, object]) -> list[WaitingTurn]:
        return [_turn(row) for row in await self._database.fetch(statement, params)]


def _take_up(turns: Sequence[ConsolidatedTurn]) -> Work[set[str]]:
    """Turns are taken in the order of their ids: no two transactions wait for each other."""
    in_order = sorted(turns, key=lambda one: one.turn.id)
    steps = [Change(TAKE, {"id": one.turn.id, "body": one.turn.body}) for one in in_order]
    counts = yield from together(*steps)
    taken = [one for one, count in zip(in_order, counts, strict=True) if count]
    new = [NewRecord(one.access, record) for one in taken for record in one.records]
    if new:
        yield from keep_turns(new)
    return {one.turn.id for one in taken}


def _messages(
    tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
) -> dict[str, object]:
    return {
        "tenant": storable(tenant),
        "channel": storable(":".join(channel)),
        "messages": [storable(one) for one in message_ids],
    }


def _turn(row: Row) -> WaitingTurn:
    id_, tenant, person, room, channel, message_ids, at, body = row
    messages = texts_of(message_ids)
    return WaitingTurn(id_, tenant, person, room, channel, messages, time_of(at), body)
