"""The two queues of the hot state: the inbox with accepted events and their hand-over to a
dispatcher or to worker processes, and the outbox with answers that wait for delivery, receipts and
dead letters."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, Literal, Protocol

from msgspec import Struct
from pydantic_core import to_json

from gateway.message import (
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    InlineQueried,
    MessageReceived,
    Outbound,
    Place,
    Receipt,
)
from gateway.people import PersonId
from gateway.policy.question_age import asked_at


class InboxEntry(Struct, frozen=True):
    """An accepted event that waits for its answer. `conversation` is a
    `str(ConversationKey)`; `reason` says why it addresses the assistant, empty where its kind says
    so. A message's content is the author's own text, without a prefix."""

    id: str
    """The key by which repetitions of the event are recognised."""
    conversation: str
    event: InboundEvent
    received_at: datetime
    """The time of the acceptance, in UTC."""
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
    """The time of the oldest waiting event; None for none."""
    sends: int = 0
    oldest_send: datetime | None = None
    """The time of the oldest waiting send; None for none."""
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


KEEP_RECEIPTS: Final = timedelta(hours=24)
"""The time for which a send's key is kept without its text, to recognise repetitions."""
KEEP_DEAD: Final = timedelta(days=30)
"""The time for which a send that was given up is kept with its text, so that an operator can send
it again."""
KEEP_OPEN: Final = timedelta(days=60)
"""The time for which events and sends are kept whose account is no longer configured."""


class OutboxEntry(Struct, frozen=True):
    """A queued send. `seq` orders the sends; `attempts` counts the attempts that ended.

    `begun`: one of the attempts may have reached the platform, because its result was not recorded
    or not told. `requeued`: an operator queued it again after that. `restored`: the outbox is an
    earlier state of itself, so the send may have happened long ago. The platform wants no further
    attempt before `not_before`.
    """

    seq: int
    outbound: Outbound
    """The send."""
    attempts: int
    created_at: datetime
    """The time of queueing, in UTC."""
    begun: bool = False
    requeued: bool = False
    not_before: datetime | None = None
    restored: bool = False


class DeadLetter(Struct, frozen=True):
    """A send that was given up at `at`, with the reason."""

    entry: OutboxEntry
    """The send in its last state."""
    reason: str
    at: datetime


DeliveryState = Literal["waiting", "sent", "dead"]


class SendState(Struct, frozen=True):
    """One send without its content. `attempts` counts those that ended, `reason` is that of the
    last failed one; `queued_at` and `ended_at` are None if the store does not hold them."""

    key: str
    """The key of the send."""
    state: DeliveryState
    """The state of the delivery."""
    attempts: int
    reason: str = ""
    queued_at: datetime | None = None
    ended_at: datetime | None = None


def message_key(place: Place, message_id: str) -> str:
    """Return the address of a message as one text; Telegram numbers messages per chat."""
    where = (place.platform, place.account, place.channel_id, message_id)
    return to_json(where).decode()


class Outbox(Protocol):
    """Answers that wait to be sent. Every entry is sent, or reported as dead."""

    async def add(self, outbound: Sequence[Outbound]) -> None:
        """Queue sends; a known key is left unchanged."""

    async def waiting(self, limit: int) -> list[OutboxEntry]:
        """Return unsent entries, oldest first."""

    async def begin(self, outbound: Outbound, *, again: bool = False) -> bool:
        """Record that an attempt starts; without a later result it is unknown if it happened.
        `again`: the caller knows that one was begun before.

        Return False if the attempt must not start: the send no longer waits, another process sends
        for the account, or one was begun that the caller does not know of. What still waits is then
        passed on again.
        """

    async def tried(
        self, key: str, reason: str, *, unsure: bool = False, not_before: datetime | None = None
    ) -> None:
        """Record a failed attempt. `unsure`: the result of this one, or of an earlier one, is
        unknown. It is repeated, not before the time that the platform named."""

    async def sent(self, key: str, receipt: Receipt, message_key: str = "") -> None:
        """Record the platform's confirmation. `message_key` is the `message_key` of the message."""

    async def reply_at(self, message_key: str) -> str:
        """Return the key of the send at this address while its receipt is kept; empty if
        unknown."""

    async def dead(self, keys: Sequence[str], reason: str) -> None:
        """Give these sends up."""

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Return the latest, newest first."""

    async def requeue(self, keys: Sequence[str]) -> int:
        """Queue these again with a new lifetime; returns how many. One that may have arrived stays
        `begun`. A single process finds them within seconds; other processes are notified."""

    async def drop(self, keys: Sequence[str]) -> int:
        """Delete these with their content; returns how many."""

    async def knows(self, key: str) -> bool:
        """Return True for a send that was queued, while it or its receipt is kept."""

    async def deliveries(self, turn_id: str, limit: int) -> list[SendState]:
        """Return the sends of a turn, in no order, while they and their receipts are kept."""
