"""Storage of what belongs to a person: projects, choices about privacy, waiting notices, sessions,
tasks of their agents, linked identities; export and erasure of their data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol

from msgspec import Struct

from gateway.message import Place
from memory.ports.documents import Document, Version


class PersonChoices(Struct, frozen=True):
    """A person's choices, and what is known about them.

    `persons` are the linked identities, their own included, at most 10. `project` is the one chosen
    for direct messages; `seen` says which of `persons` were seen in the project of this request
    (the room's, or the chosen one), and when last. `memory_off`: off for one of `persons` and so
    for all; `off_here`: off for this person in this conversation. `notes` is None without a choice.
    `waiting_notices` are the notices that wait for the next direct message, oldest first.
    """

    persons: tuple[str, ...]
    project: str = ""
    shows_private: bool = False
    """True if the person allowed their private memories in rooms."""
    seen: tuple[tuple[str, datetime], ...] = ()
    memory_off: bool = False
    off_here: bool = False
    notes: bool | None = None
    waiting_notices: tuple[str, ...] = ()

    @property
    def remembered(self) -> bool:
        """False if nothing of this person is recalled or stored."""
        return not (self.memory_off or self.off_here)


class MemorySession(Struct, frozen=True):
    """A person in a conversation until 30 minutes idle. Its brief is frozen as of `brief_at`."""

    id: str
    """The id of the session; empty where memory is off."""
    brief_at: datetime | None = None


class TurnStart(Struct, frozen=True):
    """The person, the session and the newest readable version of each document. `remembers` is
    false if there is certainly no visible memory."""

    who: PersonChoices
    """The person with their choices."""
    session: MemorySession
    documents: Mapping[Document, Version]
    """The newest version of each document that the person may read here."""
    remembers: bool = True


SessionUse = Literal["stores", "supersedes", "deletes"]


LinkState = Literal["offered", "redeemed", "confirmed", "linked"]
"""`offered`: a code waits to be entered. `redeemed`: it was entered. `confirmed`: the redeemer has
confirmed, and the maker is asked. `linked`: both have confirmed."""

LinkOutcome = Literal[
    "redeemed",
    "agreed",
    "waiting",
    "early",
    "linked",
    "unknown",
    "own",
    "busy",
    "already",
    "same_account",
    "too_many",
]
"""The result of a step. `agreed`: the redeemer confirmed, now or in the same turn before;
`waiting`: it had confirmed already; `early`: the maker confirms before the redeemer did; the rest
from `unknown` on are refusals."""


@dataclass(frozen=True, slots=True)
class LinkSide:
    """An identity in a link. `person` is a `str(PersonId)`, `name` a display name, `place` the
    direct conversation if known."""

    person: str
    name: str = ""
    place: Place | None = None


class Linked(Struct, frozen=True):
    """A linked identity, and the time of the link if known."""

    side: LinkSide
    """The other identity."""
    since: datetime | None = None
    """The time of the link; None if unknown."""


class LinkRequest(Struct, frozen=True):
    """A request to link two identities. `redeemer` is None until the code is entered."""

    id: str
    """The id of the request, which its buttons carry."""
    tenant: str
    """The tenant of both identities."""
    state: LinkState
    """The step that was done last."""
    maker: LinkSide
    """The identity that asked for the link and got the code."""
    redeemer: LinkSide | None
    until: datetime
    """The end of the request's validity."""

    def opposite(self, person: str) -> LinkSide | None:
        """Return the other side of the request."""
        return self.redeemer if person == self.maker.person else self.maker

    def own(self, person: str) -> LinkSide | None:
        """Return this person's side of the request; None for other people."""
        return next((s for s in (self.maker, self.redeemer) if s and s.person == person), None)


class LinkStep(Struct, frozen=True):
    """The outcome of a step, and the request after it, or as it ended."""

    outcome: LinkOutcome
    request: LinkRequest | None = None


class PersonalDataStore(Protocol):
    """A store that can export and erase what it holds about a person."""

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return everything as JSON-like values with a "table" key."""
        ...

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        """Return the number of rows that `export` returns, by "table"; none for empty ones."""
        ...

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Delete everything; return the number of rows. What the answer to `turn_id` needs stays
        until it is sent."""
        ...


class PlaceCount(Struct, frozen=True):
    """The data about a person in one place: memories that were learned there, and sides of
    turns. `room` is empty for direct messages, otherwise as `room_of` returns it."""

    room: str
    audience: str
    """The value of the place's `Audience`."""
    learned: int
    said: int
    """The number of sides of turns."""


class TenantProject(Struct, frozen=True):
    """A project of a tenant, and the number of entries that wait for an operator there."""

    id: str
    """The id of the project, as `project_of` returns it."""
    title: str
    """The name that people read; empty if none is known."""
    waiting: int
    """The number of entries that wait."""


class WorkingMemory(PersonalDataStore, Protocol):
    """Working memory: turns, tasks and summaries of conversations, stored for
    `context.ttl_hours`."""

    async def working(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return rows of "turns" and "conversation_notes", as `export` does."""
        ...

    async def clear(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete the rows of these people; return their number."""
        ...


class PersonCount(Struct, frozen=True):
    """The number of a person's memories and open reviews; `person` is a `str(PersonId)`."""

    person: str
    episodic: int
    """The number of episodic memories, turns included."""
    semantic: int
    """The number of lasting memories."""
    waiting: int
    """The number of open reviews."""


MAX_TASK_TEXT: Final = 2_000
"""Characters of a task with its details."""


class AgentTasks(Protocol):
    """Stores tasks. `person` is a `str(PersonId)`; `agent` is empty for the person's own. Every
    method raises `StoreUnavailable`."""

    async def task(self, tenant: str, person: str, agent: str) -> str:
        """Return the task, empty for none."""
        ...

    async def set_task(self, tenant: str, person: str, agent: str, text: str, at: datetime) -> None:
        """Replace the task; an empty text ends it."""
        ...
