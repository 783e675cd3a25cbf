"""What memory keeps, as small Protocols; `sqlite/` and `postgres/` implement all of them.

Every method that touches a person's data takes a `Reach` (`memory/scope.py`), and the filter is in
the query. Every method raises `gateway.errors.StoreUnavailable` when the database does not take or
give what was asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from gateway.remembering import WaitingTurn
from memory.record import Embedding, Kind, Record, Scope, Tier
from memory.scope import Reach

# --- memories -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Like:
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
    duplicate: Like | None = None
    quota: tuple[int, int] | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories are wanted. Empty values do not filter; `tags` have to be there all.

    `text` is looked up word by word, best first; without it the newest come first. `unfinished`
    says that its last word may go on, as while somebody types. `at` leaves out what is not true at
    that time; `since` and `until` bound when it was written, the former included. `limit` is 1 to
    1,000.
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
class Touched:
    """A memory, or one that waits for review, which an edit or a deletion changed or took along;
    `person` is whose it is."""

    person: str
    id: str


class MemoryStore(Protocol):
    """The records."""

    async def insert(
        self, reach: Reach, record: Record, *, threshold: float, quota: int | None
    ) -> Insertion:
        """Store a record, in one step with everything that speaks against it.

        Not stored when a current memory of the same owner and scope has a word similarity of at
        least `threshold` (unless it is the one superseded), or when the owner has `quota` current
        memories. What it supersedes has to be within reach and changeable, and is marked. The same
        id again replaces nothing and is reported as stored.
        """
        ...

    async def like(self, reach: Reach, record: Record, *, threshold: float) -> Like | None:
        """The current memory that would keep `insert` from storing this one as a duplicate."""
        ...

    async def keep_turns(self, reach: Reach, records: Sequence[Record]) -> None:
        """Store turns of a conversation (`role` is set), without any check; the same id again is
        replaced. They count towards no quota and are no duplicates of anything."""
        ...

    async def find(self, reach: Reach, wanted: Filter) -> list[Match]:
        """What may be seen and fits; expired memories never do."""
        ...

    async def get(self, reach: Reach, memory_id: str) -> Record | None:
        """One memory, None when there is none or it may not be seen."""
        ...

    async def visible(self, reach: Reach, memory_ids: Sequence[str]) -> set[str]:
        """Which of these memories are still there and may be seen."""
        ...

    async def count(self, reach: Reach) -> int:
        """How many current memories of their own this person has; turns do not count."""
        ...

    async def delete(self, reach: Reach, memory_ids: Sequence[str]) -> list[str]:
        """Delete what may be changed, its index entries and vectors with it; returns the ids that
        went."""
        ...

    async def clear(self, reach: Reach, tiers: Sequence[Tier]) -> int:
        """Delete everything of the person's own in these tiers; returns how many."""
        ...

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        """True when a memory, or one that waits for review, goes back to one of these messages."""
        ...

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[Touched]:
        """A chat message was deleted: delete what was derived from it and never confirmed, also
        where it still waits for review.

        `channel` is (platform, account, channel id). Returns what went.
        """
        ...

    async def revise_message(
        self, tenant: str, channel: tuple[str, str, str], message_id: str, content: str
    ) -> list[Touched]:
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


# --- turns that wait ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TakenUp:
    """A turn that waited, and the sides of it that are to be kept."""

    turn: WaitingTurn
    reach: Reach
    records: tuple[Record, ...]


class WaitingTurns(Protocol):
    """Turns that the gateway kept as they were said (`gateway.stores.Completed`)."""

    async def oldest(self, limit: int) -> list[WaitingTurn]:
        """The oldest first."""
        ...

    async def within(self, reach: Reach, limit: int) -> list[WaitingTurn]:
        """What this person said, and what was said in this room, oldest first."""
        ...

    async def saying(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str], limit: int
    ) -> list[WaitingTurn]:
        """Those that go back to one of these messages."""
        ...

    async def take_up(self, turns: Sequence[TakenUp]) -> set[str]:
        """Keep the records in place of the turns, in one step; only of those that still wait as
        they were. The ids of those."""
        ...

    async def count(self) -> int:
        """How many wait."""
        ...


# --- people, projects, sessions -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Self:
    """What memory knows of the person who asks. `persons` are the linked identities, theirs
    included, at most 10."""

    persons: tuple[str, ...]
    project: str = ""
    shows_private: bool = False
    plan: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """A person in a conversation, until 30 minutes idle."""

    id: str
    stores: int = 0
    supersedes: int = 0
    deletes: int = 0


Document = Literal["soul", "bible", "heartbeat"]


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a document. `author` is a `str(PersonId)`, or "system"; `number` counts from 1.

    `synced_at` is set for a HEARTBEAT.
    """

    document: Document
    number: int
    content: str
    author: str
    at: datetime
    synced_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who asks, the session, and the newest version of every document that may be read here.
    `remembers` is false where there is surely no memory that may be: nobody has to look for one."""

    who: Self
    session: Session
    documents: Mapping[Document, Version]
    remembers: bool = True


SessionUse = Literal["stores", "supersedes", "deletes"]


