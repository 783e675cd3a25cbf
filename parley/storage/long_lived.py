"""What lasts: conversations, usage, traces and memory, in SQLite or in PostgreSQL."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs

from db.errors import AddressInvalid
from db.sqlite import SqliteDatabase
from gateway.errors import ConfigurationError
from gateway.feedback import KEEP_FEEDBACK, FeedbackStore
from gateway.notes import NoteStore
from gateway.ports import ActivityLog, Clock
from gateway.spoken import History
from gateway.storage.sqlite.activity import SqliteActivity
from gateway.storage.sqlite.conversations import SqliteConversations
from gateway.storage.sqlite.feedback import SqliteFeedback
from gateway.storage.sqlite.keeper import SqliteKeeper
from gateway.storage.sqlite.notes import SqliteNotes
from gateway.storage.sqlite.personal import SqliteConversationPersonal
from gateway.storage.sqlite.quarantine import SqliteQuarantine
from gateway.storage.sqlite.spoken import SqliteHistory
from gateway.storage.sqlite.traces import SqliteTraces
from gateway.storage.sqlite.usage import SqliteUsage
from gateway.stores import Conversations, Keeper, QuarantineStore, Traces, UsageLedger
from memory.store.ports import WorkingMemory
from parley.storage.memory_stores import MemoryStores, on_postgres, on_sqlite
from parley.storage.schemas import SCHEMAS

KEEP_TRACES = timedelta(days=30)
KEEP_REFUSALS = timedelta(days=1)
KEEP_USAGE = timedelta(days=400)
"""A year, and the month that it is compared with. No sum of money runs longer than a month."""


@dataclass(frozen=True, slots=True)
class LongLived:
    """An engine and the stores on it. `database` is set for SQLite only."""

    conversations: Conversations
    notes: NoteStore
    history: History
    usage: UsageLedger
    traces: Traces
    feedback: FeedbackStore
    activity: ActivityLog
    keeper: Keeper
    quarantine: QuarantineStore
    memory: MemoryStores
    personal: WorkingMemory
    start: Callable[[], Awaitable[None]]
    stop: Callable[[], Awaitable[None]]
    database: SqliteDatabase | None = None

    def chores(self, clock: Clock, ttl: timedelta) -> dict[str, Callable[[], Awaitable[int]]]:
        """The tasks that forget, by name: conversations after `ttl`, traces after `KEEP_TRACES`,
        thumbs after `KEEP_FEEDBACK`, what was spent after `KEEP_USAGE`, and those of memory."""
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
        return _postgres(url, clock)
    database = open_database(url)
    return LongLived(
        conversations=SqliteConversations(database),
        notes=SqliteNotes(database),
        history=SqliteHistory(database),
        usage=SqliteUsage(database, clock),
        traces=SqliteTraces(database),
        feedback=SqliteFeedback(database),
        activity=SqliteActivity(database),
        keeper=SqliteKeeper(database),
        quarantine=SqliteQuarantine(database),
        memory=on_sqlite(database, clock),
        personal=SqliteConversationPersonal(database, clock),
        start=database.start,
        stop=database.stop,
        database=database,
    )


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


def _postgres(url: str, clock: Clock) -> LongLived:
    # Loaded only where it is configured: the library costs memory and start-up time.
    from db.postgres import PostgresDatabase  # noqa: PLC0415
    from gateway.storage.postgres.activity import PostgresActivity  # noqa: PLC0415
    from gateway.storage.postgres.conversations import PostgresConversations  # noqa: PLC0415
    from gateway.storage.postgres.feedback import PostgresFeedback  # noqa: PLC0415 - start-up stays short
    from gateway.storage.postgres.keeper import PostgresKeeper  # noqa: PLC0415
    from gateway.storage.postgres.notes import PostgresNotes  # noqa: PLC0415
    from gateway.storage.postgres.personal import PostgresConversationPersonal  # noqa: PLC0415
    from gateway.storage.postgres.quarantine import PostgresQuarantine  # noqa: PLC0415
    from gateway.storage.postgres.spoken import PostgresHistory  # noqa: PLC0415 - start-up stays short
    from gateway.storage.postgres.traces import PostgresTraces  # noqa: PLC0415
    from gateway.storage.postgres.usage import PostgresUsage  # noqa: PLC0415

    try:
        pool = PostgresDatabase(url, SCHEMAS)
    except AddressInvalid as error:
        raise ConfigurationError(str(error)) from None
    return LongLived(
        conversations=PostgresConversations(pool),
        notes=PostgresNotes(pool),
        history=PostgresHistory(pool),
        usage=PostgresUsage(pool, clock),
        traces=PostgresTraces(pool),
        feedback=PostgresFeedback(pool),
        activity=PostgresActivity(pool),
        keeper=PostgresKeeper(pool),
        quarantine=PostgresQuarantine(pool),
        memory=on_postgres(pool, clock),
        personal=PostgresConversationPersonal(pool, clock),
        start=pool.start,
        stop=pool.stop,
    )
