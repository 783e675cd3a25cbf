"""What memory keeps, as small Protocols. The stores beside this package implement them.

Every method that touches a person's data takes a `Reach` (`memory/scope.py`), and the filter is in
the query. Every method raises `gateway.errors.StoreUnavailable` when the database does not take or
give what was asked.
"""

from memory.store.ports.audit import (
    AuditAction,
    AuditEntry,
    AuditLog,
    AuditTrail,
    Link,
)
from memory.store.ports.brain import (
    BrainStore,
    Document,
    Version,
)
from memory.store.ports.census import (
    Census,
    Counted,
)
from memory.store.ports.links import (
    Linked,
    LinkOutcome,
    LinkRequest,
    LinkState,
    LinkStep,
    LinkStore,
    Side,
)
from memory.store.ports.memories import (
    Filter,
    Insertion,
    Like,
    Match,
    MemoryStore,
    Touched,
    Unembedded,
)
from memory.store.ports.people import (
    Arrival,
    PeopleStore,
    Self,
    Session,
    SessionUse,
)
from memory.store.ports.personal import (
    HoldsPersonal,
    WorkingMemory,
)
from memory.store.ports.reviews import (
    Pending,
    ReviewState,
    ReviewStore,
)
from memory.store.ports.searching import (
    VectorSearch,
    WordSearch,
)
from memory.store.ports.waiting import (
    TakenUp,
    WaitingTurns,
)

__all__ = [
    "Arrival",
    "AuditAction",
    "AuditEntry",
    "AuditLog",
    "AuditTrail",
    "BrainStore",
    "Census",
    "Counted",
    "Document",
    "Filter",
    "HoldsPersonal",
    "Insertion",
    "Like",
    "Link",
    "LinkOutcome",
    "LinkRequest",
    "LinkState",
    "LinkStep",
    "LinkStore",
    "Linked",
    "Match",
    "MemoryStore",
    "Pending",
    "PeopleStore",
    "ReviewState",
    "ReviewStore",
    "Self",
    "Session",
    "SessionUse",
    "Side",
    "TakenUp",
    "Touched",
    "Unembedded",
    "VectorSearch",
    "Version",
    "WaitingTurns",
    "WordSearch",
    "WorkingMemory",
]
