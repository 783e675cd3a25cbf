"""A person's words in stored conversations, in SQLite: found again, and taken back."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from db.sqlite import SqliteDatabase
from gateway.conversation import channel_of_name
from gateway.spoken import Spoken, SpokenKind, SpokenRef, Whose, unchanged
from gateway.storage.codec import material_from_json
from gateway.storage.sqlite.notes import NO_SUMMARY, NO_TASK
from gateway.storage.sqlite.personal import OWN_TASK, OWN_TENANT, SPOKE, TURNS
from gateway.stores import StoredTurn

LOOKED_THROUGH: Final = 10_000
"""Texts among which those that are to go are looked for."""
HERE: Final = "(:conversation = '' OR conversation = :conversation)"
SAID: Final = f"""
    SELECT id, conversation, channel, message_id, role, text, at, answers, material FROM turns
    WHERE {HERE} AND {TURNS} ORDER BY id DESC LIMIT :limit
"""  # noqa: S608 - constants
NOTED: Final = f"""
    SELECT conversation, channel, at, CASE WHEN {OWN_TASK} THEN task ELSE '' END,
        CASE WHEN summary <> '' AND {SPOKE} THEN summary ELSE '' END
    FROM conversation_notes
    WHERE {OWN_TENANT} AND {HERE} AND ({OWN_TASK} OR (summary <> '' AND {SPOKE}))
    ORDER BY at DESC LIMIT :limit
"""  # noqa: S608 - constants
SOME: Final = "(SELECT value FROM json_each(?))"
DELETE: Final = f"DELETE FROM turns WHERE id IN {SOME}"  # noqa: S608 - constants
NO_SUMMARIES: Final = f"UPDATE conversation_notes SET {NO_SUMMARY} WHERE conversation IN {SOME}"  # noqa: S608 - constants
NO_TASKS: Final = f"UPDATE conversation_notes SET {NO_TASK} WHERE conversation IN {SOME}"  # noqa: S608 - constants

Row = tuple[int, str, str, str, str, str, float, str, str]


class SqliteHistory:
    """Implements `gateway.spoken.History`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def spoken(self, whose: Whose, limit: int) -> list[Spoken]:
        """The latest texts of these people."""
        return await self._database.run_job(
            lambda db: [one for _, _, one in _found(db, whose, limit)]
        )

    async def forget(self, whose: Whose, refs: Sequence[SpokenRef]) -> list[SpokenRef]:
        """Delete those of these texts that are theirs and unchanged."""

        def job(db: sqlite3.Connection) -> list[SpokenRef]:
            found = _found(db, whose, LOOKED_THROUGH)
            gone = {one.ref for one in unchanged([one for _, _, one in found], refs)}
            took = [(id_, place, one) for id_, place, one in found if one.ref in gone]
            ids = [id_ for id_, _, _ in took if id_]
            summaries = {place for id_, place, one in took if id_ or one.kind == "summary"}
            tasks = [place for _, place, one in took if one.kind == "task"]
            db.execute(NO_SUMMARIES, (json.dumps(sorted(summaries)),))
            db.execute(NO_TASKS, (json.dumps(tasks),))
            db.execute(DELETE, (json.dumps(ids),))
            return sorted(gone, key=lambda ref: (ref.kind, ref.channel, ref.id))

        return await self._database.run_job(job) if refs else []


def _found(db: sqlite3.Connection, whose: Whose, limit: int) -> list[tuple[int, str, Spoken]]:
    """Row ids (0 for notes) and conversations with what they say."""
    asked = {
        "tenant": whose.tenant,
        "persons": json.dumps([person for person in whose.persons if person]),
        "conversation": whose.conversation,
        "limit": limit,
    }
    rows: list[Row] = db.execute(SAID, asked).fetchall()
    found = [(row[0], row[1], _spoken(row, whose.tenant)) for row in rows]
    for conversation, name, at, task, summary in db.execute(NOTED, asked):
        channel, when = channel_of_name(whose.tenant, name), datetime.fromtimestamp(at, UTC)
        if task:
            found.append((0, conversation, Spoken("task", channel, conversation, task, when)))
        if summary:
            said = Spoken("summary", channel, conversation, summary, when)
            found.append((0, conversation, said))
    return found


def _spoken(row: Row, tenant: str) -> Spoken:
    _, _, name, message_id, role, text, at, answers, material = row
    when = datetime.fromtimestamp(at, UTC)
    said = StoredTurn(message_id, "user", text, when, material=material_from_json(material))
    kind: SpokenKind = "answer" if role == "assistant" else "message"
    channel = channel_of_name(tenant, name)
    return Spoken(kind, channel, message_id, said.whole, when, answers)
