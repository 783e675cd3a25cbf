"""Tasks and summaries of conversations in PostgreSQL."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

from db.postgres import PostgresDatabase
from gateway.conversation import ConversationKey
from gateway.notes import NO_NOTES, Notes, SetTask, Summary
from gateway.storage.postgres.rows import storable

COLUMNS: Final = """
    task, task_person, task_name, task_message,
    summary, upto_message, upto_role, upto_at, persons
"""
SET_TASK: Final = """
    INSERT INTO conversation_notes
        (conversation, channel, at, task, task_person, task_name, task_message)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (conversation) DO UPDATE SET
        at = excluded.at, task = excluded.task, task_person = excluded.task_person,
        task_name = excluded.task_name, task_message = excluded.task_message
"""
SET_SUMMARY: Final = """
    INSERT INTO conversation_notes
        (conversation, channel, at, summary, upto_message, upto_role, upto_at, persons)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (conversation) DO UPDATE SET
        at = excluded.at, summary = excluded.summary, upto_message = excluded.upto_message,
        upto_role = excluded.upto_role, upto_at = excluded.upto_at, persons = excluded.persons
"""
NO_SUMMARY: Final = (
    "summary = '', upto_message = '', upto_role = '', upto_at = NULL, persons = '{}'"
)
NO_TASK: Final = "task = '', task_person = '', task_name = '', task_message = ''"
# A message changes or goes: what was made of it goes with it, in the same statement.
FORGET: Final = f"""
    WITH forgotten AS (
        UPDATE conversation_notes SET {NO_SUMMARY},
            task = CASE WHEN task_message = ANY (%(ids)s) THEN '' ELSE task END
        WHERE channel = %(channel)s AND (
            task_message = ANY (%(ids)s) OR conversation IN (
                SELECT conversation FROM turns
                WHERE channel = %(channel)s AND role = 'user' AND message_id = ANY (%(ids)s)
            )
        )
    )
"""  # noqa: S608 - constants


def notes_of(row: Sequence[Any]) -> Notes:
    """The notes in a row of `COLUMNS`; a row of nothing but None holds none."""
    task, person, name, task_message, summary, message, role, at, persons = row
    if task is None:
        return NO_NOTES
    told = SetTask(task, person, name, task_message) if task else None
    if not message:
        return Notes(told)
    by: Literal["user", "assistant"] = "assistant" if role == "assistant" else "user"
    return Notes(told, Summary(summary, message, by, at.astimezone(UTC), tuple(persons)))


class PostgresNotes:
    """Implements `gateway.notes.NoteStore`."""

    def __init__(self, pool: PostgresDatabase) -> None:
        self._pool = pool

    async def set_task(self, key: ConversationKey, task: SetTask | None, at: datetime) -> None:
        """Replace the task; None leaves none."""
        told = task or SetTask("")
        row = (storable(told.text), told.person, storable(told.name), told.message_id)
        await self._pool.change_raw(SET_TASK, (*_of(key), at, *row))

    async def set_summary(self, key: ConversationKey, summary: Summary, at: datetime) -> None:
        """Replace the summary."""
        upto = (summary.message_id, summary.role, summary.at)
        row = (*_of(key), at, storable(summary.text), *upto, list(summary.persons))
        await self._pool.change_raw(SET_SUMMARY, row)


def _of(key: ConversationKey) -> tuple[str, str]:
    return str(key), key.channel_name
