"""The stores of memory, on the database that holds what lasts."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from db.sqlite import SqliteDatabase
from gateway.ports import Clock
from memory.recall.ports import RecallStore
from memory.store.audit import SqlAuditLog
from memory.store.brain import SqlBrain
from memory.store.census import SqlCensus
from memory.store.links import SqlLinks
from memory.store.people import SqlPeople
from memory.store.ports import (
    AuditTrail,
    BrainStore,
    Census,
    HoldsPersonal,
    LinkStore,
    MemoryStore,
    PeopleStore,
    ReviewStore,
    UnfiledMemories,
    WaitingTurns,
)
from memory.store.ports.tokens import TokenStore
from memory.store.reviews import SqlReviews
from memory.store.sqlite.memories import SqliteMemories
from memory.store.sqlite.personal import SqliteMemoryPersonal
from memory.store.sqlite.recall import SqliteRecall
from memory.store.sqlite.waiting import SqliteWaitingTurns
from memory.store.tokens import SqlTokens

if TYPE_CHECKING:
    from db.postgres import PostgresDatabase


@dataclass(frozen=True, slots=True)
class MemoryStores:
    """What memory keeps. `audit_on` takes the key that seals the audit; `personal` gives out and
    erases what is somebody's, `census` counts; `upkeep` are the chores that need no setting."""

    memories: MemoryStore
    unfiled: UnfiledMemories
    recall: RecallStore
    people: PeopleStore
    links: LinkStore
    reviews: ReviewStore
    waiting: WaitingTurns
    brain: BrainStore
    audit_on: Callable[[bytes], AuditTrail]
    personal: HoldsPersonal
    census: Census
    tokens: TokenStore
    upkeep: Mapping[str, Callable[[], Awaitable[int]]]


def on_sqlite(database: SqliteDatabase, clock: Clock) -> MemoryStores:
    """The stores in a SQLite file."""
    memories, people = SqliteMemories(database, clock), SqlPeople(database, clock)
    tokens = SqlTokens(database)
    return MemoryStores(
        memories=memories,
        unfiled=memories,
        recall=SqliteRecall(database, clock),
        people=people,
        links=SqlLinks(database),
        reviews=SqlReviews(database),
        waiting=SqliteWaitingTurns(database),
        brain=SqlBrain(database),
        audit_on=lambda key: SqlAuditLog(database, key),
        personal=SqliteMemoryPersonal(database),
        census=SqlCensus(database),
        tokens=tokens,
        upkeep={
            "people": lambda: people.prune(clock.now()),
            "tokens": lambda: tokens.prune(clock.now()),
            "memory_index": memories.merge,
        },
    )


def on_postgres(pool: "PostgresDatabase", clock: Clock) -> MemoryStores:
    """The stores in PostgreSQL."""
    # Loaded only where it is configured: the library costs memory and start-up time.
    from memory.store.postgres.memories import PostgresMemories  # noqa: PLC0415
    from memory.store.postgres.personal import PostgresMemoryPersonal  # noqa: PLC0415
    from memory.store.postgres.recall import PostgresRecall  # noqa: PLC0415
    from memory.store.postgres.waiting import PostgresWaitingTurns  # noqa: PLC0415

    memories, people = PostgresMemories(pool, clock), SqlPeople(pool, clock)
    tokens = SqlTokens(pool)
    return MemoryStores(
        memories=memories,
        unfiled=memories,
        recall=PostgresRecall(pool, clock, memories.vectors),
        people=people,
        links=SqlLinks(pool),
        reviews=SqlReviews(pool),
        waiting=PostgresWaitingTurns(pool, clock),
        brain=SqlBrain(pool),
        audit_on=lambda key: SqlAuditLog(pool, key),
        personal=PostgresMemoryPersonal(pool),
        census=SqlCensus(pool),
        tokens=tokens,
        upkeep={
            "people": lambda: people.prune(clock.now()),
            "tokens": lambda: tokens.prune(clock.now()),
            "memory_index": memories.vectors.make_index,
        },
    )
