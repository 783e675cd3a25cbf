"""The stores of memory, on the database that holds what lasts."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from db import Database
from gateway.ports import Clock
from memory.ports.api_tokens import TokenStore
from memory.ports.audit import AuditTrail
from memory.ports.brain import BrainStore
from memory.ports.links import LinkStore
from memory.ports.memories import MemoryStore
from memory.ports.people import PeopleStore
from memory.ports.personal_data import MemoryCounts, PersonalDataStore
from memory.ports.recall import RecallStore
from memory.ports.reviews import ReviewStore
from memory.ports.waiting_turns import WaitingTurns
from memory.stores.api_tokens import SqlApiTokens
from memory.stores.audit import SqlAuditLog
from memory.stores.brain import SqlBrain
from memory.stores.links import SqlLinks
from memory.stores.memories import SqlMemories
from memory.stores.people import SqlPeople
from memory.stores.personal_data import SqlMemoryCounts, SqlMemoryPersonalData
from memory.stores.recall import SqlRecall
from memory.stores.reviews import SqlReviews
from memory.stores.search import searches_on
from memory.stores.waiting_turns import SqlWaitingTurns


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
    personal: PersonalDataStore
    census: MemoryCounts
    tokens: TokenStore
    upkeep: Mapping[str, Callable[[], Awaitable[int]]]


def memory_stores(database: Database, clock: Clock) -> MemoryStores:
    """The stores of memory in an opened or unopened database."""
    searches = searches_on(database)
    people, tokens = SqlPeople(database, clock), SqlApiTokens(database)
    return MemoryStores(
        memories=SqlMemories(database, clock, searches),
        recall=SqlRecall(database, clock, searches),
        people=people,
        links=SqlLinks(database),
        reviews=SqlReviews(database),
        waiting=SqlWaitingTurns(database),
        brain=SqlBrain(database),
        audit_on=lambda key: SqlAuditLog(database, key),
        personal=SqlMemoryPersonalData(database),
        census=SqlMemoryCounts(database),
        tokens=tokens,
        upkeep={
            "people": lambda: people.prune(clock.now()),
            "tokens": lambda: tokens.prune(clock.now()),
            "memory_index": searches.upkeep,
        },
    )
