"""Conversations. An answer refers to the messages that it answers, and is deleted with them."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db import Database, Row, Statement, Work, among, together
from db.database import delete_some, deleting_some
from db.transaction import Change, Execute, Fetch
from db.values import micros, storable, time_of
from gateway.conversation import ConversationKey, channel_name
from gateway.errors import BadInput
from gateway.message import Place
from gateway.ports import Activity
from gateway.ports.conversations import ConversationNotes, StoredTurn
from gateway.stores import conversation_notes
from gateway.stores.codec import material_from_json, material_to_json

COLUMNS: Final = "message_id, role, text, at, person, speaker, material"
ADD: Final = Statement("""
    INSERT INTO turns (conversation, channel, message_id, answers, role, text, at, person, speaker,
        material)
    VALUES (:conversation, :channel, :message_id, :answers, :role, :text, :at, :person, :speaker,
        :material)
    ON CONFLICT (channel, message_id, role)
    DO UPDATE SET text = excluded.text, material = excluded.material
""")
LATEST: Final = Statement(f"""
    SELECT {COLUMNS} FROM turns WHERE conversation = :conversation ORDER BY id DESC LIMIT :limit
""")  # noqa: S608 - a constant
LATEST_SINCE_SUMMARY: Final = Statement(f"""
    SELECT {COLUMNS} FROM turns WHERE conversation = :conversation AND id >= COALESCE((
        SELECT last.id FROM conversation_notes AS notes JOIN turns AS last
            ON last.channel = :channel AND last.message_id = notes.upto_message
                AND last.role = notes.upto_role
        WHERE notes.conversation = :conversation), 0)
    ORDER BY id DESC LIMIT :limit
""")  # noqa: S608 - a constant
KNOWS: Final = Statement(f"""
    SELECT 1 FROM turns
    WHERE channel = :channel AND {among("message_id", "message_ids")} AND role = 'user' LIMIT 1
""")  # noqa: S608 - constants
EDIT: Final = Statement(f"""
    UPDATE turns SET text = :text
    WHERE channel = :channel AND {among("message_id", "message_ids")} AND role = 'user'
        AND (text <> '' OR material = '')
""")  # noqa: S608 - constants
DELETE: Final = Statement(f"""
    DELETE FROM turns WHERE id IN (
        SELECT id FROM turns
        WHERE channel = :channel AND role = 'user' AND {among("message_id", "message_ids")}
        UNION ALL SELECT id FROM turns
        WHERE channel = :channel AND role = 'assistant' AND answers IN (
            SELECT answers FROM turns
            WHERE channel = :channel AND role = 'user' AND {among("message_id", "message_ids")})
    )
""")  # noqa: S608 - constants
CLEAR: Final = Statement("DELETE FROM turns WHERE conversation = :conversation")
TAKES_PART: Final = Statement("""
    SELECT 1 FROM turns WHERE conversation = :conversation AND role = 'assistant' LIMIT 1
""")
PRUNE: Final = deleting_some("turns", "id", "at < :before", "at")
PRUNE_NOTES: Final = deleting_some("conversation_notes", "conversation", "at < :before", "at")


def add_turns(key: ConversationKey, turns: Sequence[StoredTurn]) -> Work[None]:
    """Add the messages of one turn and their answer; a known message gets the new text."""
    conversation, channel = str(key), key.channel_name
    answers = next((turn.message_id for turn in turns if turn.role == "user"), "")
    rows = [
        {
            "conversation": conversation,
            "channel": channel,
            "message_id": turn.message_id,
            "answers": answers,
            "role": turn.role,
            "text": storable(turn.text),
            "at": micros(turn.at),
            "person": turn.person,
            "speaker": storable(turn.speaker),
            "material": storable(material_to_json(turn.material)),
        }
        for turn in turns
    ]
    yield Execute(ADD, rows)


def remove_turns(key: ConversationKey, turns: Sequence[StoredTurn]) -> Work[int]:
    """Delete the messages of one turn, their answer, and the notes that derive from them,
    as the last statements of the work."""
    ids = [turn.message_id for turn in turns if turn.role == "user"]
    return (yield from _with_notes(DELETE, {"channel": key.channel_name, "message_ids": ids}))


class SqlConversations:
    """Implements `gateway.ports.conversations.Conversations`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, key: ConversationKey, turns: Sequence[StoredTurn]) -> None:
        await self._database.run(lambda: add_turns(key, turns))

    async def latest(self, key: ConversationKey, limit: int) -> list[StoredTurn]:
        rows = await self._database.fetch(LATEST, {"conversation": str(key), "limit": limit})
        return [stored_turn(row) for row in reversed(rows)]

    async def opened(
        self, key: ConversationKey, limit: int
    ) -> tuple[list[StoredTurn], ConversationNotes]:
        return await self._database.run(lambda: _opened(key, limit))

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        return bool(await self._database.fetch(KNOWS, _messages(tenant, place, message_ids)))

    async def edit(self, tenant: str, place: Place, message_id: str, text: str) -> bool:
        """Replace the text of a stored message, unless it had no text of its author's own."""
        params = {**_messages(tenant, place, (message_id,)), "text": storable(text)}
        return await self._database.run(lambda: _with_notes(EDIT, params)) > 0

    async def delete(self, tenant: str, place: Place, message_ids: Sequence[str]) -> int:
        params = _messages(tenant, place, message_ids)
        return await self._database.run(lambda: _with_notes(DELETE, params))

    async def clear(self, key: ConversationKey) -> int:
        params = {"conversation": str(key)}

        def work() -> Work[int]:
            _, gone = yield from together(
                Change(conversation_notes.CLEAR, params), Change(CLEAR, params), last=True
            )
            return int(gone)

        return await self._database.run(work)

    async def takes_part(self, key: ConversationKey) -> bool:
        return bool(await self._database.fetch(TAKES_PART, {"conversation": str(key)}))

    async def prune(self, before: datetime) -> int:
        params = {"before": micros(before)}
        await delete_some(self._database, PRUNE_NOTES, params)
        return await delete_some(self._database, PRUNE, params)


