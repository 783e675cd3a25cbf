"""A person's words in stored conversations, in PostgreSQL: found again, and taken back."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any, Final, LiteralString

from db.postgres import Connection, PostgresDatabase
from gateway.conversation import channel_of_name
from gateway.spoken import Spoken, SpokenKind, SpokenRef, Whose, unchanged
from gateway.storage.codec import material_from_json
from gateway.storage.postgres.notes import NO_SUMMARY, NO_TASK
from gateway.storage.postgres.personal import OWN_TASK, OWN_TENANT, SPOKE, TURNS
from gateway.stores import StoredTurn

LOOKED_THROUGH: Final = 10_000
"""Texts among which those that are to go are looked for."""
HERE: Final = "(%(conversation)s = '' OR conversation = %(conversation)s)"
SAID: Final[LiteralString] = f"""
    SELECT id, conversation, channel, message_id, role, text, at, answers, material FROM turns
    WHERE {HERE} AND {TURNS} ORDER BY id DESC LIMIT %(limit)s
"""  # noqa: S608 - constants
NOTED: Final[LiteralString] = f"""
    SELECT conversation, channel, at, CASE WHEN {OWN_TASK} THEN task ELSE '' END,
        CASE WHEN summary <> '' AND {SPOKE} THEN summary ELSE '' END
    FROM conversation_notes
    WHERE {OWN_TENANT} AND {HERE} AND ({OWN_TASK} OR (summary <> '' AND {SPOKE}))
    ORDER BY at DESC LIMIT %(limit)s
"""  # noqa: S608 - constants
DELETE: Final = "DELETE FROM turns WHERE id = ANY (%s::bigint[])"
NO_SUMMARIES: Final[LiteralString] = (
    f"UPDATE conversation_notes SET {NO_SUMMARY} WHERE conversation = ANY (%s::text[])"  # noqa: S608 - constants
)
NO_TASKS: Final[LiteralString] = (
    f"UPDATE conversation_notes SET {NO_TASK} WHERE conversation = ANY (%s::text[])"  # noqa: S608 - constants
)


class PostgresHistory:
    """Implements `gateway.spoken.History`."""

    def __init__(self, pool: PostgresDatabase) -> None:
        self._pool = pool

    async def spoken(self, whose: Whose, limit: int) -> list[Spoken]:
        """The latest texts of these people."""

        async def work(connection: Connection) -> list[Spoken]:
            return [one for _, _, one in await _found(connection, whose, limit)]

        return await self._pool.with_connection(work)

    async def forget(self, whose: Whose, refs: Sequence[SpokenRef]) -> list[SpokenRef]:
        """Delete those of these texts that are theirs and unchanged."""

        async def work(connection: Connection) -> list[SpokenRef]:
            async with connection.transaction():
                found = await _found(connection, whose, LOOKED_THROUGH)
                gone = {one.ref for one in unchanged([one for _, _, one in found], refs)}
                took = [(id_, place, one) for id_, place, one in found if one.ref in gone]
                ids = [id_ for id_, _, _ in took if id_]
                summaries = {place for id_, place, one in took if id_ or one.kind == "summary"}
                tasks = [place for _, place, one in took if one.kind == "task"]
                await connection.execute(NO_SUMMARIES, (sorted(summaries),))
                await connection.execute(NO_TASKS, (tasks,))
                await connection.execute(DELETE, (ids,))
            return sorted(gone, key=lambda ref: (ref.kind, ref.channel, ref.id))

        return await self._pool.with_connection(work) if refs else []


async def _found(connection: Connection, whose: Whose, limit: int) -> list[tuple[int, str, Spoken]]:
    """Row ids (0 for notes) and conversations with what they say."""
    asked = {
        "tenant": whose.tenant,
        "persons": [person for person in whose.persons if person],
        "conversation": whose.conversation,
        "limit": limit,
    }
    rows = await (await connection.execute(SAID, asked)).fetchall()
    found = [(int(row[0]), str(row[1]), _spoken(row, whose.tenant)) for row in rows]
    notes = await (await connection.execute(NOTED, asked)).fetchall()
    for conversation, name, at, task, summary in notes:
        channel, when = channel_of_name(whose.tenant, name), at.astimezone(UTC)
        if task:
            found.append((0, conversation, Spoken("task", channel, conversation, task, when)))
        if summary:
            said = Spoken("summary", channel, conversation, summary, when)
            found.append((0, conversation, said))
    return found


def _spoken(row: Sequence[Any], tenant: str) -> Spoken:
    _, _, name, message_id, role, text, at, answers, material = row
    when = at.astimezone(UTC)
    said = StoredTurn(message_id, "user", text, when, material=material_from_json(material))
    kind: SpokenKind = "answer" if role == "assistant" else "message"
    channel = channel_of_name(tenant, name)
    return Spoken(kind, channel, message_id, said.whole, when, answers)
