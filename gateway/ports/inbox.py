"""The inbox: accepted events, their hand-over to a dispatcher, and to worker processes."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from msgspec import Struct

from gateway.message import (
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    InlineQueried,
    MessageReceived,
    Outbound,
    Place,
)
from gateway.people import PersonId
from gateway.policy.question_age import asked_at


class InboxEntry(Struct, frozen=True):
    """An accepted event that waits for its answer. `conversation` is a
    `str(ConversationKey)`; `reason` says why it addresses the assistant, empty where its kind says
    so. A message's content is the author's own text, without a prefix."""

    id: str
    conversation: str
    event: InboundEvent
    received_at: datetime
    reason: str = ""
    skew: timedelta = timedelta()
    """How far the clock of the process that stored it is behind that of this process."""

    @property
    def asked_at(self) -> datetime:
        """When it was written, by this process's clock."""
        message = self.message
        sent = self.received_at if message is None else message.timestamp
        return asked_at(sent, self.received_at) + self.skew

    @property
    def message(self) -> ChatMessage | None:
        """The message to answer; None where the event is something else."""
        event = self.event
        return event.message if isinstance(event, MessageReceived | CommandInvoked) else None


class Finished(Enum):
    """The process that finished some events. True for the caller."""

    HERE = "here"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"
    """The store does not know the events: it lost them, or forgot them after their time."""

    def __bool__(self) -> bool:
        return self is Finished.HERE


class Inbox(Protocol):
    """Accepted events, each stored once."""

    async def add(self, entry: InboxEntry, hold: timedelta) -> bool:
        """Store an event; False if its id is known. The id is known for `hold` from now on."""

    async def unfinished(self, limit: int) -> list[InboxEntry]:
        """Return unfinished events, oldest first, to continue with after a restart."""

    async def finish(
        self,
        ids: Sequence[str],
        outbound: Sequence[Outbound],
        begun: str = "",
        *,
        lost: bool = False,
    ) -> Finished:
        """Mark events as answered by these sends, both in one step. The send with the key `begun`
        is stored as begun, see `Outbox.begin`. `lost`: unknown events count as open, because the
        store lost them.

        Unless the result is `HERE`, nothing is queued, and nothing may be sent.
        """

    async def prune(self) -> int:
        """Delete some expired events; returns how many, 0 at the end."""


class QueueDepths(Struct, frozen=True):
    """The load of a shared store: accepted events, sends, dead letters, and living workers."""

    events: int
    sends: int
    dead: int
    workers: int


class Backlog(Struct, frozen=True):
    """Accepted events and queued sends that wait, with the time of the oldest of each; `dead` sends
    are given up."""

    events: int = 0
    oldest_event: datetime | None = None
    sends: int = 0
    oldest_send: datetime | None = None
    dead: int = 0


class BacklogReader(Protocol):
    """Counts what waits, without reading any content."""

    async def look(self) -> Backlog:
        """Return the numbers now. Raises `StoreUnavailable`."""


class Dispatcher(Protocol):
    """Dispatches accepted events."""

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when nothing more can wait."""

    def is_crowded_by(self, person: PersonId) -> bool:
        """Return True when much waits, and this person has their share of it."""

    async def accept(self, entry: InboxEntry) -> None:
        """Dispatch an event of the inbox."""

    async def holds(self, conversation: str, place: Place, message_ids: Collection[str]) -> bool:
        """Return True when one of these messages is accepted and may not be answered yet."""

    def answer_inline(self, event: InlineQueried) -> bool:
        """Offer completions while a person types, without storing them. False without capacity."""
