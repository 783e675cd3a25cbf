"""Opens the state of one configuration: hot state (inbox, outbox, limits) and long-lived state
(conversations, usage, traces and memory)."""

from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar
from urllib.parse import parse_qs

from msgspec import Struct, field

from db import AddressInvalid, Database
from db.errors import REDIS, StoreUnavailable
from db.migrations import Schema
from db.sqlite import SqliteDatabase
from gateway.errors import (
    ConfigurationError,
    store_notice,
)
from gateway.ports import ActivityLog, Clock
from gateway.ports.adapter import AdapterStates
from gateway.ports.admissions import AdmissionStore
from gateway.ports.conversations import History
from gateway.ports.losses import REPEATABLE_FOR, DataLoss
from gateway.ports.queues import BacklogReader, Inbox, Outbox
from gateway.ports.unit_of_work import ERASED_TURNS, UnitOfWork
from gateway.ports.usage import Buckets
from gateway.stores import schema as gateway_schema
from gateway.stores.admissions import SqlAdmissions
from gateway.stores.appointments import AppointmentStore
from gateway.stores.break_glass import TextGrantStore
from gateway.stores.catchup import CatchUpStore
from gateway.stores.config_versions import ConfigVersions
from gateway.stores.console_sessions import ConsoleSessionStore
from gateway.stores.conversation_views import ConversationViews
from gateway.stores.conversations import ConversationNoteStore, Conversations, SqlActivity
from gateway.stores.feedback import FeedbackStore
from gateway.stores.first_contacts import FirstContacts
from gateway.stores.history import SqlHistory, SqlOwnConversations
from gateway.stores.hot_losses import HotLosses
from gateway.stores.long_lived_states import LongLivedStates
from gateway.stores.people_languages import PeopleLanguages
from gateway.stores.people_names import PeopleNames
from gateway.stores.personal_data import HotPersonalData, SqlPersonalData
from gateway.stores.place_zones import PlaceZones
from gateway.stores.proactive import ProactiveStore
from gateway.stores.quarantine import QuarantineStore
from gateway.stores.sqlite.hot_state import SqliteAdapterStates, SqliteBuckets
from gateway.stores.sqlite.lock import GatewayLock
from gateway.stores.sqlite.queues import SqliteBacklog, SqliteInbox, SqliteOutbox
from gateway.stores.takeovers import TakeoverStore
from gateway.stores.traces import Traces
from gateway.stores.turn_index import TurnWords
from gateway.stores.unit_of_work import (
    Doubts,
    LongLivedTurns,
    SqliteUnitOfWork,
    TwoStepUnitOfWork,
)
from gateway.stores.usage import UsageLedger
from gateway.stores.usage_days import UsageDays, UsageFigures
from gateway.text import NO_TEXT, Text
from gateway.turn.services import Stores
from memory import schema as memory_schema
from memory.agents.stores.agents import SqlAgents
from memory.agents.stores.direct_places import SqlDirectPlaces
from memory.agents.stores.events import EventSignal, SqlAgentEvents, SqlWebhooks
from memory.agents.stores.handoffs import SqlHandoffs
from memory.agents.stores.invitations import SqlInvitations
from memory.agents.stores.overview import SqlAgentOverview, SqlOrigins
from memory.agents.stores.pools import SqlPools
from memory.knowledge import schema as knowledge_schema
from memory.knowledge.long_documents.index import SqlLongDocuments
from memory.ports.memories import MemoryStore
from memory.ports.people import PersonalDataStore, WorkingMemory
from memory.stores.api_tokens import TokenStore
from memory.stores.audit import SqlAuditLog
from memory.stores.conflicts import ConflictStore
from memory.stores.documents import DocumentStore
from memory.stores.links import LinkStore
from memory.stores.memories import SqlMemories
from memory.stores.people import PeopleStore
from memory.stores.personal_data import MemoryCounts, SqlMemoryPersonalData
from memory.stores.reviews import ReviewStore
from memory.stores.room_bindings import RoomBindingStore
from memory.stores.search import RecallStore, searches_on
from memory.stores.waiting_turns import WaitingTurns
from memory.text.terms import index_terms, query_terms
from parley.config import Settings
from parley.runtime.housekeeping import Chore

