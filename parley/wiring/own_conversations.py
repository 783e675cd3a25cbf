"""The stored conversations of one person, for adapters that show them."""

from collections.abc import Callable
from typing import Final

from gateway.extensions import ExtensionRegistry
from gateway.message import Part, Place
from gateway.people import PersonId
from gateway.ports.conversations import StoredTurn
from gateway.ports.own_conversations import MessageName, OwnConversation, OwnMessage
from gateway.ports.renderer import Renderer
from gateway.render import render_off_loop
from gateway.stores.history import SqlOwnConversations

MAX_SHOWN: Final = 400_000
"""Characters of one conversation that are read and rendered; older messages are left out."""


class ShownConversations:
    """Implements `gateway.ports.own_conversations.OwnConversations` with an adapter's renderer."""

    def __init__(
        self,
        store: SqlOwnConversations,
        extensions: ExtensionRegistry,
        renderer: Callable[[], Renderer],
    ) -> None:
        self._store = store
        self._extensions = extensions
        self._renderer = renderer

    async def listed(self, place: Place, person: str, limit: int) -> list[OwnConversation]:
        return await self._store.listed(self._tenant(place, person), place, person, limit)

    async def names(self, place: Place, person: str, limit: int) -> list[MessageName]:
        return await self._store.names(self._tenant(place, person), place, person, limit)

    async def messages(self, place: Place, person: str, limit: int) -> list[OwnMessage]:
        turns = await self._store.turns(self._tenant(place, person), place, person, limit)
        return [await self._shown(turn) for turn in _within_bounds(turns)]

    async def _shown(self, turn: StoredTurn) -> OwnMessage:
        if turn.role == "user":
            return OwnMessage(MessageName(turn.message_id, "person"), turn.at, turn.text)
        parts: list[Part] = await render_off_loop(turn.text, self._renderer())
        name = MessageName(turn.message_id, "assistant")
        return OwnMessage(name, turn.at, turn.text, tuple(parts))

    def _tenant(self, place: Place, person: str) -> str:
        return self._extensions.tenant_of(place, PersonId(place.platform, place.account, person))


def _within_bounds(turns: list[StoredTurn]) -> list[StoredTurn]:
    """Return the latest turns that have at most `MAX_SHOWN` characters together."""
    left = MAX_SHOWN
    kept: list[StoredTurn] = []
    for turn in reversed(turns):
        left -= len(turn.text)
        if left < 0:
            break
        kept.append(turn)
    return kept[::-1]
