"""The stores of memory, on the database that holds what lasts."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from db.sqlite import SqliteDatabase
from gateway.ports import Clock
from memory.recall.ports import RecallStore
from memory.store.memories import SqlMemories
from memory.store.personal import SqlMemoryPersonal
from memory.store.ports import (
    AuditTrail,
    BrainStore,
    Census,
    HoldsPersonal,
    LinkStore,
    MemoryStore,
    PeopleStore,
    ReviewStore,
    WaitingTurns,
)
from memory.store.recall import SqlRecall
from memory.store.searching import searches_on
from memory.store.sqlite.audit import SqliteAuditLog
from memory.store.sqlite.brain import SqliteBrain
from memory.store.sqlite.census import SqliteCensus
from memory.store.sqlite.links import SqliteLinks
from memory.store.sqlite.people import SqlitePeople
from memory.store.sqlite.reviews import SqliteReviews
from memory.store.sqlite.tokens import SqliteTokens
from memory.store.tokens import TokenStore
from memory.store.waiting import SqlWaitingTurns

if TYPE_CHECKING:
    from db.postgres import PostgresDatabase


@dataclass(frozen=True, slots=True)
class MemoryStores:
    """What memory keeps. `audit_on` takes the key that seals the audit; `personal` gives out and
    erases what is somebody's, `census` counts; `upkeep` are the chores that need no setting."""

    memories: MemoryStore
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
    searches = searches_on(database)
    people, tokens = SqlitePeople(database, clock), SqliteTokens(database)
    return MemoryStores(
        memories=SqlMemories(database, clock, searches),
        recall=SqlRecall(database, clock, searches),
        people=people,
        links=SqliteLinks(database),
        reviews=SqliteReviews(database),
        waiting=SqlWaitingTurns(database),
        brain=SqliteBrain(database),
        audit_on=lambda key: SqliteAuditLog(database, key),
        personal=SqlMemoryPersonal(database),
        census=SqliteCensus(database),
        tokens=tokens,
        upkeep={
            "people": lambda: people.prune(clock.now()),
            "tokens": lambda: tokens.prune(clock.now()),
            "memory_index": searches.upkeep,
        },
    )


def on_postgres(pool: "PostgresDatabase", clock: Clock) -> MemoryStores:
    """The stores in PostgreSQL."""
    # Loaded only where it is configured: the library costs memory and start-up time.
    from memory.store.postgres.audit import PostgresAuditLog  # noqa: PLC0415
    from memory.store.postgres.brain import PostgresBrain  # noqa: PLC0415
    from memory.store.postgres.census import PostgresCensus  # noqa: PLC0415
    from memory.store.postgres.links import PostgresLinks  # noqa: PLC0415
    from memory.store.postgres.people import PostgresPeople  # noqa: PLC0415
    from memory.store.postgres.reviews import PostgresReviews  # noqa: PLC0415
    from memory.store.postgres.tokens import PostgresTokens  # noqa: PLC0415

    searches = searches_on(pool)
    people, tokens = PostgresPeople(pool, clock), PostgresTokens(pool)
    return MemoryStores(
        memories=SqlMemories(pool, clock, searches),
        recall=SqlRecall(pool, clock, searches),
        people=people,
        links=PostgresLinks(pool),
        reviews=PostgresReviews(pool),
        waiting=SqlWaitingTurns(pool),
        brain=PostgresBrain(pool),
        audit_on=lambda key: PostgresAuditLog(pool, key),
        personal=SqlMemoryPersonal(pool),
        census=PostgresCensus(pool),
        tokens=tokens,
        upkeep={
            "people": lambda: people.prune(clock.now()),
            "tokens": lambda: tokens.prune(clock.now()),
            "memory_index": searches.upkeep,
        },
    )
