"""Opens the long-lived state: conversations, usage, traces and memory, in SQLite or PostgreSQL."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs

from db import AddressInvalid, Database
from db.sqlite import SqliteDatabase
from gateway.errors import ConfigurationError
from gateway.ports import ActivityLog, Clock
from gateway.ports.conversations import ConversationNoteStore, Conversations
from gateway.ports.feedback import KEEP_FEEDBACK, FeedbackStore
from gateway.ports.history import History
from gateway.ports.quarantine import QuarantineStore
from gateway.ports.traces import Traces
from gateway.ports.unit_of_work import TurnWriter
from gateway.ports.usage import UsageLedger
from gateway.stores.activity import SqlActivity
from gateway.stores.conversation_notes import SqlConversationNotes
from gateway.stores.conversations import SqlConversations
from gateway.stores.feedback import SqlFeedback
from gateway.stores.own_messages import SqlHistory
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.quarantine import SqlQuarantine
from gateway.stores.traces import SqlTraces
from gateway.stores.unit_of_work import SqlTurnWriter
from gateway.stores.usage import SqlUsage
from memory.ports.personal_data import WorkingMemory
from parley.wiring.storage.memory_stores import MemoryStores, memory_stores
from parley.wiring.storage.schemas import SCHEMAS

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
    usage: UsageLedger
    traces: Traces
    feedback: FeedbackStore
    activity: ActivityLog
    keeper: TurnWriter
    quarantine: QuarantineStore
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
        usage=SqlUsage(database, clock),
        traces=SqlTraces(database),
        feedback=SqlFeedback(database),
        activity=SqlActivity(database),
        keeper=SqlTurnWriter(database),
        quarantine=SqlQuarantine(database),
        memory=memory_stores(database, clock),
        personal=SqlPersonalData(database, clock),
        start=start,
        stop=stop,
    )
