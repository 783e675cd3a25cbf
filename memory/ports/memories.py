"""Memories: storing, finding, deleting, and what an edit or a deletion in a chat does to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory.model.record import Embedding, Kind, Record, Scope, Tier
from memory.model.scope import AccessScope


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A stored memory whose text is close to a new one; `similarity` is 0 to 1."""

    id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Insertion:
    """What became of a record that was to be stored.

    `stored` is false when `duplicate` names what is there already, when `quota` tells how many of
    how many are used, or when what it supersedes is not there (`missing`).
    """

    stored: bool
    duplicate: Duplicate | None = None
    quota: tuple[int, int] | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories are wanted. Empty values do not filter; `tags` have to be there all.

    `text` is looked up word by word, best first; without it the newest come first. `unfinished`
    says that its last word may go on, as while somebody types. `at` leaves out what is not true at
    that time; `since` and `until` bound when it was written, the former included. `said` wants only
    turns of conversations, or (False) only what was learned. `limit` is 1 to 1,000.
    """

    text: str = ""
    tags: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tiers: tuple[Tier, ...] = ()
    own_only: bool = False
    superseded: bool = False
    at: datetime | None = None
    after_id: str = ""
    limit: int = 20
    scopes: tuple[Scope, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    unfinished: bool = False
    said: bool | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A memory that was found; `score` is 0 to 1, 1 the best of its list; 0 without a text."""

    record: Record
    score: float


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory without a vector. Numbers grow with every memory."""

    number: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """A memory, or one that waits for review, which an edit or a deletion changed or took along;
    `person` is whose it is."""

    person: str
    id: str


class MemoryStore(Protocol):
    """The records."""

    async def insert(
        self, access: AccessScope, record: Record, *, threshold: float, quota: int | None
    ) -> Insertion:
        """Store a record, in one step with everything that speaks against it.

        Not stored when a current memory of the same owner and scope has a word similarity of at
        least `threshold` (unless it is the one superseded), or when the owner has `quota` current
        memories. What it supersedes has to be within reach and changeable, and is marked. The same
        id again replaces nothing and is reported as stored.
        """
        ...

    async def like(
        self, access: AccessScope, record: Record, *, threshold: float
    ) -> Duplicate | None:
        """The current memory that would keep `insert` from storing this one as a duplicate."""
        ...

    async def keep_turns(self, access: AccessScope, records: Sequence[Record]) -> None:
        """Store turns of a conversation (`role` is set), without any check; the same id again is
        replaced. They count towards no quota and are no duplicates of anything."""
        ...

    async def find(self, access: AccessScope, wanted: Filter) -> list[Match]:
        """What may be seen and fits; expired memories never do."""
        ...

    async def get(self, access: AccessScope, memory_id: str) -> Record | None:
        """One memory, None when there is none or it may not be seen."""
        ...

    async def visible(self, access: AccessScope, memory_ids: Sequence[str]) -> set[str]:
        """Which of these memories are still there and true, and may be seen."""
        ...

    async def count(self, access: AccessScope) -> int:
        """How many current memories of their own this person has; turns do not count."""
        ...

    async def tally(self, access: AccessScope, wanted: Filter) -> dict[Kind, int]:
        """How many of the person's own there are of each kind, of what `find` would give without a
        text, a limit and an `after_id`."""
        ...

    async def delete(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete what may be changed, its index entries and vectors with it; returns the ids that
        went."""
        ...

    async def take_back(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete what may be changed as if it had never been stored: what one of them superseded is
        current again, or superseded by what superseded it. Returns the ids that went."""
        ...

    async def clear(self, access: AccessScope, tiers: Sequence[Tier]) -> int:
        """Delete everything of the person's own in these tiers; returns how many."""
        ...

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        """True when a memory, or one that waits for review, goes back to one of these messages."""
        ...

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[ChangedMemory]:
        """A chat message was deleted: delete what was derived from it and never confirmed, also
        where it still waits for review.

        `channel` is (platform, account, channel id). Returns what went.
        """
        ...

    async def revise_message(
        self, tenant: str, channel: tuple[str, str, str], message_id: str, content: str
    ) -> list[ChangedMemory]:
        """A chat message was edited: replace the stored turn, delete what else was derived from it
        and never confirmed. Returns what was touched."""
        ...

    async def embed(self, vectors: Sequence[tuple[str, Embedding]]) -> int:
        """Set the vectors of these memories, where they still exist; returns how many do."""
        ...

    async def unembedded(
        self, model: str, limit: int, before: int | None = None, after: int = 0
    ) -> list[Unembedded]:
        """Current memories without a vector of this model, newest first, for the background work
        that makes them; of those that are numbered below `before` and above `after`."""
        ...

    async def embedded(self, model: str) -> tuple[int, int]:
        """How many memories have a vector of this model, of how many."""
        ...

    async def prune(self, now: datetime, superseded_before: datetime) -> list[str]:
        """Delete some of what expired, or was superseded before then; the ids, none in the end."""
        ...
