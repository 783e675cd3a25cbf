"""A person's own texts and conversations: search and deletion, and lists for an adapter that shows
them."""

from collections.abc import Sequence
from typing import Final

from db import Database, Row, Statement, Work, among, execute, together
from db.transaction import Fetch
from db.values import time_of
from gateway.conversation import ConversationKey, channel_name, channel_of_name, key_of
from gateway.message import Place
from gateway.people import PersonId
from gateway.ports.conversations import (
    MessageName,
    OwnConversation,
    Spoken,
    SpokenKind,
    SpokenRef,
    StoredTurn,
    Whose,
    unchanged,
)
from gateway.stores.codec import files_from_json, material_from_json
from gateway.stores.conversations import COLUMNS, NO_SUMMARY, NO_TASK, stored_turn
from gateway.stores.personal_data import OWN_TASK, OWN_TENANT, SPOKE, TURNS

MAX_SEARCHED: Final = 10_000
"""Texts that a deletion compares."""
HERE: Final = "(:conversation = '' OR conversation = :conversation)"
SAID: Final = Statement(f"""
    SELECT id, conversation, channel, message_id, role, text, at, answers, material, files
    FROM turns
    WHERE {HERE} AND {TURNS} ORDER BY id DESC LIMIT :limit
""")
NOTED: Final = Statement(f"""
    SELECT conversation, channel, at, CASE WHEN {OWN_TASK} THEN task ELSE '' END,
        CASE WHEN summary <> '' AND {SPOKE} THEN summary ELSE '' END
    FROM conversation_notes
    WHERE {OWN_TENANT} AND {HERE} AND ({OWN_TASK} OR (summary <> '' AND {SPOKE}))
    ORDER BY at DESC LIMIT :limit
""")
DELETE: Final = Statement(f"DELETE FROM turns WHERE {among('id', 'ids')}")
IN_SOME: Final = among("conversation", "conversations")
FORGET_SUMMARIES: Final = Statement(f"UPDATE conversation_notes SET {NO_SUMMARY} WHERE {IN_SOME}")
FORGET_TASKS: Final = Statement(f"UPDATE conversation_notes SET {NO_TASK} WHERE {IN_SOME}")
Found = tuple[int, str, Spoken]
"""The id of a turn (0 for a note), the name of its conversation, and the text."""

MAX_BEGINNING: Final = 200
"""Characters of a conversation's first message."""
IN_PLACE: Final = """
    conversation = :conversation AND channel = :channel
        AND (role = 'assistant' OR person = :person)
"""
LISTED: Final = Statement(f"""
    SELECT conversation, substr(text, 1, {MAX_BEGINNING}), last_at
    FROM turns JOIN (
        SELECT COALESCE(MIN(CASE WHEN text <> '' THEN id END), MIN(id)) AS first,
            MAX(id) AS newest, MAX(at) AS last_at
        FROM turns WHERE channel = :channel AND role = 'user' AND person = :person
        GROUP BY conversation ORDER BY MAX(id) DESC LIMIT :limit
    ) AS own ON turns.id = own.first
    ORDER BY newest DESC
""")
NAMES: Final = Statement(f"""
    SELECT message_id, role FROM turns WHERE {IN_PLACE} ORDER BY id DESC LIMIT :limit
""")
MESSAGES: Final = Statement(f"""
    SELECT {COLUMNS} FROM turns
    WHERE {IN_PLACE} ORDER BY id DESC LIMIT :limit
""")


class SqlHistory:
    """Implements `gateway.ports.conversations.History`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spoken(self, whose: Whose, limit: int) -> list[Spoken]:
        rows = await self._database.run(lambda: _spoken_rows(whose, limit))
        return [text for _, _, text in rows]

    async def forget(self, whose: Whose, refs: Sequence[SpokenRef]) -> list[SpokenRef]:
        return await self._database.run(lambda: _forget(whose, refs)) if refs else []


def _forget(whose: Whose, refs: Sequence[SpokenRef]) -> Work[list[SpokenRef]]:
    rows = yield from _spoken_rows(whose, MAX_SEARCHED)
    gone = {text.ref for text in unchanged([text for _, _, text in rows], refs)}
    deleted = [(id_, place, text) for id_, place, text in rows if text.ref in gone]
    summaries = {place for id_, place, text in deleted if id_ or text.kind == "summary"}
    tasks = [place for _, place, text in deleted if text.kind == "task"]
    yield from execute(FORGET_SUMMARIES, {"conversations": sorted(summaries)})
    yield from execute(FORGET_TASKS, {"conversations": tasks})
    yield from execute(DELETE, {"ids": [id_ for id_, _, _ in deleted if id_]})
    return sorted(gone, key=lambda ref: (ref.kind, ref.channel, ref.id))


def _spoken_rows(whose: Whose, limit: int) -> Work[list[Found]]:
    params = {
        "tenant": whose.tenant,
        "persons": [person for person in whose.persons if person],
        "conversation": whose.conversation,
        "limit": limit,
    }
    turns, notes = yield from together(Fetch(SAID, params), Fetch(NOTED, params))
    rows = [(int(row[0]), str(row[1]), _turn(row, whose.tenant)) for row in turns]
    for conversation, name, at, task, summary in notes:
        channel, when = channel_of_name(whose.tenant, name), time_of(at)
        if task:
            rows.append((0, conversation, Spoken("task", channel, conversation, task, when)))
        if summary:
            text = Spoken("summary", channel, conversation, summary, when)
            rows.append((0, conversation, text))
    return rows


def _turn(row: Row, tenant: str) -> Spoken:
    _, _, name, message_id, role, text, at, answers, material, files = row
    shown = material_from_json(material), files_from_json(files)
    turn = StoredTurn(message_id, "user", text, time_of(at), "", "", *shown)
    kind: SpokenKind = "answer" if role == "assistant" else "message"
    channel = channel_of_name(tenant, name)
    return Spoken(kind, channel, message_id, turn.whole, turn.at, answers)


class SqlOwnConversations:
    """Reads conversations like `gateway.ports.conversations.OwnConversations`, of one tenant
    and without rendering."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def listed(
        self, tenant: str, place: Place, person: str, limit: int
    ) -> list[OwnConversation]:
        rows = await self._database.fetch(LISTED, _params(tenant, place, person, limit))
        return [
            OwnConversation(ConversationKey.of(key).thread, beginning, time_of(at))
            for key, beginning, at in rows
        ]

    async def names(self, tenant: str, place: Place, person: str, limit: int) -> list[MessageName]:
        rows = await self._database.fetch(NAMES, _params(tenant, place, person, limit))
        return [
            MessageName(message_id, "assistant" if role == "assistant" else "person")
            for message_id, role in reversed(rows)
        ]

    async def turns(self, tenant: str, place: Place, person: str, limit: int) -> list[StoredTurn]:
        rows = await self._database.fetch(MESSAGES, _params(tenant, place, person, limit))
        return [stored_turn(row) for row in reversed(rows)]


def _params(tenant: str, place: Place, person: str, limit: int) -> dict[str, object]:
    return {
        "conversation": str(key_of(tenant, place)),
        "channel": channel_name(tenant, place.platform, place.account, place.channel_id),
        "person": str(PersonId(place.platform, place.account, person)),
        "limit": limit,
    }
