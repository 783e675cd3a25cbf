"""The stored conversations of one person with the assistant, for an adapter that shows them."""

from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct

from gateway.message import Part, Place


class MessageName(NamedTuple):
    """The name of a stored message. `id` is that of the person's message; an answer has the id of
    the last message that it answers."""

    id: str
    by: Literal["person", "assistant"]


class OwnConversation(Struct, frozen=True):
    """A stored conversation: its thread, the beginning of its first message, and the time of its
    last message. The beginning may be empty, for a message with files only."""

    thread_id: str
    beginning: str
    at: datetime


class OwnMessage(Struct, frozen=True):
    """A stored message, without its secrets. `parts` show an answer on the adapter's platform."""

    name: MessageName
    at: datetime
    text: str
    parts: tuple[Part, ...] = ()


class OwnConversations(Protocol):
    """Reads what one person and the assistant wrote in a direct place, whose channel belongs to
    this person alone. Everything raises `StoreUnavailable` and `TenantUnknown`."""

    async def listed(self, place: Place, person: str, limit: int) -> list[OwnConversation]:
        """Return the latest conversations in the place's channel, newest first, in which the person
        (an author's id) wrote."""

    async def names(self, place: Place, person: str, limit: int) -> list[MessageName]:
        """Return the names of the latest messages of the place, oldest first."""

    async def messages(self, place: Place, person: str, limit: int) -> list[OwnMessage]:
        """Return the latest messages of the place, oldest first; fewer if they are long."""
