"""Turns that wait in SQLite, and how they become memories."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from db.sqlite import SqliteDatabase
from db.times import time_of
from db.values import storable
from gateway.remembering import WaitingTurn
from memory.scope import Reach
from memory.store.guard import check_turn
from memory.store.ports import TakenUp
from memory.store.sqlite import inserting
from memory.store.sqlite.reach import parameters

TURN: Final = (
    "SELECT t.id, t.tenant, t.person, t.room, t.channel, t.message_ids, t.at, t.body"
    " FROM waiting_turns t WHERE NOT EXISTS"
    " (SELECT 1 FROM quarantine q WHERE q.kind = 'waiting_turn' AND q.id = t.id)"
)
OLDEST: Final = f"{TURN} ORDER BY t.rowid LIMIT :limit"
WITHIN: Final = f"""
    {TURN} AND t.tenant = :for_tenant AND t.rowid IN (
        SELECT rowid FROM waiting_turns WHERE person IN (SELECT value FROM json_each(:for_persons))
        UNION ALL SELECT rowid FROM waiting_turns WHERE room = :for_room AND room <> ''
    ) ORDER BY t.rowid LIMIT :limit
"""  # noqa: S608 - constants
SAYING: Final = f"""
    {TURN} AND t.tenant = :tenant AND t.channel = :channel AND EXISTS (
        SELECT 1 FROM json_each(t.message_ids) said
        WHERE said.value IN (SELECT value FROM json_each(:messages))
    ) ORDER BY t.rowid LIMIT :limit
"""  # noqa: S608 - constants
TAKE: Final = "DELETE FROM waiting_turns WHERE id = ? AND body = ?"
QUARANTINED: Final = """
    SELECT t.id FROM waiting_turns t JOIN quarantine q ON q.kind = 'waiting_turn' AND q.id = t.id
    WHERE t.tenant = :tenant AND t.channel = :channel AND EXISTS (
        SELECT 1 FROM json_each(t.message_ids) said
        WHERE said.value IN (SELECT value FROM json_each(:messages)))
"""
DISCARD: Final = (
    "DELETE FROM waiting_turns WHERE id = ?",
    "DELETE FROM quarantine WHERE kind = 'waiting_turn' AND id = ?",
)

Row = tuple[str, str, str, str, str, str, int, str]


class SqliteWaitingTurns:
    """Implements `memory.store.ports.WaitingTurns`."""

    def __init__(self, engine: SqliteDatabase) -> None:
        self._engine = engine

    async def oldest(self, limit: int) -> list[WaitingTurn]:
        """The oldest first."""
        return await self._read(OLDEST, {"limit": limit})

    async def within(self, reach: Reach, limit: int) -> list[WaitingTurn]:
        """What this person said, and what was said in this room, oldest first."""
        return await self._read(WITHIN, parameters(reach) | {"limit": limit})

    async def saying(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str], limit: int
    ) -> list[WaitingTurn]:
        """Those that go back to one of these messages."""
        return await self._read(SAYING, _messages(tenant, channel, message_ids) | {"limit": limit})

    async def take_up(self, turns: Sequence[TakenUp]) -> set[str]:
        """Keep the records in place of the turns that still wait as they were."""
        for taken in turns:
            for record in taken.records:
                check_turn(taken.reach, record)

        def job(db: sqlite3.Connection) -> set[str]:
            done = set()
            for taken in turns:
                if db.execute(TAKE, (taken.turn.id, taken.turn.body)).rowcount:
                    inserting.keep_turns(db, taken.reach, taken.records)
                    done.add(taken.turn.id)
            return done

        return await self._engine.run_job(job) if turns else set()

    async def discard_quarantined(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> int:
        """Delete quarantined turns that go back to one of these messages."""
        asked = _messages(tenant, channel, message_ids)

        def job(db: sqlite3.Connection) -> int:
            found = db.execute(QUARANTINED, asked).fetchall()
            for statement in DISCARD:
                db.executemany(statement, found)
            return len(found)

        return await self._engine.run_job(job)

    async def count(self) -> int:
        """How many wait."""
        sql = "SELECT count(*) FROM waiting_turns"
        return int(await self._engine.run_job(lambda db: db.execute(sql).fetchone()[0]))

    async def _read(self, sql: str, asked: dict[str, object]) -> list[WaitingTurn]:
        rows: list[Row] = await self._engine.run_job(lambda db: db.execute(sql, asked).fetchall())
        return [_turn(row) for row in rows]


def _messages(
    tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
) -> dict[str, object]:
    return {
        "tenant": storable(tenant),
        "channel": storable(":".join(channel)),
        "messages": json.dumps([storable(one) for one in message_ids]),
    }


def _turn(row: Row) -> WaitingTurn:
    id_, tenant, person, room, channel, message_ids, at, body = row
    said = tuple(str(one) for one in json.loads(message_ids))
    when = time_of(at)
    return WaitingTurn(id_, tenant, person, room, channel, said, when, body)
