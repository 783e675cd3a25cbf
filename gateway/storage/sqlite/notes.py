"""Tasks and summaries of conversations in SQLite."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from db.sqlite import SqliteDatabase
from gateway.conversation import ConversationKey
from gateway.notes import NO_NOTES, Notes, SetTask, Summary

READ: Final = """
    SELECT task, task_person, task_name, task_message,
        summary, upto_message, upto_role, upto_at, persons
    FROM conversation_notes WHERE conversation = ?
"""
SET_TASK: Final = """
    INSERT INTO conversation_notes
        (conversation, channel, at, task, task_person, task_name, task_message)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation) DO UPDATE SET
        at = excluded.at, task = excluded.task, task_person = excluded.task_person,
        task_name = excluded.task_name, task_message = excluded.task_message
"""
SET_SUMMARY: Final = """
    INSERT INTO conversation_notes
        (conversation, channel, at, summary, upto_message, upto_role, upto_at, persons)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation) DO UPDATE SET
        at = excluded.at, summary = excluded.summary, upto_message = excluded.upto_message,
        upto_role = excluded.upto_role, upto_at = excluded.upto_at, persons = excluded.persons
"""
NO_SUMMARY: Final = "summary = '', upto_message = '', upto_role = '', upto_at = 0, persons = '[]'"
NO_TASK: Final = "task = '', task_person = '', task_name = '', task_message = ''"
# A summary goes with any message of its conversation that it may go back to.
FORGET_SUMMARY_OF: Final = f"""
    UPDATE conversation_notes SET {NO_SUMMARY} WHERE conversation IN (
        SELECT conversation FROM turns WHERE channel = ? AND message_id = ? AND role = 'user')
"""  # noqa: S608 - constants
FORGET_TASK_OF: Final = f"""
    UPDATE conversation_notes SET {NO_TASK}
    WHERE channel = ? AND task_message = ? AND task_message <> ''
"""  # noqa: S608 - constants


def read_notes(db: sqlite3.Connection, conversation: str) -> Notes:
    """The notes of a conversation, inside the caller's transaction."""
    row = db.execute(READ, (conversation,)).fetchone()
    if row is None:
        return NO_NOTES
    task, person, name, task_message, summary, message, role, at, persons = row
    told = SetTask(task, person, name, task_message) if task else None
    if not message:
        return Notes(told)
    said = datetime.fromtimestamp(at, UTC)
    by: Literal["user", "assistant"] = "assistant" if role == "assistant" else "user"
    return Notes(told, Summary(summary, message, by, said, tuple(json.loads(persons))))


def forget_what_goes_back_to(db: sqlite3.Connection, channel: str, message_id: str) -> None:
    """A message changes or goes: what was made of it goes, inside the caller's transaction and
    before the message does."""
    db.execute(FORGET_SUMMARY_OF, (channel, message_id))
    db.execute(FORGET_TASK_OF, (channel, message_id))


def forget_notes(db: sqlite3.Connection, conversation: str) -> int:
    """Delete everything of a conversation."""
    gone = db.execute("DELETE FROM conversation_notes WHERE conversation = ?", (conversation,))
    return gone.rowcount


class SqliteNotes:
    """Implements `gateway.notes.NoteStore`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def set_task(self, key: ConversationKey, task: SetTask | None, at: datetime) -> None:
        """Replace the task; None leaves none."""
        told = task or SetTask("")
        row = (*_of(key, at), told.text, told.person, told.name, told.message_id)
        await self._put(SET_TASK, row)

    async def set_summary(self, key: ConversationKey, summary: Summary, at: datetime) -> None:
        """Replace the summary."""
        upto = (summary.message_id, summary.role, summary.at.timestamp())
        row = (*_of(key, at), summary.text, *upto, json.dumps(summary.persons))
        await self._put(SET_SUMMARY, row)

    async def _put(self, statement: str, row: Sequence[object]) -> None:
        await self._database.run_job(lambda db: db.execute(statement, row))


def _of(key: ConversationKey, at: datetime) -> tuple[str, str, float]:
    return str(key), key.channel_name, at.timestamp()
