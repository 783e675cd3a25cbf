"""The stored conversations of one person in a channel that is theirs alone."""

from typing import Final

from db import Database, Statement
from db.values import time_of
from gateway.conversation import ConversationKey, channel_name, key_of
from gateway.message import Place
from gateway.people import PersonId
from gateway.ports.conversations import StoredTurn
from gateway.ports.own_conversations import MessageName, OwnConversation
from gateway.stores.conversations import stored_turn

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
""")  # noqa: S608 - a constant
NAMES: Final = Statement(f"""
    SELECT message_id, role FROM turns WHERE {IN_PLACE} ORDER BY id DESC LIMIT :limit
""")  # noqa: S608 - a constant
MESSAGES: Final = Statement(f"""
    SELECT message_id, role, text, at, person, speaker, material FROM turns
    WHERE {IN_PLACE} ORDER BY id DESC LIMIT :limit
""")  # noqa: S608 - a constant


class SqlOwnConversations:
    """Reads conversations like `gateway.ports.own_conversations.OwnConversations`, of one tenant
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
