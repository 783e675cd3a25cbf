"""Storage of projects, choices about privacy, waiting notices and sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from memory.ports.brain import Document, Version


@dataclass(frozen=True, slots=True)
class PersonChoices:
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
    seen: tuple[tuple[str, datetime], ...] = ()
    memory_off: bool = False
    off_here: bool = False
    notes: bool | None = None
    waiting_notices: tuple[str, ...] = ()

    @property
    def remembered(self) -> bool:
        """False if nothing of this person is recalled or stored."""
        return not (self.memory_off or self.off_here)


@dataclass(frozen=True, slots=True)
class Session:
    """A person in a conversation until 30 minutes idle. Its brief is frozen as of `brief_at`."""

    id: str
    brief_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The person, the session and the newest readable version of each document. `remembers` is
    false if there is certainly no visible memory."""

    who: PersonChoices
    session: Session
    documents: Mapping[Document, Version]
    remembers: bool = True


SessionUse = Literal["stores", "supersedes", "deletes"]


class PeopleStore(Protocol):
    """Projects, choices and sessions of people. Every method raises `StoreUnavailable`.

    `person` is the `str(PersonId)` of the caller; only `memory/service/people.py` uses this store.
    A choice counts for all linked identities.
    """

    async def start_turn(
        self,
        tenant: str,
        person: str,
        conversation: str,
        now: datetime,
        project: str | None = None,
        here: Sequence[str] = (),
    ) -> TurnStart:
        """Read everything that a turn needs, in one step.

        `project` is the room's, or None in a direct message for the chosen one; `here` are the
        names under which memory may be off in this conversation. Begins a session after 30 minutes
        idle, and notes its use to within a minute. If memory is off, the session has no id and is
        not stored.
        """
        ...

    async def note_seen(self, tenant: str, person: str, project: str, title: str) -> None:
        """Record that the person wrote in a room of this project, and may choose it."""
        ...

    async def forget_seen(self, tenant: str, project: str, person: str = "") -> int:
        """Record that this person, or everybody if empty, left the project; return the number."""
        ...

    async def projects(
        self, tenant: str, persons: Sequence[str], since: datetime
    ) -> list[tuple[str, str]]:
        """Return ids and titles of up to 100 projects they were seen in, the latest first."""
        ...

    async def seen_identities(
        self, tenant: str, persons: Sequence[str], project: str
    ) -> tuple[tuple[str, datetime], ...]:
        """Return which of these identities were seen in a project, and when last."""
        ...

    async def choose_project(self, tenant: str, person: str, project: str) -> None: ...

    async def show_private(self, tenant: str, person: str, allowed: bool) -> None: ...

    async def turn_memory(self, tenant: str, person: str, on: bool) -> None: ...

    async def show_notes(self, tenant: str, person: str, allowed: bool) -> None: ...

    async def turn_memory_in(
        self, tenant: str, person: str, here: str, on: bool, most: int
    ) -> bool:
        """Turn memory on or off for this person in one conversation; False if it is already off in
        `most` conversations."""
        ...

    async def add_notices(
        self, tenant: str, person: str, entries: Sequence[str], most: int
    ) -> None:
        """Add waiting notices; of more than `most` the oldest are dropped."""
        ...

    async def remove_notices(self, tenant: str, person: str, entries: Sequence[str]) -> None:
        """Remove waiting notices."""
        ...

    async def use(self, session_id: str, what: SessionUse, limit: int) -> bool:
        """Count one use atomically; False if the limit is already reached."""
        ...

    async def freeze_brief(
        self, session_id: str, at: datetime, before: datetime | None
    ) -> datetime:
        """Freeze the session's brief as of `at`, unless another process changed it from `before`;
        return the time that holds."""
        ...

    async def prune(self, now: datetime) -> int:
        """Delete a batch of ended sessions; return their number, 0 at the end."""
        ...

    async def prune_seen(self, before: datetime) -> int:
        """Delete a batch of visits to projects before that time; return their number."""
        ...