class PeopleStore(Protocol):
    """Linked identities, chosen projects, choices about privacy, sessions.

    `person` is the `str(PersonId)` of whoever asks: these methods are called by `memory/people.py`
    alone, which takes it from the principal.
    """

    async def arrive(
        self, tenant: str, person: str, conversation: str, now: datetime, project: str | None = None
    ) -> Arrival:
        """All that a turn begins with, in one step. `project` is the room's, None in private, where
        the chosen one is meant. A new session begins after 30 minutes idle; when one was last used
        is noted to within a minute."""
        ...

    async def seen_in(self, tenant: str, person: str, project: str, title: str) -> None:
        """The person spoke in a room of this project, so they may choose it in private."""
        ...

    async def projects(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, str]]:
        """Ids and titles of the projects they were seen in, at most 100."""
        ...

    async def choose_project(self, tenant: str, person: str, project: str) -> None: ...

    async def show_private(self, tenant: str, person: str, allowed: bool) -> None: ...

    async def offer_link(self, tenant: str, person: str, code_hash: str, until: datetime) -> None:
        """Keep a one-time code; a person has one at a time."""
        ...

    async def take_link(self, tenant: str, person: str, code_hash: str, now: datetime) -> str:
        """Use a code up and link both; the other person, empty when there is no such code."""
        ...

    async def unlink(self, tenant: str, person: str) -> int:
        """Leave the others; returns how many there were."""
        ...

    async def use(self, session_id: str, what: SessionUse, limit: int) -> bool:
        """Count one use, atomically; False when the limit is reached already."""
        ...

    async def prune(self, now: datetime) -> int:
        """Delete some of the sessions that are over and the codes that are too old; how many, 0 in
        the end."""
        ...


# --- review -------------------------------------------------------------------------------------

ReviewState = Literal["pending", "approved", "rejected"]


@dataclass(frozen=True, slots=True)
class Pending:
    """A memory that waits for its owner's word. `reason` says why it was not stored at once."""

    id: str
    record: Record
    reason: str
    submitted_at: datetime
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    state: ReviewState = "pending"
    decided_at: datetime | None = None
    note: str = ""
    target: str = ""
    """Empty for a memory; "bible" for a proposal to rewrite a project's document."""


class ReviewStore(Protocol):
    """The review queue: at most 100 a person, 10,000 in all, a history of 10,000."""

    async def add(self, reach: Reach, pending: Pending) -> bool:
        """False when the queue is full, the person's or all of it."""
        ...

    async def waiting(self, reach: Reach, limit: int) -> list[Pending]:
        """What waits for this person's word, oldest first; for operators also what waits for a
        project of theirs."""
        ...

    async def get(self, reach: Reach, review_id: str) -> Pending | None: ...

    async def take(
        self, reach: Reach, review_id: str, state: ReviewState, note: str, now: datetime
    ) -> Pending | None:
        """Decide, once: the entry goes to the first who asks, None to everybody else. Its text
        goes with it: what stays is who, where, when, why and how it was decided."""
        ...

    async def put_back(self, reach: Reach, pending: Pending) -> None:
        """What was taken could not be stored: it waits again, as it was."""
        ...

    async def history(self, reach: Reach, limit: int) -> list[Pending]:
        """What was decided, the latest first, without its text."""
        ...


# --- the brain ----------------------------------------------------------------------------------


class BrainStore(Protocol):
    """SOUL by person, BIBLE and HEARTBEAT by project; every version is kept, 200 at most."""

    async def read(self, reach: Reach, document: Document) -> Version | None:
        """The newest version within reach: a SOUL only where `reach.private`."""
        ...

    async def write(
        self,
        reach: Reach,
        document: Document,
        content: str,
        author: str,
        at: datetime,
        *,
        based_on: int | None = None,
        synced_at: datetime | None = None,
    ) -> Version | None:
        """Add a version; None when `based_on` is not the newest any more."""
        ...

    async def versions(self, reach: Reach, document: Document, limit: int) -> list[Version]:
        """Newest first."""
        ...


# --- audit --------------------------------------------------------------------------------------

AuditAction = Literal[
    "memory_write",
    "memory_read",
    "memory_delete",
    "memory_bulk_delete",
    "memory_ttl_cleanup",
    "secret_redacted",
    "poisoning_attempt_blocked",
    "memory_review",
    "brain_write",
    "people_link",
    "memory_export",
    "memory_import",
    "memory_erase",
]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What happened, without content: ids, counts, sizes, codes. At most 20 details."""

    action: AuditAction
    tenant: str
    person: str
    at: datetime
    details: tuple[tuple[str, str | int], ...] = field(default=())


class AuditLog(Protocol):
    """Append-only and chained by hashes, apart from memory."""

    async def append(self, entry: AuditEntry) -> None: ...


@dataclass(frozen=True, slots=True)
class Link:
    """An entry in its place of the chain; `number` counts from 1 without gaps."""

    number: int
    entry: AuditEntry
    previous: str
    hash: str


class AuditTrail(AuditLog, Protocol):
    """An audit that can be read again."""

    async def links(self, after: int, limit: int) -> list[Link]:
        """Entries in order, from the one behind `after` on."""
        ...


# --- of whom there is something ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counted:
    """A person by `str(PersonId)`, how much is kept of them, and what waits for their word."""

    person: str
    episodic: int
    semantic: int
    waiting: int


class Census(Protocol):
    """For whoever runs the program: who is known, never what of them."""

    async def known(self, tenant: str, limit: int) -> list[Counted]: ...


# --- everything of a person ---------------------------------------------------------------------


class HoldsPersonal(Protocol):
    """A store that holds something of a person's: it can give it out and erase it."""

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Everything, as JSON-like values with a "table" key."""
        ...

    async def erase(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete all of it; how many rows went."""
        ...
