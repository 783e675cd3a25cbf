"""Conversations as people see them in a list: who reads, what is wanted, and the results."""

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from gateway.authorship import Material
from gateway.message import Attachment
from gateway.ports.traces import Trace

MAX_COUNTED: Final = 1_000
"""Messages of a conversation that are counted, and whose cost is summed: the latest."""


class ConversationReader(Struct, frozen=True):
    """The identities of the person who reads. An `operator` sees the messages of everybody in the
    tenant, and the text of rooms; everybody else sees their own."""

    tenant: str
    persons: tuple[str, ...]
    """The linked identities of the reader, each a `str(PersonId)`."""
    operator: bool = False

    @property
    def owner(self) -> str:
        """The owner of the archive: operators share one."""
        return "" if self.operator else min(self.persons, default="")


class Wanted(Struct, frozen=True):
    """The filters of a list of conversations; empty ones are off. A conversation is listed if one
    of its messages fits all. `person` is a `str(PersonId)`, `micros` the least cost of a message in
    millionths of a dollar, `outcome` a group of outcomes: "answered",
    "refused", "failed", or "other" for, among others, collected, dropped and deleted messages."""

    platform: str = ""
    """The platform's name."""
    channel: str = ""
    """The platform's id of the channel."""
    person: str = ""
    outcome: str = ""
    micros: int = 0
    since: datetime | None = None
    """The earliest time; None for any."""
    until: datetime | None = None
    """The time before which messages are; None for any."""
    archived: bool = False
    """True for archived conversations, false for the others."""


class ListedConversation(Struct, frozen=True):
    """A conversation by its latest fitting message, without text. `id` is the id of that message's
    turn, `messages` the number of its messages, at most `MAX_COUNTED`; a person who is no operator
    counts their own ones."""

    id: str
    message_id: str
    """The platform's id of the message."""
    conversation: str
    audience: str
    """The `Audience` of the place; empty if unknown."""
    at: datetime
    kind: str
    """The kind of the event."""
    outcome: str
    """The outcome of the message, as its trace has it."""
    milliseconds: float
    """The time until the answer was stored."""
    person: str
    """The `str(PersonId)` of the author; empty if unknown."""
    speaker: str
    """The display name of the author; empty if none is stored."""
    micros: int
    """The cost of the counted messages in millionths of a dollar."""
    messages: int


class ListedPage(Struct, frozen=True):
    """A page of a list; `next` is the cursor of the following one, empty at the end."""

    rows: tuple[ListedConversation, ...]
    """The conversations, in the order of the list."""
    next: str = ""


class ConversationSums(Struct, frozen=True):
    """The number of messages that the reader may see, at most `MAX_COUNTED`, and their cost."""

    messages: int
    """The number of messages."""
    micros: int
    """Their cost in millionths of a dollar."""


class StoredExchange(Struct, frozen=True):
    """A message with its decisions, cost and person; `tokens` are input, output, read from the
    cache and written to it, of all model calls."""

    trace: Trace
    """The decisions about the message."""
    person: str = ""
    model: str = ""
    micros: int = 0
    """The cost of all model calls in millionths of a dollar."""
    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)


class ExchangePage(Struct, frozen=True):
    """Messages of a conversation, oldest first; `before` is the cursor of the earlier ones."""

    rows: tuple[StoredExchange, ...]
    """The messages."""
    before: str = ""


class ShownText(Struct, frozen=True):
    """A stored text that the reader may see. `person` is the person of the exchange."""

    message_id: str
    """The id of the person's message."""
    role: Literal["user", "assistant"]
    """The writer: the person, or the assistant."""
    text: str
    at: datetime
    """The time of the text, in UTC."""
    person: str
    speaker: str
    """The display name of the writer; empty if none is stored."""
    audience: str
    """The `Audience` of the place."""
    conversation: str
    """The `str(ConversationKey)`."""
    material: tuple[Material, ...] = ()
    """Text of other authors that came with it."""
    files: tuple[Attachment, ...] = ()
    """The files that came with it; those with a `ref` can be fetched."""


class FoundText(Struct, frozen=True):
    """A text that has the words of a search; `turn` is the id of its message's turn, empty if its
    decisions are no longer stored."""

    turn: str
    text: ShownText


class HitPage(Struct, frozen=True):
    """Hits, newest first; `next` is the cursor of the following page."""

    rows: tuple[FoundText, ...]
    """The hits."""
    next: str = ""
