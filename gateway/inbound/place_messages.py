"""Messages that do not address the assistant, in places that agreed that they are kept."""

import asyncio
from typing import Final

from gateway.conversation import ConversationKey
from gateway.immutable import replace
from gateway.message import ChatMessage, MembershipChanged, MessageDeleted, MessageEdited
from gateway.policy.access import AccessPolicy, listed
from gateway.policy.history_redaction import redact_for_history, redact_name
from gateway.turn.catchup import may_be_kept
from gateway.turn.prompt import clip
from gateway.turn.services import Services
from gateway.turn.thread import words_of

MAX_READ: Final = 4_000
"""Characters of a message that are searched for secrets; the rest is not kept."""
DIRECT: Final = 2_000
"""Characters that are redacted on the event loop."""


class PlaceMessages:
    """Keeps messages and follows their changes. Without `services.catchup` nothing is kept. Every
    method raises `StoreUnavailable`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def note(self, message: ChatMessage, key: ConversationKey) -> None:
        """Keep a message, if its place is on and its author may be kept."""
        catchup, author = self._services.catchup, message.author
        if catchup is None or not may_be_kept(message):
            return
        if not await catchup.is_on(str(key.room)):
            return
        if _is_blocked(message, self._services.policies.access):
            return
        links = self._services.connected[key.platform, key.account].links
        link = links.message_link(message.place, message.id) if links is not None else ""
        named = replace(message, author=replace(author, name=redact_name(author.name)))
        if await catchup.keep(key, named, await _redacted(message), link):
            self._services.count("kept_for_catchup", message.platform)

    async def edited(self, event: MessageEdited, key: ConversationKey) -> None:
        """Follow an edit. A message without known content is no longer kept."""
        catchup = self._services.catchup
        if catchup is None or not await catchup.is_on(str(key.room)):
            return
        if event.message.unreadable:
            await catchup.delete(event.place, (event.message.id,))
        else:
            await catchup.edit(key.tenant, event.message, await _redacted(event.message))

    async def deleted(self, event: MessageDeleted) -> None:
        """Follow a deletion."""
        catchup = self._services.catchup
        if catchup is not None and await catchup.has_any():
            await catchup.delete(event.place, event.message_ids)

    async def left(self, event: MembershipChanged) -> None:
        """Switch off the places from which the assistant was removed."""
        catchup = self._services.catchup
        if catchup is not None and event.is_self and not event.joined:
            await catchup.leave(event.place, whole_workspace=event.whole_workspace)


def _is_blocked(message: ChatMessage, access: AccessPolicy) -> bool:
    """Return True if a block list names the author or the place."""
    author, place = message.author, message.place
    return (
        listed(access.blocked_users, place.platform, (author.id, *author.aliases, *author.former))
        or listed(access.blocked_channels, place.platform, (*place.channel_ids, place.thread_id))
        or listed(access.blocked_workspaces, place.platform, (place.workspace_id,))
    )


async def _redacted(message: ChatMessage) -> str:
    """Return the words of a message without secrets."""
    words = clip(words_of(message), MAX_READ)
    if len(words) <= DIRECT:
        return redact_for_history(words)
    return await asyncio.to_thread(redact_for_history, words)
