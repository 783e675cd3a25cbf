"""Opens the long-lived state: conversations, usage, traces and memory, in SQLite or PostgreSQL."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from db import AddressInvalid, Database
from db.migrations import Schema
from db.sqlite import SqliteDatabase
from gateway.errors import ConfigurationError
from gateway.ports import ActivityLog, Clock
from gateway.ports.admissions import AdmissionStore
from gateway.ports.conversations import ConversationNoteStore, Conversations
from gateway.ports.feedback import KEEP_FEEDBACK, FeedbackStore
from gateway.ports.history import History
from gateway.ports.traces import Traces
from gateway.ports.unit_of_work import TurnWriter
from gateway.ports.usage import UsageLedger
from gateway.ports.work_guard import QuarantineStore
from gateway.stores import schema as gateway_schema
from gateway.stores.admissions import SqlAdmissions
from gateway.stores.conversation_notes import SqlConversationNotes
from gateway.stores.conversations import SqlActivity, SqlConversations
from gateway.stores.feedback import SqlFeedback
from gateway.stores.own_conversations import SqlOwnConversations
from gateway.stores.own_messages import SqlHistory
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.quarantine import SqlQuarantine
from gateway.stores.traces import SqlTraces
from gateway.stores.unit_of_work import SqlTurnWriter
from gateway.stores.usage import SqlUsage
from memory import schema as memory_schema
from memory.agents.ports.agents import AgentStore
from memory.agents.ports.handoffs import DirectPlaceStore, HandoffStore
from memory.agents.ports.pools import PoolStore
from memory.agents.stores.agents import SqlAgents
from memory.agents.stores.direct_places import SqlDirectPlaces
from memory.agents.stores.handoffs import SqlHandoffs
from memory.agents.stores.pools import SqlPools
from memory.ports.api_tokens import TokenStore
from memory.ports.audit import AuditTrail
from memory.ports.brain import BrainStore
from memory.ports.links import LinkStore
from memory.ports.memories import MemoryStore
from memory.ports.people import PeopleStore
from memory.ports.personal_data import MemoryCounts, PersonalDataStore, WorkingMemory
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

SCHEMAS: Final[tuple[Schema, ...]] = (gateway_schema.SCHEMA, memory_schema.SCHEMA)


@dataclass(frozen=True, slots=True)
class MemoryStores:
    """The stores of memory. `audit_on` takes the key that seals the audit; `personal` exports and
    erases the data of a person, `census` counts; `upkeep` are the chores without settings."""

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
    agents: AgentStore
    pools: PoolStore
    handoffs: HandoffStore
    direct_places: DirectPlaceStore
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
        agents=SqlAgents(database),
        pools=SqlPools(database),
        handoffs=SqlHandoffs(database),
        direct_places=SqlDirectPlaces(database),
        upkeep={
            "people": lambda: people.prune(clock.now()),
            "tokens": lambda: tokens.prune(clock.now()),
            "memory_index": searches.upkeep,
        },
    )


KEEP_TRACES = timedelta(days=30)
KEEP_REFUSALS = timedelta(days=1)
KEEP_USAGE = timedelta(days=400)
"""A year, and the month with which it is compared. Budgets cover a month at most."""

Step = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class LongLived:
    """An engine and the stores on it. `database` is set for SQLite only."""

    conversations: Conversations
    notes: ConversationNoteStore
    history: History
    own_conversations: SqlOwnConversations
    usage: UsageLedger
    traces: Traces
    feedback: FeedbackStore
    activity: ActivityLog
    keeper: TurnWriter
    quarantine: QuarantineStore
    admissions: AdmissionStore
    memory: MemoryStores
    personal: WorkingMemory
    start: Callable[[], Awaitable[None]]
    stop: Callable[[], Awaitable[None]]
    database: SqliteDatabase | None = None

    def chores(self, clock: Clock, ttl: timedelta) -> dict[str, Callable[[], Awaitable[int]]]:
        """The chores by name: they delete conversations after `ttl`, traces after `KEEP_TRACES`,
        feedback after `KEEP_FEEDBACK`, usage after `KEEP_USAGE`, and expired data of memory."""
        return {
            "conversations": lambda: self.conversations.prune(clock.now() - ttl),
            "traces": lambda: self.traces.prune(
                clock.now() - KEEP_TRACES, clock.now() - KEEP_REFUSALS
            ),
            "feedback": lambda: self.feedback.prune(clock.now() - KEEP_FEEDBACK),
            "usage": lambda: self.usage.prune(clock.now() - KEEP_USAGE),
            "admissions": lambda: self.admissions.prune(clock.now()),
            **self.memory.upkeep,
        }


def open_long_lived(url: str, clock: Clock) -> LongLived:
    """The stores behind `database.url`; nothing is opened yet."""
    if url.startswith("postgresql://"):
        # Loaded only where it is configured: the library costs memory and start-up time.
        from db.postgres import PostgresDatabase  # noqa: PLC0415 - loaded only where it is needed

        try:
            server = PostgresDatabase(url, SCHEMAS)
        except AddressInvalid as error:
            raise ConfigurationError(str(error)) from None
        return _stores(server, clock, server.start, server.stop)
    file = open_database(url)
    stores = _stores(file, clock, file.start, file.stop)
    return replace(stores, database=file)


def open_database(url: str) -> SqliteDatabase:
    """The database behind `sqlite:///FILE`, not opened yet. `?synchronous=full` waits for the disk
    at every commit; `memory://` keeps everything in memory, for tests."""
    if url == "memory://":
        return SqliteDatabase(":memory:", SCHEMAS)
    if not url.startswith("sqlite:///"):
        raise ConfigurationError(f"{url.partition(':')[0]}: write sqlite:///FILE")
    path, _, query = url.removeprefix("sqlite:///").partition("?")
    full = parse_qs(query).get("synchronous", ["normal"])[-1].lower() == "full"
    return SqliteDatabase(Path(path), SCHEMAS, synchronous="FULL" if full else "NORMAL")


def _stores(database: Database, clock: Clock, start: Step, stop: Step) -> LongLived:
    return LongLived(
        conversations=SqlConversations(database),
        notes=SqlConversationNotes(database),
        history=SqlHistory(database),
        own_conversations=SqlOwnConversations(database),
        usage=SqlUsage(database, clock),
        traces=SqlTraces(database),
        feedback=SqlFeedback(database),
        activity=SqlActivity(database),
        keeper=SqlTurnWriter(database),
        quarantine=SqlQuarantine(database),
        admissions=SqlAdmissions(database),
        memory=memory_stores(database, clock),
        personal=SqlPersonalData(database, clock),
        start=start,
        stop=stop,
    )
