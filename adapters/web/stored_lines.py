"""Keeps the page in agreement with the stored conversations: history, deletions, the list."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from adapters.web.page_state import FileStore, PageChat, PageChats, PageMessage
from adapters.web.parse import place_for
from gateway.ports.conversations import OwnConversations, OwnMessage

MAX_LISTED: Final = 100
"""Conversations in the list of one person, the latest."""
MAX_TITLE: Final = 80


class ListedChat(Struct, frozen=True):
    """An entry of the list of conversations. `title` is the beginning of the first message, empty
    for a message without text."""

    id: str
    title: str
    at: datetime


class StoredLines:
    """Reads the stored conversations of the account's people. Without a `store` the page shows only
    what happened since the start. Everything raises `StoreUnavailable` and `TenantUnknown`."""

    def __init__(
        self,
        store: OwnConversations | None,
        account: str,
        conversations: PageChats,
        files: FileStore,
        limit: int,
    ) -> None:
        self._store = store
        self._account = account
        self._conversations = conversations
        self._files = files
        self._limit = limit

    async def sync(self, conversation: PageChat, person: str, chat: str) -> None:
        """Show stored messages that are missing, and remove those that are no longer stored."""
        if self._store is None:
            return
        place = place_for(self._account, person, chat)
        # Twice as many as are shown: a name that is missing here is deleted, not only old.
        names = await self._store.names(place, person, 2 * self._limit)
        messages: list[OwnMessage] = []
        if conversation.lacks(names):
            messages = await self._store.messages(place, person, self._limit)
        known = frozenset(names)
        gone = [line.id for line in conversation.lines() if line.stored and line.name not in known]
        self.drop(conversation, gone)
        conversation.merge(known, (line for message in messages for line in lines_of(message)))

    async def listed(self, person: str) -> list[ListedChat]:
        """Return the person's conversations, newest first: the stored ones, and those with a
        message that is not stored yet."""
        stored: list[ListedChat] = []
        if self._store is not None:
            place = place_for(self._account, person)
            stored = [
                ListedChat(one.thread_id, title_of(one.beginning), one.at)
                for one in await self._store.listed(place, person, MAX_LISTED)
            ]
        known = {one.id for one in stored}
        in_memory = self._conversations.of_person(person).items()
        begun = [_begun(chat, kept) for chat, kept in in_memory if chat not in known]
        chats = [*stored, *(one for one in begun if one is not None)]
        return sorted(chats, key=lambda one: one.at, reverse=True)[:MAX_LISTED]

    def drop(self, conversation: PageChat, ids: list[str]) -> None:
        """Remove lines with their files."""
        dropped = conversation.drop(ids)
        self._files.remove(link for line in dropped for link in line.files)

    def drop_unstored(self, person: str, keep: str = "") -> None:
        """Remove the person's lines that are not stored, except the line `keep` and lines with
        buttons; a question whose answer is being written comes back with it."""
        if self._store is None:
            return
        for conversation in self._conversations.of_person(person).values():
            self.drop(conversation, unstored(conversation, keep))


def unstored(conversation: PageChat, keep: str = "") -> list[str]:
    """Return the ids of the lines that are not stored and can be removed."""
    return [
        line.id
        for line in conversation.lines()
        if not (line.stored or line.live or line.buttons or line.id == keep)
    ]


def lines_of(message: OwnMessage) -> list[PageMessage]:
    """Return the lines that show a stored message."""
    name = message.name
    if name.by == "person":
        return [PageMessage(name.id, "person", message.at, message.text, stored=True)]
    return [
        PageMessage(
            f"s-{name.id}-{number}",
            "assistant",
            message.at,
            part.text,
            html=part.payload if isinstance(part.payload, str) else "",
            reply_to=name.id,
            stored=True,
        )
        for number, part in enumerate(message.parts)
    ]


def title_of(text: str) -> str:
    """Return the title of a conversation that begins with this text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1].rstrip()}…"


def _begun(chat: str, conversation: PageChat) -> ListedChat | None:
    """Return the entry of a conversation whose first message is not stored yet."""
    questions = [
        line
        for line in conversation.lines()
        if line.by == "person" and not (line.command or line.deleted or line.stored)
    ]
    if not questions:
        return None
    return ListedChat(chat, title_of(questions[0].text[:400]), questions[-1].at)
