"""The stores of one configuration."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from db.sqlite import SqliteDatabase
from gateway.ports import Clock
from gateway.ports.unit_of_work import ERASED_TURNS, UnitOfWork
from gateway.stores.sqlite.lock import GatewayLock
from gateway.stores.unit_of_work import SqliteUnitOfWork, TwoStepUnitOfWork
from gateway.turn.services import Stores
from parley.config import Settings
from parley.wiring.storage.hot_state import open_hot
from parley.wiring.storage.long_lived import open_long_lived


class Storage:
    """The short-lived and the long-lived state; one SQLite file when both URLs are the same."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._clock = clock
        self._ttl = timedelta(hours=settings.context.ttl_hours)
        self._lasting = open_long_lived(settings.database.url, clock)
        same = settings.storage_url == settings.database.url
        self.hot = open_hot(settings.storage_url, clock, self._lasting.database if same else None)
        files = {
            Path(database.path).resolve()
            for database in (self._lasting.database, self.hot.database)
            if database is not None and database.path != ":memory:"
        }
        self._locks = [GatewayLock(file) for file in sorted(files)]
        self.stores = Stores(
            inbox=self.hot.inbox,
            outbox=self.hot.outbox,
            buckets=self.hot.buckets,
            states=self.hot.states,
            conversations=self._lasting.conversations,
            notes=self._lasting.notes,
            usage=self._lasting.usage,
            traces=self._lasting.traces,
            feedback=self._lasting.feedback,
            journal=self._journal(),
        )
        self.memory = self._lasting.memory
        self.history = self._lasting.history
        self.own_conversations = self._lasting.own_conversations
        self.quarantine = self._lasting.quarantine
        self.admissions = self._lasting.admissions
        self.activity = self._lasting.activity
        self.working = self._lasting.personal
        self.personal = (self.memory.personal, self.working, self.hot.personal)
        """Every store with data of a person."""

    @property
    def long_lived(self) -> SqliteDatabase:
        """The SQLite database of the long-lived state. Raises `LookupError` where that is
        PostgreSQL."""
        if self._lasting.database is None:
            raise LookupError("database.url is not SQLite")
        return self._lasting.database

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for an SQLite file."""
        databases = {self._lasting.database, self.hot.database} - {None}
        return sum(database.waiting for database in databases if database is not None)

    async def start(self, *, exclusive: bool = True) -> None:
        """Open everything; `exclusive` for a gateway, which locks its SQLite files against other
        gateways. Raises `StoreUnavailable`."""
        if exclusive:
            for lock in self._locks:
                lock.acquire()
        await self._lasting.start()
        await self.hot.start()

    async def stop(self) -> None:
        """Close everything. Safe to call twice."""
        await self.hot.stop()
        await self._lasting.stop()
        for lock in self._locks:
            lock.release()

    def chores(self) -> dict[str, Callable[[], Awaitable[int]]]:
        """The chores that delete expired data, by the name of the store."""
        return {**self.hot.chores, **self._lasting.chores(self._clock, self._ttl)}

    def _journal(self) -> UnitOfWork:
        database = self._lasting.database
        if database is not None and database is self.hot.database:
            return SqliteUnitOfWork(database, self._clock)
        erased = self.hot.states.of(*ERASED_TURNS)
        return TwoStepUnitOfWork(self._lasting.keeper, self.hot.inbox, erased)