if TYPE_CHECKING:
    from db.postgres import PostgresDatabase
    from gateway.stores.redis.hot_state import RedisHotState


T = TypeVar("T")
SCHEMAS: Final[tuple[Schema, ...]] = (
    gateway_schema.SCHEMA,
    memory_schema.SCHEMA,
    knowledge_schema.SCHEMA,
)


class HotState(Struct, frozen=True):
    """An engine and the stores on it. `shared` is set where several processes share the work;
    `database` and `unsent` for SQLite only, where one process does everything."""

    inbox: Inbox
    outbox: Outbox
    buckets: Buckets
    states: AdapterStates
    personal: PersonalDataStore
    start: Callable[[], Awaitable[None]]
    stop: Callable[[], Awaitable[None]]
    backlog: BacklogReader
    chores: Mapping[str, Chore] = field(default_factory=dict)
    database: SqliteDatabase | None = None
    shared: "RedisHotState | None" = None
    unsent: SqliteOutbox | None = None


def open_hot(
    url: str,
    clock: Clock,
    same: SqliteDatabase | None,
    losses: HotLosses,
) -> HotState:
    """The stores behind `storage.url`; nothing is opened yet. `same` is the database to use when
    the long-lived state lives in the same file; `losses` is what the database knows of Redis."""
    if url.startswith(("redis://", "rediss://")):
        return _redis(url, clock, losses)
    database = same or open_database(url)
    inbox, outbox = SqliteInbox(database, clock), SqliteOutbox(database, clock)
    buckets, states = SqliteBuckets(database, clock), SqliteAdapterStates(database, clock)
    return HotState(
        inbox=inbox,
        outbox=outbox,
        buckets=buckets,
        states=states,
        personal=HotPersonalData(inbox, outbox, states),
        start=database.start if same is None else _nothing,
        stop=database.stop if same is None else _nothing,
        backlog=SqliteBacklog(database),
        chores={
            "inbox": inbox.prune,
            "outbox": outbox.prune,
            "buckets": buckets.prune,
            "adapter_state": states.prune,
        },
        database=database,
        unsent=outbox,
    )


def _redis(url: str, clock: Clock, losses: HotLosses) -> HotState:
    from gateway.stores.redis.hot_state import RedisHotState  # noqa: PLC0415 - only where configured

    shared = RedisHotState(url, clock, record=losses)
    return HotState(
        inbox=shared.inbox,
        outbox=shared.outbox,
        buckets=shared.buckets,
        states=shared.states,
        personal=HotPersonalData(shared.inbox, shared.outbox, shared.states),
        start=shared.client.start,
        stop=shared.client.stop,
        backlog=shared.backlog,
        chores={"inbox": shared.inbox.prune, "outbox": shared.outbox.prune},
        shared=shared,
    )


async def _nothing() -> None:
    """Do nothing: the long-lived state opens and closes the shared file."""


