"""The port of the crash-loop guard: work is marked before it starts, and quarantined if processes
repeatedly crash during it."""

from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Final, Literal, NamedTuple, Protocol

from msgspec import Struct

from gateway.people import PersonId

WorkKind = Literal[
    "message",
    "waiting_turn",
    "send",
    "chore",
    "heartbeat",
    "embedding",
    "payload",
    "appointment",
]
"""`message`: an accepted event, by the id of its turn. `waiting_turn`: a turn for memory, by
the same id. `send`: a key of the outbox. `chore`: a housekeeping task. `heartbeat`: a project.
`embedding`: a memory, or the model. `payload`: a delivery of a platform before it is parsed."""
MAX_ID: Final = 200
"""Characters of an id; a longer one is cut."""


class WorkItem(NamedTuple):
    """One piece of work, the same in every process. The id holds no content."""

    kind: WorkKind
    """The kind of work."""
    id: str

    @property
    def key(self) -> str:
        """The name of the item in logs and in `parley quarantine`: "KIND:ID"."""
        return f"{self.kind}:{self.id}"


class WorkOwner(Struct, frozen=True):
    """The person whom the work concerns, within a tenant, and its place
    ("platform:account:channel"). Empty if unknown."""

    tenant: str = ""
    person: str = ""
    place: str = ""

    @classmethod
    def of(cls, person: PersonId, place: str, tenant: str = "") -> "WorkOwner":
        """Return the owner of a message."""
        return cls(tenant, str(person), place)


NOBODY: Final = WorkOwner()


class WorkGuard(Protocol):
    """Counts crashes by the work in progress."""

    def working(self, *items: WorkItem) -> AbstractContextManager[None]:
        """Mark these items as in progress; after a crash the next process reads them."""

    def crash_weight(self, item: WorkItem) -> int:
        """Return the weight of the crashes during this item; 0 for nearly all items."""

    def exhausted(self, item: WorkItem) -> bool:
        """Return True if the item must not be started any more."""

    def suspects(self, kind: WorkKind) -> int:
        """Return how many items of this kind were in progress during a crash, or are
        quarantined."""

    def release(self, item: WorkItem) -> None:
        """Record that the item was handled in another way and is no longer suspected."""

    async def quarantine(self, item: WorkItem, owner: WorkOwner = NOBODY) -> None:
        """Store the item as quarantined work for the operator. Idempotent.

        Raises `StoreUnavailable`.
        """


class Unguarded:
    """Implements `WorkGuard` without any bookkeeping."""

    def working(self, *items: WorkItem) -> AbstractContextManager[None]:
        return nullcontext()

    def crash_weight(self, item: WorkItem) -> int:
        return 0

    def exhausted(self, item: WorkItem) -> bool:
        return False

    def suspects(self, kind: WorkKind) -> int:
        return 0

    def release(self, item: WorkItem) -> None: ...

    async def quarantine(self, item: WorkItem, owner: WorkOwner = NOBODY) -> None: ...


UNGUARDED: Final = Unguarded()


class Quarantined(Struct, frozen=True):
    """Work that crashed several processes and is not started any more. No content; `weight` is its
    weight, see `gateway.inbound.crash_loop_guard`."""

    kind: WorkKind
    """The kind of work."""
    id: str
    """The id of the work, see `WorkItem`."""
    owner: WorkOwner
    """The person and the place that the work concerns."""
    weight: int
    at: datetime
    """The time of the quarantine, in UTC."""
