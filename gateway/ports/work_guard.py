"""The seam to the crash-loop guard: work is marked before it begins, and dropped in the end when
processes die of it again and again."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from gateway.people import PersonId

WorkKind = Literal["message", "waiting_turn", "send", "chore", "heartbeat", "embedding", "payload"]
"""`message`: an accepted event, by the id of its exchange. `waiting_turn`: a turn that memory takes
up, by the same id. `send`: a key of the outbox. `chore`: a task of the housekeeping. `heartbeat`: a
project. `embedding`: a memory, or the model. `payload`: a delivery of a platform before it is
parsed."""
MAX_ID: Final = 200
"""Characters of an id; a longer one is cut."""


class WorkItem(NamedTuple):
    """One piece of work, the same in every process that takes it up. The id holds no content."""

    kind: WorkKind
    id: str

    @property
    def key(self) -> str:
        """The name of the item in logs and in `parley quarantine`: "KIND:ID"."""
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class Owner:
    """The person whom a piece of work concerns, within a tenant, and the place it came from
    ("platform:account:channel"). Empty where nobody is known."""

    tenant: str = ""
    person: str = ""
    place: str = ""

    @classmethod
    def of(cls, person: PersonId, place: str, tenant: str = "") -> "Owner":
        """The owner of a message."""
        return cls(tenant, str(person), place)


NOBODY: Final = Owner()


class WorkGuard(Protocol):
    """Counts the deaths of processes by what was in work at that time."""

    def working(self, *items: WorkItem) -> AbstractContextManager[None]:
        """Within it these items are in work: should the process die, the next one knows it."""
        ...

    def deaths(self, item: WorkItem) -> int:
        """The weight of the deaths that this item was in work at; 0 for nearly everything."""
        ...

    def exhausted(self, item: WorkItem) -> bool:
        """True when the item must not be begun any more."""
        ...

    def suspects(self, kind: WorkKind) -> int:
        """How many items of this kind were in work at a death, or are quarantined."""
        ...

    def release(self, item: WorkItem) -> None:
        """The item was dealt with in another way: it is no suspect of this process any more."""
        ...

    async def quarantine(self, item: WorkItem, owner: Owner = NOBODY) -> None:
        """Make the item a dead letter that an operator sees. A second call changes nothing.

        Raises `StoreUnavailable`."""
        ...


class Unguarded:
    """Implements `WorkGuard` by watching nothing."""

    def working(self, *items: WorkItem) -> AbstractContextManager[None]:
        """The items are not written down."""
        return nullcontext()

    def deaths(self, item: WorkItem) -> int:
        """None are known."""
        return 0

    def exhausted(self, item: WorkItem) -> bool:
        """Never."""
        return False

    def suspects(self, kind: WorkKind) -> int:
        """None."""
        return 0

    def release(self, item: WorkItem) -> None:
        """It was none."""

    async def quarantine(self, item: WorkItem, owner: Owner = NOBODY) -> None:
        """Never asked."""


UNGUARDED: Final = Unguarded()
