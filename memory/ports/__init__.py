"""What memory keeps, as small Protocols. The stores beside this package implement them.

Every method that touches a person's data takes an `AccessScope` (`memory/model/scope.py`), and the
filter is in
the query. Every method raises `gateway.errors.StoreUnavailable` when the database does not take or
give what was asked.
"""

from memory.ports.audit import (
    AuditAction,
    AuditEntry,
    AuditLog,
    AuditTrail,
    Link,
)
from memory.ports.brain import (
    BrainStore,
    Document,
    Version,
)
from memory.ports.counts import (
    MemoryCounts,
    PersonCount,
)
from memory.ports.links import (
    Linked,
    LinkOutcome,
    LinkRequest,
    LinkSide,
    LinkState,
    LinkStep,
    LinkStore,
)
from memory.ports.memories import (
    ChangedMemory,
    Duplicate,
    Filter,
    Insertion,
    Match,
    MemoryStore,
    Unembedded,
)
from memory.ports.people import (
    PeopleStore,
    PersonChoices,
    Session,
    SessionUse,
    TurnStart,
)
from memory.ports.personal_data import (
    PersonalDataStore,
    WorkingMemory,
)
from memory.ports.reviews import (
    ReviewItem,
    ReviewState,
    ReviewStore,
)
from memory.ports.search import (
    VectorSearch,
    WordSearch,
)
from memory.ports.waiting_turns import (
    ConsolidatedTurn,
    WaitingTurns,
)

__all__ = [
    "AuditAction",
    "AuditEntry",
    "AuditLog",
    "AuditTrail",
    "BrainStore",
    "ChangedMemory",
    "ConsolidatedTurn",
    "Document",
    "Duplicate",
    "Filter",
    "Insertion",
    "Link",
    "LinkOutcome",
    "LinkRequest",
    "LinkSide",
    "LinkState",
    "LinkStep",
    "LinkStore",
    "Linked",
    "Match",
    "MemoryCounts",
    "MemoryStore",
    "PeopleStore",
    "PersonChoices",
    "PersonCount",
    "PersonalDataStore",
    "ReviewItem",
    "ReviewState",
    "ReviewStore",
    "Session",
    "SessionUse",
    "TurnStart",
    "Unembedded",
    "VectorSearch",
    "Version",
    "WaitingTurns",
    "WordSearch",
    "WorkingMemory",
]