class MemoryStores:
    """The stores of memory in an opened or unopened database. `chores` are those without
    settings."""

    def __init__(self, database: Database, clock: Clock) -> None:
        searches, signal = searches_on(database), EventSignal()
        self._database = database
        self.memories: MemoryStore = SqlMemories(database, clock, searches)
        self.clean = searches.clean
        self.recall = RecallStore(database, clock, searches)
        self.people = PeopleStore(database, clock)
        self.links = LinkStore(database)
        self.reviews = ReviewStore(database)
        self.conflicts = ConflictStore(database)
        self.waiting = WaitingTurns(database)
        self.documents = DocumentStore(database)
        self.personal: PersonalDataStore = SqlMemoryPersonalData(database)
        self.counts = MemoryCounts(database)
        self.tokens = TokenStore(database)
        self.agents = SqlAgents(database, signal)
        self.pools = SqlPools(database, signal)
        self.handoffs = SqlHandoffs(database, signal)
        self.direct_places = SqlDirectPlaces(database)
        self.agent_events = SqlAgentEvents(database, signal)
        self.event_signal = signal
        self.webhooks = SqlWebhooks(database)
        self.origins = SqlOrigins(database, signal)
        self.invitations = SqlInvitations(database, signal)
        self.agent_overview = SqlAgentOverview(database)
        self.room_bindings = RoomBindingStore(database)
        self.chores: Mapping[str, Chore] = {
            "people": lambda: self.people.prune(clock.now()),
            "tokens": lambda: self.tokens.prune(clock.now()),
            "memory_index": searches.maintain,
        }

    def audit_on(self, key: bytes) -> SqlAuditLog:
        """The audit, sealed with this key."""
        return SqlAuditLog(self._database, key)

    def with_memories(self, memories: MemoryStore) -> Self:
        """The same stores, with learned memories elsewhere."""
        changed = copy(self)
        changed.memories = memories
        return changed


TURN_WORDS: Final = TurnWords(
    lambda text: index_terms(text).split(), lambda text: [term.text for term in query_terms(text)]
)


class LongLived:
    """The stores behind `database.url`; nothing is opened yet. `connections` are those of this
    process to PostgreSQL for its work. `database` is set for SQLite only."""

    def __init__(self, url: str, clock: Clock, connections: int = 10) -> None:
        engine = _engine(url, connections)
        self._engine = engine
        self.database = engine if isinstance(engine, SqliteDatabase) else None
        self.conversations = Conversations(engine, TURN_WORDS)
        self.conversation_views = ConversationViews(engine, TURN_WORDS)
        self.people_names = PeopleNames(engine)
        self.notes = ConversationNoteStore(engine)
        self.history: History = SqlHistory(engine)
        self.own_conversations = SqlOwnConversations(engine)
        self.usage = UsageLedger(engine, clock)
        self.usage_days = UsageDays(engine)
        self.usage_figures = UsageFigures(engine)
        self.traces = Traces(engine)
        self.feedback = FeedbackStore(engine)
        self.activity: ActivityLog = SqlActivity(engine)
        self.keeper = LongLivedTurns(engine, TURN_WORDS)
        self.quarantine = QuarantineStore(engine)
        self.admissions: AdmissionStore = SqlAdmissions(engine)
        self.console_sessions = ConsoleSessionStore(engine)
        self.takeovers = TakeoverStore(engine)
        self.first_contacts = FirstContacts(engine)
        self.people_languages = PeopleLanguages(engine)
        self.place_zones = PlaceZones(engine)
        self.appointments = AppointmentStore(engine)
        self.catchup = CatchUpStore(engine)
        self.proactive = ProactiveStore(engine)
        self.text_grants = TextGrantStore(engine)
        self.config_versions = ConfigVersions(engine)
        self.hot_losses = HotLosses(engine)
        self.long_lived_states = LongLivedStates(engine, clock)
        self.memory = MemoryStores(engine, clock)
        self.working: WorkingMemory = SqlPersonalData(engine, clock)
        self.long_documents = SqlLongDocuments(engine, clock)

    async def start(self) -> None:
        """Open everything. Raises `StoreUnavailable`."""
        await self._engine.start()

    async def stop(self) -> None:
        """Close everything. Safe to call twice."""
        await self._engine.stop()


def _engine(url: str, connections: int) -> "SqliteDatabase | PostgresDatabase":
    if not url.startswith("postgresql://"):
        return open_database(url)
    # Loaded only where it is configured: the library costs memory and start-up time.
    from db.postgres import PoolLimits, PostgresDatabase  # noqa: PLC0415 - see above

    try:
        return PostgresDatabase(url, SCHEMAS, PoolLimits(connections))
    except AddressInvalid as error:
        raise ConfigurationError(str(error)) from None


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


