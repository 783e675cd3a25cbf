"""Tasks and summaries of conversations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from db import FOR_UPDATE, Database, Row, Statement, Work, among, execute, fetch, fetch_first
from db.values import json_list, micros, storable, texts_of, time_of
from gateway.conversation import ConversationKey
from gateway.ports.conversations import (
    NO_NOTES,
    ConversationNotes,
    ConversationSummary,
    ConversationTask,
    StoredTurn,
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
TOUCH: Final = Statement("""
    INSERT INTO conversation_notes (conversation, channel, at)
    VALUES (:conversation, :channel, :at)
    ON CONFLICT (conversation) DO UPDATE SET at = excluded.at
    RETURNING summary
""")
SUMMARISED: Final = Statement(f"""
    SELECT message_id, role, text FROM turns
    WHERE conversation = :conversation AND {among("message_id", "message_ids")} {FOR_UPDATE}
""")  # noqa: S608 - constants
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
        self,
        key: ConversationKey,
        summary: ConversationSummary,
        at: datetime,
        turns: Sequence[StoredTurn] = (),
        before: ConversationSummary | None = None,
    ) -> bool:
        params = {
            **_conversation(key, at),
            "summary": storable(summary.text),
            "upto_message": summary.message_id,
            "upto_role": summary.role,
            "upto_at": micros(summary.at),
            "persons": json_list(summary.persons),
        }
        return await self._database.run(lambda: _set_summary(params, turns, before))


def _set_summary(
    params: dict[str, object], turns: Sequence[StoredTurn], before: ConversationSummary | None
) -> Work[bool]:
    # Notes before turns, as everywhere: what is cleared at the same time is cleared before or after
    # this, never in between.
    stored = yield from fetch_first(TOUCH, params)
    ids = sorted({turn.message_id for turn in turns})
    rows = yield from fetch(SUMMARISED, {**params, "message_ids": ids})
    present = {(str(id_), str(role), str(text)) for id_, role, text in rows}
    if not present.issuperset((one.message_id, one.role, one.text) for one in turns):
        return False
    if before is not None and (stored is None or stored[0] != before.text):
        return False
    yield from execute(SET_SUMMARY, params)
    return True


def _conversation(key: ConversationKey, at: datetime) -> dict[str, object]:
    return {"conversation": str(key), "channel": key.channel_name, "at": micros(at)}
