"""Tasks and summaries of conversations."""

from datetime import datetime
from typing import Final, Literal

from db import Database, Row, Statement, among
from db.values import json_list, micros, storable, texts_of, time_of
from gateway.conversation import ConversationKey
from gateway.ports.conversations import (
    NO_NOTES,
    ConversationNotes,
    ConversationSummary,
    ConversationTask,
)

READ: Final = Statement("""
    SELECT task, task_person, task_name, task_message,
        summary, upto_message, upto_role, upto_at, persons
    FROM conversation_notes WHERE conversation = :conversation
""")
SET_TASK: Final = Statement("""
    INSERT INTO conversation_notes
        (conversation, channel, at, task, task_person, task_name, task_message)
    VALUES (:conversation, :channel, :at, :task, :person, :name, :message_id)
    ON CONFLICT (conversation) DO UPDATE SET
        at = excluded.at, task = excluded.task, task_person = excluded.task_person,
        task_name = excluded.task_name, task_message = excluded.task_message
""")
SET_SUMMARY: Final = Statement("""
    INSERT INTO conversation_notes
        (conversation, channel, at, summary, upto_message, upto_role, upto_at, persons)
    VALUES (:conversation, :channel, :at, :summary, :upto_message, :upto_role, :upto_at, :persons)
    ON CONFLICT (conversation) DO UPDATE SET
        at = excluded.at, summary = excluded.summary, upto_message = excluded.upto_message,
        upto_role = excluded.upto_role, upto_at = excluded.upto_at, persons = excluded.persons
""")
NO_SUMMARY: Final = "summary = '', upto_message = '', upto_role = '', upto_at = 0, persons = '[]'"
NO_TASK: Final = "task = '', task_person = '', task_name = '', task_message = ''"
FORGET_SUMMARIES_OF: Final = Statement(f"""
    UPDATE conversation_notes SET {NO_SUMMARY} WHERE conversation IN (
        SELECT conversation FROM turns
        WHERE channel = :channel AND role = 'user' AND {among("message_id", "message_ids")})
""")  # noqa: S608 - constants
"""Deletes a summary with any message that it may derive from. Run it before the message is deleted.
"""
FORGET_TASKS_OF: Final = Statement(f"""
    UPDATE conversation_notes SET {NO_TASK}
    WHERE channel = :channel AND task_message <> '' AND {among("task_message", "message_ids")}
""")  # noqa: S608 - constants
CLEAR: Final = Statement("DELETE FROM conversation_notes WHERE conversation = :conversation")


def parse_notes(row: Row | None) -> ConversationNotes:
    """The notes in a row of `READ`."""
    if row is None:
        return NO_NOTES
    task, person, name, task_message, summary, message, role, at, persons = row
    set_task = ConversationTask(task, person, name, task_message) if task else None
    if not message:
        return ConversationNotes(set_task)
    by: Literal["user", "assistant"] = "assistant" if role == "assistant" else "user"
    return ConversationNotes(
        set_task, ConversationSummary(summary, message, by, time_of(at), texts_of(persons))
    )


class SqlConversationNotes:
    """Implements `gateway.ports.conversations.ConversationNoteStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def set_task(
        self, key: ConversationKey, task: ConversationTask | None, at: datetime
    ) -> None:
        new = task or ConversationTask("")
        params = {
            **_conversation(key, at),
            "task": storable(new.text),
            "person": new.person,
            "name": storable(new.name),
            "message_id": new.message_id,
        }
        await self._database.change(SET_TASK, params)

    async def set_summary(
        self, key: ConversationKey, summary: ConversationSummary, at: datetime
    ) -> None:
        params = {
            **_conversation(key, at),
            "summary": storable(summary.text),
            "upto_message": summary.message_id,
            "upto_role": summary.role,
            "upto_at": micros(summary.at),
            "persons": json_list(summary.persons),
        }
        await self._database.change(SET_SUMMARY, params)


def _conversation(key: ConversationKey, at: datetime) -> dict[str, object]:
    return {"conversation": str(key), "channel": key.channel_name, "at": micros(at)}
