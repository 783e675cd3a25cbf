"""The outbox: answers that wait for delivery, their receipts and dead letters."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from msgspec import Struct

from gateway.message import Outbound, Receipt

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
    attempts: int
    created_at: datetime
    begun: bool = False
    requeued: bool = False
    not_before: datetime | None = None
    restored: bool = False


class DeadLetter(Struct, frozen=True):
    """A send that was given up at `at`, with the reason."""

    entry: OutboxEntry
    reason: str
    at: datetime


DeliveryState = Literal["waiting", "sent", "dead"]


class SendState(Struct, frozen=True):
    """One send without its content. `attempts` counts those that ended, `reason` is that of the
    last failed one; `queued_at` and `ended_at` are None if the store does not hold them."""

    key: str
    state: DeliveryState
    attempts: int
    reason: str = ""
    queued_at: datetime | None = None
    ended_at: datetime | None = None


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
        """Record the platform's confirmation. `message_key` is the key of the message, from
        `gateway.stores.feedback.message_key`."""

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

    async def deliveries(self, turn_id: str, limit: int) -> list[SendState]:
        """Return the sends of a turn, in no order, while they and their receipts are kept."""
