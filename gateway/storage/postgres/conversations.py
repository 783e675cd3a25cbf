"""Conversations in PostgreSQL. An answer remembers which messages it answers, and goes with them.

Every call is one statement, and thus one transaction and one round trip.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from psycopg.rows import TupleRow

from db.postgres import PostgresDatabase
from gateway.conversation import ConversationKey, channel_name
from gateway.message import Place
from gateway.notes import Notes
from gateway.storage.codec import material_from_json, material_to_json
from gateway.storage.postgres.notes import COLUMNS, FORGET, notes_of
from gateway.storage.postgres.rows import recordset, storable
from gateway.stores import StoredTurn

PRUNED_AT_ONCE: Final = 5_000
"""Rows that one call deletes, so that no lock is held for long; the caller comes again."""

INSERT_TURNS: Final = """
    INSERT INTO turns (
        conversation, channel, message_id, answers, role, text, at, person, speaker, material
    )
    SELECT
        %(conversation)s, %(channel)s, message_id, %(answers)s, role, text, at, person, speaker,
        material
    FROM ROWS FROM (json_to_recordset(%(turns)s::json) AS (
        message_id text, role text, text text, at timestamptz, person text, speaker text,
        material text
    )) WITH ORDINALITY AS turn (message_id, role, text, at, person, speaker, material, position)
    ORDER BY position
    ON CONFLICT (channel, message_id, role)
    DO UPDATE SET text = excluded.text, material = excluded.material
"""
LATEST: Final = """
    SELECT message_id, role, text, at, person, speaker, material FROM turns
    WHERE conversation = %s ORDER BY id DESC LIMIT %s
"""
OPENED: Final = f"""
    SELECT message_id, role, text, said.at, person, speaker, material, {COLUMNS}
    FROM (VALUES (%(conversation)s)) AS asked (conversation)
    LEFT JOIN conversation_notes AS notes USING (conversation)
    LEFT JOIN LATERAL (
        SELECT id, message_id, role, text, at, person, speaker, material FROM turns
        WHERE turns.conversation = asked.conversation ORDER BY id DESC LIMIT %(limit)s
    ) AS said ON true
    ORDER BY said.id
"""  # noqa: S608 - constants
KNOWS: Final = """
    SELECT EXISTS (
        SELECT FROM turns WHERE channel = %s AND message_id = ANY (%s) AND role = 'user'
    )
"""
EDIT: Final = f"""
    {FORGET}
    UPDATE turns SET text = %(text)s
    WHERE channel = %(channel)s AND message_id = ANY (%(ids)s) AND role = 'user'
        AND (text <> '' OR material = '')
"""  # noqa: S608 - constants
DELETE: Final = f"""
    {FORGET}
    DELETE FROM turns WHERE channel = %(channel)s AND (
        (role = 'user' AND message_id = ANY (%(ids)s))
        OR (role = 'assistant' AND answers IN (
            SELECT answers FROM turns
            WHERE channel = %(channel)s AND role = 'user' AND message_id = ANY (%(ids)s)
        ))
    )
"""  # noqa: S608 - constants
CLEAR: Final = """
    WITH forgotten AS (DELETE FROM conversation_notes WHERE conversation = %(conversation)s)
    DELETE FROM turns WHERE conversation = %(conversation)s
"""
TAKES_PART: Final = """
    SELECT EXISTS (SELECT FROM turns WHERE conversation = %s AND role = 'assistant')
"""
PRUNE: Final = """
    WITH forgotten AS (DELETE FROM conversation_notes WHERE at < %(before)s)
    DELETE FROM turns WHERE id IN (
        SELECT id FROM turns WHERE at < %(before)s ORDER BY at LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    )
"""


def turn_parameters(key: ConversationKey, turns: Sequence[StoredTurn]) -> dict[str, object]:
    """What `INSERT_TURNS` takes. Of two turns with the same message and role the last one counts:
    a statement cannot write a row twice."""
    once = {(turn.message_id, turn.role): turn for turn in turns}
    return {
        "conversation": str(key),
        "channel": key.channel_name,
        "answers": next((turn.message_id for turn in turns if turn.role == "user"), ""),
        "turns": recordset(
            [
                {
                    "message_id": turn.message_id,
                    "role": turn.role,
                    "text": storable(turn.text),
                    "at": turn.at.isoformat(),
                    "person": turn.person,
                    "speaker": storable(turn.speaker),
                    "material": storable(material_to_json(turn.material)),
                }
                for turn in once.values()
            ]
        ),
    }


class PostgresConversations:
    """Implements `gateway.stores.Conversations`."""

    def __init__(self, pool: PostgresDatabase) -> None:
        self._pool = pool

    async def append(self, key: ConversationKey, turns: Sequence[StoredTurn]) -> None:
        """Add the messages of one turn and their answer."""
        await self._pool.change_raw(INSERT_TURNS, turn_parameters(key, turns))

    async def latest(self, key: ConversationKey, limit: int) -> list[StoredTurn]:
        """The last turns, oldest first."""

        rows = await self._pool.fetch_raw(LATEST, (str(key), limit))
        return [_turn(row) for row in reversed(rows)]

    async def opened(self, key: ConversationKey, limit: int) -> tuple[list[StoredTurn], Notes]:
        """The last turns, oldest first, with the notes."""
        rows = await self._pool.fetch_raw(OPENED, {"conversation": str(key), "limit": limit})
        return [_turn(row[:7]) for row in rows if row[0] is not None], notes_of(rows[0][7:])

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """True when one of these messages is stored."""
        rows = await self._pool.fetch_raw(KNOWS, (_channel_of(tenant, place), list(message_ids)))
        return bool(rows[0][0])

    async def edit(self, tenant: str, place: Place, message_id: str, text: str) -> bool:
        """Replace the text of a stored message, unless it had no text of its author's own."""
        asked = {"text": storable(text), "channel": _channel_of(tenant, place), "ids": [message_id]}
        return await self._pool.change_raw(EDIT, asked) > 0

    async def delete(self, tenant: str, place: Place, message_ids: Sequence[str]) -> int:
        """Delete these messages and the answers to them."""
        parameters = {"channel": _channel_of(tenant, place), "ids": list(message_ids)}
        return await self._pool.change_raw(DELETE, parameters)

    async def clear(self, key: ConversationKey) -> int:
        """Delete a whole conversation."""
        return await self._pool.change_raw(CLEAR, {"conversation": str(key)})

    async def takes_part(self, key: ConversationKey) -> bool:
        """True when the assistant has spoken there."""
        rows = await self._pool.fetch_raw(TAKES_PART, (str(key),))
        return bool(rows[0][0])

    async def prune(self, before: datetime) -> int:
        """Delete some thousand of the turns from before then."""
        return await self._pool.change_raw(PRUNE, {"before": before, "limit": PRUNED_AT_ONCE})


def _channel_of(tenant: str, place: Place) -> str:
    return channel_name(tenant, place.platform, place.account, place.channel_id)


def _turn(row: TupleRow) -> StoredTurn:
    message_id, role, text, at, person, speaker, material = row
    return StoredTurn(
        message_id,
        "assistant" if role == "assistant" else "user",
        text,
        at.astimezone(UTC),
        person,
        speaker,
        material_from_json(material),
    )
