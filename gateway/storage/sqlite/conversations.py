"""Conversations in SQLite. An answer remembers which messages it answers, and goes with them."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from db.sqlite import SqliteDatabase
from gateway.conversation import ConversationKey, channel_name
from gateway.message import Place
from gateway.notes import Notes
from gateway.storage.codec import material_from_json, material_to_json
from gateway.storage.sqlite.notes import forget_notes, forget_what_goes_back_to, read_notes
from gateway.storage.sqlite.pruning import delete_some
from gateway.stores import StoredTurn

Row = tuple[str, str, str, float, str, str, str]

LATEST: Final = (
    "SELECT message_id, role, text, at, person, speaker, material FROM turns"
    " WHERE conversation = ? ORDER BY id DESC LIMIT ?"
)

LATEST_SINCE: Final = (
    "SELECT message_id, role, text, at, person, speaker, material FROM turns"
    " WHERE conversation = ? AND id >= COALESCE((SELECT id FROM turns WHERE channel = ?"
    " AND message_id = ? AND role = ?), 0) ORDER BY id DESC LIMIT ?"
)


def insert_turns(db: sqlite3.Connection, key: ConversationKey, turns: Sequence[StoredTurn]) -> None:
    """Add the messages of one turn and their answer, inside the caller's transaction."""
    conversation, channel = str(key), key.channel_name
    group = next((turn.message_id for turn in turns if turn.role == "user"), "")
    db.executemany(
        "INSERT INTO turns (conversation, channel, message_id, answers, role, text, at,"
        " person, speaker, material) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (channel, message_id, role) DO UPDATE SET text = excluded.text,"
        " material = excluded.material",
        [
            (
                conversation,
                channel,
                turn.message_id,
                group,
                turn.role,
                turn.text,
                turn.at.timestamp(),
                turn.person,
                turn.speaker,
                material_to_json(turn.material),
            )
            for turn in turns
        ],
    )


class SqliteConversations:
    """Implements `gateway.stores.Conversations`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def append(self, key: ConversationKey, turns: Sequence[StoredTurn]) -> None:
        """Add the messages of one turn and their answer."""
        await self._database.run_job(lambda db: insert_turns(db, key, turns))

    async def latest(self, key: ConversationKey, limit: int) -> list[StoredTurn]:
        """The last turns, oldest first."""
        conversation = str(key)

        def job(db: sqlite3.Connection) -> list[Row]:
            return db.execute(LATEST, (conversation, limit)).fetchall()

        return [_turn(row) for row in reversed(await self._database.run_job(job))]

    async def opened(self, key: ConversationKey, limit: int) -> tuple[list[StoredTurn], Notes]:
        """The last turns, oldest first, with the notes; from the last one on that the summary
        stands for."""
        conversation, channel = str(key), key.channel_name

        def job(db: sqlite3.Connection) -> tuple[list[Row], Notes]:
            notes = read_notes(db, conversation)
            summary = notes.summary
            if summary is None:
                return db.execute(LATEST, (conversation, limit)).fetchall(), notes
            upto = (channel, summary.message_id, summary.role)
            return db.execute(LATEST_SINCE, (conversation, *upto, limit)).fetchall(), notes

        rows, notes = await self._database.run_job(job)
        return [_turn(row) for row in reversed(rows)], notes

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """True when one of these messages is stored."""
        channel = _channel_of(tenant, place)

        def job(db: sqlite3.Connection) -> bool:
            return any(
                db.execute(
                    "SELECT 1 FROM turns WHERE channel = ? AND message_id = ? AND role = 'user'",
                    (channel, message_id),
                ).fetchone()
                for message_id in message_ids
            )

        return await self._database.run_job(job)

    async def edit(self, tenant: str, place: Place, message_id: str, text: str) -> bool:
        """Replace the text of a stored message, unless it had no text of its author's own."""
        channel = _channel_of(tenant, place)

        def job(db: sqlite3.Connection) -> bool:
            forget_what_goes_back_to(db, channel, message_id)
            changed = db.execute(
                "UPDATE turns SET text = ? WHERE channel = ? AND message_id = ? AND role = 'user'"
                " AND (text <> '' OR material = '')",
                (text, channel, message_id),
            )
            return changed.rowcount > 0

        return await self._database.run_job(job)

    async def delete(self, tenant: str, place: Place, message_ids: Sequence[str]) -> int:
        """Delete these messages and the answers to them."""
        channel = _channel_of(tenant, place)

        def job(db: sqlite3.Connection) -> int:
            return sum(_delete_with_answer(db, channel, i) for i in message_ids)

        return await self._database.run_job(job)

    async def clear(self, key: ConversationKey) -> int:
        """Delete a whole conversation."""
        conversation = str(key)

        def job(db: sqlite3.Connection) -> int:
            forget_notes(db, conversation)
            return db.execute("DELETE FROM turns WHERE conversation = ?", (conversation,)).rowcount

        return await self._database.run_job(job)

    async def takes_part(self, key: ConversationKey) -> bool:
        """True when the assistant has spoken there."""
        conversation = str(key)

        def job(db: sqlite3.Connection) -> bool:
            found = db.execute(
                "SELECT 1 FROM turns WHERE conversation = ? AND role = 'assistant' LIMIT 1",
                (conversation,),
            ).fetchone()
            return found is not None

        return await self._database.run_job(job)

    async def prune(self, before: datetime) -> int:
        """Delete turns from before then."""
        limit = before.timestamp()

        def job(db: sqlite3.Connection) -> int:
            delete_some(db, "conversation_notes", "conversation", "at < ?", limit)
            return delete_some(db, "turns", "id", "at < ?", limit)

        return await self._database.run_job(job)


def _channel_of(tenant: str, place: Place) -> str:
    return channel_name(tenant, place.platform, place.account, place.channel_id)


def _delete_with_answer(db: sqlite3.Connection, channel: str, message_id: str) -> int:
    found = db.execute(
        "SELECT answers FROM turns WHERE channel = ? AND message_id = ? AND role = 'user'",
        (channel, message_id),
    ).fetchone()
    if found is None:
        return 0
    forget_what_goes_back_to(db, channel, message_id)
    gone = db.execute(
        "DELETE FROM turns WHERE channel = ? AND"
        " ((message_id = ? AND role = 'user') OR (answers = ? AND role = 'assistant'))",
        (channel, message_id, found[0]),
    )
    return gone.rowcount


def _turn(row: Row) -> StoredTurn:
    message_id, role, text, at, person, speaker, material = row
    return StoredTurn(
        message_id,
        "assistant" if role == "assistant" else "user",
        text,
        datetime.fromtimestamp(at, UTC),
        person,
        speaker,
        material_from_json(material) if material else (),
    )
