"""Linked identities, projects, choices about privacy, sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from memory.ports.brain import Document, Version


@dataclass(frozen=True, slots=True)
class PersonChoices:
    """What memory knows of the person who asks. `persons` are the linked identities, theirs
    included, at most 10. `project` is the one chosen for private conversations; whether they may
    still use it says `seen`: which of `persons` were seen in the project that is meant here (the
    room's, or the chosen one), and when last.

    `memory_off`: memory is off for one of `persons`, and so for all; `off_here`: for this person in
    this conversation. `notes` is their choice about notes, None where they made none. `untold` is
    what waits to be told to this person in private, oldest first.
    """

    persons: tuple[str, ...]
    project: str = ""
    shows_private: bool = False
    seen: tuple[tuple[str, datetime], ...] = ()
    memory_off: bool = False
    off_here: bool = False
    notes: bool | None = None
    untold: tuple[str, ...] = ()

    @property
    def remembered(self) -> bool:
        """False where nothing of this person is recalled or kept."""
        return not (self.memory_off or self.off_here)


@dataclass(frozen=True, slots=True)
class Session:
    """A person in a conversation, until 30 minutes idle. `briefed` is the moment whose memories its
    brief tells, None until there is one."""

    id: str
    stores: int = 0
    supersedes: int = 0
    deletes: int = 0
    briefed: datetime | None = None


@dataclass(frozen=True, slots=True)
class TurnStart:
    """Who asks, the session, and the newest version of every document that may be read here.
    `remembers` is false where there is surely no memory that may be: nobody has to look for one."""

    who: PersonChoices
    session: Session
    documents: Mapping[Document, Version]
    remembers: bool = True


SessionUse = Literal["stores", "supersedes", "deletes"]


class PeopleStore(Protocol):
    """Linked identities, chosen projects, choices about privacy, sessions.

    `person` is the `str(PersonId)` of whoever asks: these methods are called by
    `memory/service/people.py`
    alone, which takes it from the principal.
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
        """All that a turn begins with, in one step. `project` is the room's, None in private, where
        the chosen one is meant; `here` are the names under which memory may be off in this
        conversation. A new session begins after 30 minutes idle; when one was last used is noted to
        within a minute. Where memory is off, no session is kept: its id is empty."""
        ...

    async def note_seen(self, tenant: str, person: str, project: str, title: str) -> None:
        """The person spoke in a room of this project, so they may choose it in private."""
        ...

    async def forget_seen(self, tenant: str, project: str, person: str = "") -> int:
        """This person is in the project no longer; without one, nobody is, because the bot was
        removed from it. How many are forgotten to have been seen there."""
        ...

    async def projects(
        self, tenant: str, persons: Sequence[str], since: datetime
    ) -> list[tuple[str, str]]:
        """Ids and titles of the projects they were seen in after `since`, at most 100."""
        ...

    async def seen_identities(
        self, tenant: str, persons: Sequence[str], project: str
    ) -> tuple[tuple[str, datetime], ...]:
        """Which of these identities were seen in a project, and when last."""
        ...

    async def choose_project(self, tenant: str, person: str, project: str) -> None: ...

    async def show_private(self, tenant: str, person: str, allowed: bool) -> None: ...

    async def turn_memory(self, tenant: str, person: str, on: bool) -> None:
        """Memory is on or off for all linked identities."""
        ...

    async def turn_memory_in(
        self, tenant: str, person: str, here: str, on: bool, most: int
    ) -> bool:
        """Memory is on or off for this person in one conversation; False where it is off in `most`
        already."""
        ...

    async def show_notes(self, tenant: str, person: str, allowed: bool) -> None:
        """Whether what the assistant noted is shown, for all linked identities."""
        ...

    async def add_notices(
        self, tenant: str, person: str, entries: Sequence[str], most: int
    ) -> None:
        """Add to what waits to be told to this person; of more than `most` the oldest go."""
        ...

    async def told(self, tenant: str, person: str, entries: Sequence[str]) -> None:
        """These entries wait no longer."""
        ...

    async def use(self, session_id: str, what: SessionUse, limit: int) -> bool:
        """Count one use, atomically; False when the limit is reached already."""
        ...

    async def brief(self, session_id: str, at: datetime, before: datetime | None) -> datetime:
        """From now on the session's brief is that of `at`, unless it is no longer that of `before`,
        because another process made it anew; of when it is."""
        ...

    async def prune(self, now: datetime) -> int:
        """Delete some of the sessions that are over; how many, 0 in the end."""
        ...

    async def prune_seen(self, before: datetime) -> int:
        """Forget some of who was last seen in a project before then; how many, 0 in the end."""
        ...