def _opened(key: ConversationKey, limit: int) -> Work[tuple[list[StoredTurn], ConversationNotes]]:
    params = {"conversation": str(key), "channel": key.channel_name, "limit": limit}
    note_rows, turn_rows = yield from together(
        Fetch(conversation_notes.READ, params), Fetch(LATEST_SINCE_SUMMARY, params), last=True
    )
    notes = conversation_notes.parse_notes(*note_rows or (None,))
    return [stored_turn(row) for row in reversed(turn_rows)], notes


def _with_notes(statement: Statement, params: dict[str, object]) -> Work[int]:
    """Delete the notes that derive from these messages, then change the messages."""
    *_, changed = yield from together(
        Change(conversation_notes.FORGET_SUMMARIES_OF, params),
        Change(conversation_notes.FORGET_TASKS_OF, params),
        Change(statement, params),
        last=True,
    )
    return int(changed)


def _messages(tenant: str, place: Place, message_ids: Sequence[str]) -> dict[str, object]:
    channel = channel_name(tenant, place.platform, place.account, place.channel_id)
    return {"channel": channel, "message_ids": list(message_ids)}


def stored_turn(row: Row) -> StoredTurn:
    """Return the turn of a row: id, role, text, time, person, speaker, material."""
    message_id, role, text, at, person, speaker, material = row
    return StoredTurn(
        message_id,
        "assistant" if role == "assistant" else "user",
        text,
        time_of(at),
        person,
        speaker,
        material_from_json(material) if material else (),
    )


SUMS: Final = Statement("""
    SELECT count(DISTINCT traces.id), count(DISTINCT usage.person),
        COALESCE(SUM(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0),
        COALESCE(SUM(micros), 0)
    FROM traces JOIN usage ON usage.turn = traces.id
    WHERE traces.at >= :since AND usage.tenant = :tenant AND (
        substr(conversation, 1, length(:in_workspace)) = :in_workspace
        OR substr(conversation, 1, length(:in_channel)) = :in_channel)
""")
"""An answered question has a cost: its trace and its usage have the same id."""


class SqlActivity:
    """Implements `gateway.ports.ActivityLog`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_project(self, tenant: str, project: str, since: datetime) -> Activity:
        in_workspace, in_channel = beginnings(tenant, project)
        params = {
            "since": micros(since),
            "tenant": tenant,
            "in_workspace": in_workspace,
            "in_channel": in_channel,
        }
        (row,) = await self._database.fetch(SUMS, params)
        return Activity(*map(int, row))


def beginnings(tenant: str, project: str) -> tuple[str, str]:
    """Return the beginnings of `str(ConversationKey)` for this workspace, and for this channel
    without a workspace.

    Raises `BadInput` unless the project is "platform:account:id".
    """
    platform, _, rest = project.partition(":")
    account, _, inside = rest.partition(":")
    if not (platform and account and inside):
        raise BadInput(f"{project[:80]!r} is not a project: write platform:account:id")
    whole = ([tenant, platform, account, inside], [tenant, platform, account, "", inside])
    in_workspace, in_channel = (json.dumps(parts)[:-1] + "," for parts in whole)
    return in_workspace, in_channel
