"""Storage of memories: storing, finding, deleting, and following edits of chat messages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from memory.model.record import Embedding, Kind, Record, Scope, SourceType, Tier, Trust
from memory.model.scope import AccessScope


class Duplicate(Struct, frozen=True):
    """A stored memory with nearly the same text; `similarity` is 0 to 1."""

    id: str
    """The id of the stored memory."""
    similarity: float


class Insertion(Struct, frozen=True):
    """The result of storing a record.

    `stored` is false if there is a `duplicate`, if the plan is full (`quota`: used, limit), or if
    the memory that it supersedes does not exist (`missing`).
    """

    stored: bool
    duplicate: Duplicate | None = None
    quota: tuple[int, int] | None = None
    missing: str = ""


class Filter(Struct, frozen=True):
    """A selection of memories. Empty values do not filter; all `tags` have to match.

    With a `text` the best matches of its words come first, otherwise the newest. `unfinished`: the
    last word may be incomplete, as during typing. `at` excludes memories that are not true at that
    time; `since` (inclusive) and `until` bound the time of writing. `during` selects what was
    written from its first moment to before its last, or has a time in which it is true that reaches
    into it. `turns` selects only turns, or
    (False) only what was learned. `limit` is 1 to 1,000.
    """

    text: str = ""
    tags: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    """The kinds that match."""
    tiers: tuple[Tier, ...] = ()
    """The tiers that match."""
    own_only: bool = False
    """True for the person's own memories only."""
    superseded: bool = False
    """True to include memories that were replaced."""
    at: datetime | None = None
    after_id: str = ""
    """The last id of the page before; empty for the first page."""
    limit: int = 20
    scopes: tuple[Scope, ...] = ()
    """The scopes that match."""
    since: datetime | None = None
    until: datetime | None = None
    unfinished: bool = False
    turns: bool | None = None
    sources: tuple[SourceType, ...] = ()
    """The sources that match."""
    trusts: tuple[Trust, ...] = ()
    """The degrees of trust that match."""
    during: tuple[datetime, datetime] | None = None
    similar: bool = False
    """True to find the person's own memories that are closest to the text by its telling words, in
    bounded time and without a next page."""


class Match(Struct, frozen=True):
    """A memory and its score from 0 to 1, 1 for the best; 0 without a text."""

    record: Record
    """The memory, without its vector."""
    score: float


class Unembedded(Struct, frozen=True):
    """A memory without a vector. Numbers grow with every memory."""

    number: int
    """The number of its row."""
    id: str
    """The id of the memory."""
    text: str
    """The text to make a vector of."""


class TextVector(Struct, frozen=True):
    """The vector of a memory's text. It is not stored if the memory has another text by now."""

    memory_id: str
    """The id of the memory."""
    text: str
    embedding: Embedding
    """The vector with the name of its model."""


class ChangedMemory(Struct, frozen=True):
    """A memory or open review of `person` that an edit or a deletion changed or removed."""

    person: str
    id: str
    """The id of the memory or review."""


class MemoryStore(Protocol):
    """The stored memories. Every method raises `StoreUnavailable`."""

    async def insert(
        self, access: AccessScope, record: Record, *, threshold: float | None, quota: int | None
    ) -> Insertion:
        """Store a record, together with all checks, in one transaction.

        It is not stored if a current memory of the same owner and scope has a word similarity of at
        least `threshold` (except the superseded one; None compares nothing), or if the owner has
        `quota` current memories. The superseded memory has to be changeable within `access`, and is
        marked. A known id changes nothing and counts as stored.
        """
        ...

    async def like(
        self, access: AccessScope, record: Record, *, threshold: float
    ) -> Duplicate | None:
        """Return the current memory that would make `insert` reject this one as a duplicate."""
        ...

    async def keep_turns(self, access: AccessScope, records: Sequence[Record]) -> None:
        """Store turns (records with a `role`) without checks, replacing those with the same id."""
        ...

    async def find(self, access: AccessScope, filters: Filter) -> list[Match]:
        """Return visible matches without their vectors; expired memories never match."""
        ...

    async def get(self, access: AccessScope, memory_id: str) -> Record | None:
        """Return one memory with its vector, or None if it is missing or not visible."""
        ...

    async def visible(self, access: AccessScope, memory_ids: Sequence[str]) -> set[str]:
        """Return the ids of those memories that exist, are still true and are visible."""
        ...

    async def count(self, access: AccessScope) -> int:
        """Return the number of the person's own current memories, without turns."""
        ...

    async def tally(self, access: AccessScope, filters: Filter) -> dict[Kind, int]:
        """Count the person's own matches by kind, ignoring text, limit and `after_id`."""
        ...

    async def delete(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete changeable memories with their index entries and vectors; return their ids."""
        ...

    async def take_back(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete changeable memories as if they had never been stored: a memory that one of them
        superseded is current again, or superseded by its successor. Return the deleted ids."""
        ...

    async def restore(self, access: AccessScope, memory_id: str) -> str | None:
        """Make a changeable memory that was superseded current again; what superseded it stays.
        Return the id of the current memory that now stands beside it, empty if that is gone; None
        if nothing was restored."""
        ...

    async def clear(self, access: AccessScope, tiers: Sequence[Tier]) -> int:
        """Delete all of the person's own memories of these tiers; return their number."""
        ...

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        """True if a memory or open review is derived from one of these messages."""
        ...

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[ChangedMemory]:
        """Delete unconfirmed memories and open reviews that are derived from deleted messages.
        `channel` is (platform, account, channel id)."""
        ...

    async def revise_message(
        self,
        tenant: str,
        channel: tuple[str, str, str],
        message_id: str,
        content: str,
        *,
        suspicious: bool = False,
    ) -> list[ChangedMemory]:
        """Replace the stored turn of an edited message, and delete other unconfirmed memories
        derived from it. The trust of a `suspicious` text becomes low."""
        ...

    async def embed(self, vectors: Sequence[TextVector]) -> int:
        """Set the vectors of memories that still exist with this text; return their number, 0
        without vector support."""
        ...

    async def unembedded(
        self,
        model: str,
        limit: int,
        before: int | None = None,
        after: int = 0,
        dimension: int = 0,
    ) -> list[Unembedded]:
        """Return current memories without a vector of this model, newest first, with numbers
        between `after` and `before`. A vector with another `dimension`, if one is given, does not
        count."""
        ...

    async def embedded(self, model: str) -> tuple[int, int]:
        """Return the number of memories with a vector of this model, and of all memories."""
        ...

    async def dimensions(self, model: str) -> dict[int, int]:
        """Return the number of vectors of this model by their dimension."""
        ...

    async def prune(self, now: datetime, superseded_before: datetime) -> list[str]:
        """Delete a batch of memories that expired, or were superseded before that time; return
        their ids, none at the end."""
        ...