class Storage(LongLived):
    """The short-lived and the long-lived state; one SQLite file when both URLs are the same."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        super().__init__(settings.database.url, clock, settings.database.connections)
        self._clock = clock
        same = settings.storage_url == settings.database.url
        self.hot = open_hot(
            settings.storage_url,
            clock,
            self.database if same else None,
            self.hot_losses,
        )
        self._losses: tuple[DataLoss, ...] = ()
        files = {
            Path(database.path).resolve()
            for database in (self.database, self.hot.database)
            if database is not None and database.path != ":memory:"
        }
        self._locks = [GatewayLock(file) for file in sorted(files)]
        self.stores = Stores(
            inbox=self.hot.inbox,
            outbox=self.hot.outbox,
            buckets=self.hot.buckets,
            states=self.hot.states,
            conversations=self.conversations,
            notes=self.notes,
            usage=self.usage,
            traces=self.traces,
            feedback=self.feedback,
            unit_of_work=self._unit_of_work(),
            takeovers=self.takeovers,
            appointments=self.appointments,
            proactive=self.proactive,
        )
        self.personal = (
            self.memory.personal,
            self.working,
            self.long_documents,
            self.hot.personal,
            self.catchup,
        )
        """Every store with data of a person."""

    @property
    def long_lived(self) -> SqliteDatabase:
        """The SQLite database of the long-lived state. Raises `LookupError` where that is
        PostgreSQL."""
        if self.database is None:
            raise LookupError("database.url is not SQLite")
        return self.database

    @property
    def on_postgres(self) -> bool:
        """True where the long-lived state is in PostgreSQL."""
        return self.database is None

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for an SQLite file."""
        databases = {self.database, self.hot.database} - {None}
        return sum(database.waiting for database in databases if database is not None)

    async def start(self, *, exclusive: bool = True) -> None:
        """Open everything; `exclusive` for a gateway, which locks its SQLite files against other
        gateways. A command connects to Redis when it needs it: most need only the database. Raises
        `StoreUnavailable`."""
        if exclusive:
            for lock in self._locks:
                lock.acquire()
        await super().start()
        if exclusive or self.hot.shared is None:
            await self.hot.start()
        if exclusive:
            await self.refresh_losses()

    async def stop(self) -> None:
        """Close everything. Safe to call twice."""
        await self.hot.stop()
        await super().stop()
        for lock in self._locks:
            lock.release()

    @property
    def losses(self) -> tuple[DataLoss, ...]:
        """The losses of the hot state in the last days, the latest first."""
        return self._losses if self.hot.shared is None else self.hot.shared.epoch.losses

    async def refresh_losses(self) -> None:
        """Check that the hot state has what was written to it, and read its losses. Raises
        `StoreUnavailable`."""
        if self.hot.shared is not None:
            await self.hot.shared.epoch.check()
        else:
            self._losses = await self.hot_losses.since(self._clock.now() - REPEATABLE_FOR)

    def _unit_of_work(self) -> UnitOfWork:
        database, shared = self.database, self.hot.shared
        doubts = Doubts(
            self._clock,
            lambda: self.losses,
            (lambda: shared.epoch.id) if shared is not None else str,
            self.hot_losses.answered if shared is not None else None,
        )
        if database is not None and database is self.hot.database:
            return SqliteUnitOfWork(database, self._clock, TURN_WORDS, doubts)
        erased = self.hot.states.of(*ERASED_TURNS)
        return TwoStepUnitOfWork(self.keeper, self.hot.inbox, erased, doubts)


async def read_hot(reading: Awaitable[T], otherwise: T) -> tuple[T, Text]:
    """Return what Redis holds, and the empty text; while it does not answer, `otherwise` and why
    it is missing: the rest of a page needs only the database. Raises `StoreUnavailable` for the
    database."""
    try:
        return await reading, NO_TEXT
    except StoreUnavailable as error:
        if error.store != REDIS:
            raise
        return otherwise, store_notice(error)
