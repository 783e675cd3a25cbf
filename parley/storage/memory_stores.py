"""The stores of memory, on the database that holds what lasts."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from db import Database
from gateway.ports import Clock
from memory.recall.ports import RecallStore
from memory.store.audit import SqlAuditLog
from memory.store.brain import SqlBrain
from memory.store.census import SqlCensus
from memory.store.links import SqlLinks
from memory.store.memories import SqlMemories
from memory.store.people import SqlPeople
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
from memory.store.ports.tokens import TokenStore
from memory.store.recall import SqlRecall
from memory.store.reviews import SqlReviews
from memory.store.searching import searches_on
from memory.store.tokens import SqlTokens
from memory.store.waiting import SqlWaitingTurns


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


def memory_stores(database: Database, clock: Clock) -> MemoryStores:
    """The stores of memory in an opened or unopened database."""
    searches = searches_on(database)
    people, tokens = SqlPeople(database, clock), SqlTokens(database)
    return MemoryStores(
        memories=SqlMemories(database, clock, searches),
        recall=SqlRecall(database, clock, searches),
        people=people,
        links=SqlLinks(database),
        reviews=SqlReviews(database),
        waiting=SqlWaitingTurns(database),
        brain=SqlBrain(database),
        audit_on=lambda key: SqlAuditLog(database, key),
        personal=SqlMemoryPersonal(database),
        census=SqlCensus(database),
        tokens=tokens,
        upkeep={
            "people": lambda: people.prune(clock.now()),
            "tokens": lambda: tokens.prune(clock.now()),
            "memory_index": searches.upkeep,
        },
    )
