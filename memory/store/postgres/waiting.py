"""Turns that wait in PostgreSQL, and how they become memories."""

from collections.abc import Sequence
from typing import Final, LiteralString

from db.postgres import Connection, PostgresDatabase
from db.times import time_of
from db.values import storable, texts_of
from gateway.ports import Clock
from gateway.remembering import WaitingTurn
from memory.scope import Reach
from memory.store.alike import Filed
from memory.store.guard import check_turn
from memory.store.ports import TakenUp
from memory.store.postgres.inserting import keep_turn, questions
from memory.store.postgres.reach import parameters

TURN: Final = (
    "SELECT t.id, t.tenant, t.person, t.room, t.channel, t.message_ids, t.at, t.body"
    " FROM waiting_turns t WHERE NOT EXISTS"
    " (SELECT 1 FROM quarantine q WHERE q.kind = 'waiting_turn' AND q.id = t.id)"
)
OLDEST: Final = f"{TURN} ORDER BY t.at, t.id LIMIT %(limit)s"
WITHIN: Final = f"""
    {TURN} AND t.tenant = %(for_tenant)s AND (
        t.person = ANY (%(for_persons)s::text[])
        OR (%(for_room)s::text <> '' AND t.room = %(for_room)s)
    ) ORDER BY t.at, t.id LIMIT %(limit)s
"""
SAYING: Final = f"""
    {TURN} AND t.tenant = %(tenant)s AND t.channel = %(channel)s
        AND CAST(t.message_ids AS jsonb) ?| %(messages)s::text[] ORDER BY t.at, t.id LIMIT %(limit)s
"""
TAKE: Final = "DELETE FROM waiting_turns WHERE id = %s AND body = %s"
DISCARD: Final = """
    WITH gone AS (
        DELETE FROM waiting_turns t USING quarantine q
        WHERE q.kind = 'waiting_turn' AND q.id = t.id AND t.tenant = %(tenant)s
            AND t.channel = %(channel)s AND CAST(t.message_ids AS jsonb) ?| %(messages)s::text[]
        RETURNING t.id
    )
    DELETE FROM quarantine WHERE kind = 'waiting_turn' AND id IN (SELECT id FROM gone)
"""


class PostgresWaitingTurns:
    """Implements `memory.store.ports.WaitingTurns`."""

    def __init__(self, engine: PostgresDatabase, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

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
        now = self._clock.now()

        async def work(connection: Connection) -> set[str]:
            done = set()
            async with connection.transaction():
                for taken in sorted(turns, key=lambda one: one.turn.id):  # never two in a ring
                    took = await connection.execute(TAKE, (taken.turn.id, taken.turn.body))
                    if not took.rowcount:
                        continue
                    for record in taken.records:
                        await keep_turn(connection, questions(taken.reach, record, Filed(), now))
                    done.add(taken.turn.id)
            return done

        return await self._engine.with_connection(work) if turns else set()

    async def discard_quarantined(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> int:
        """Delete quarantined turns that go back to one of these messages."""
        return await self._engine.change_raw(DISCARD, _messages(tenant, channel, message_ids))

    async def count(self) -> int:
        """How many wait."""
        return int((await self._engine.fetch_raw("SELECT count(*) FROM waiting_turns"))[0][0])

    async def _read(self, sql: LiteralString, asked: dict[str, object]) -> list[WaitingTurn]:
        return [
            WaitingTurn(id_, tenant, person, room, channel, texts_of(said), time_of(at), body)
            for id_, tenant, person, room, channel, said, at, body in await self._engine.fetch_raw(
                sql, asked
            )
        ]


def _messages(
    tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
) -> dict[str, object]:
    return {
        "tenant": storable(tenant),
        "channel": storable(":".join(channel)),
        "messages": [storable(one) for one in message_ids],
    }
