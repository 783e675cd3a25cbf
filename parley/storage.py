"""Opens the databases that the configuration names, and puts the stores on them."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs

from gateway.errors import ConfigurationError
from gateway.ports import Clock
from gateway.services import Stores
from gateway.storage.sqlite.adapter_state import SqliteAdapterStates
from gateway.storage.sqlite.buckets import SqliteBuckets
from gateway.storage.sqlite.conversations import SqliteConversations
from gateway.storage.sqlite.database import Database
from gateway.storage.sqlite.inbox import SqliteInbox
from gateway.storage.sqlite.journal import SqliteJournal
from gateway.storage.sqlite.lock import GatewayLock
from gateway.storage.sqlite.outbox import SqliteOutbox
from gateway.storage.sqlite.traces import SqliteTraces
from gateway.storage.sqlite.usage import SqliteUsage
from parley.settings import Settings

KEEP_TRACES = timedelta(days=30)


class Storage:
    """The stores of one configuration. One file when both URLs name the same."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._clock = clock
        self._ttl = timedelta(hours=settings.context.ttl_hours)
        self.long_lived = long_lived = open_database(settings.database.url)
        same = settings.storage_url == settings.database.url
        hot = long_lived if same else open_database(settings.storage_url)
        self._databases = (long_lived,) if same else (long_lived, hot)
        files = {Path(d.path).resolve() for d in self._databases if d.path != ":memory:"}
        self._locks = [GatewayLock(file) for file in sorted(files)]
        self._inbox = SqliteInbox(hot, clock)
        self._outbox = SqliteOutbox(hot, clock)
        self._buckets = SqliteBuckets(hot, clock)
        self._states = SqliteAdapterStates(hot, clock)
        self._conversations = SqliteConversations(long_lived)
        self._usage = SqliteUsage(long_lived, clock)
        self._traces = SqliteTraces(long_lived)
        self.stores = Stores(
            inbox=self._inbox,
            outbox=self._outbox,
            buckets=self._buckets,
            states=self._states,
            conversations=self._conversations,
            usage=self._usage,
            traces=self._traces,
            journal=SqliteJournal(long_lived, hot, clock),
        )

    async def start(self, *, exclusive: bool = True) -> None:
        """Open every file; `exclusive` for a gateway, which shares its files with no other one.
        Raises `StoreUnavailable`."""
        if exclusive:
            for lock in self._locks:
                lock.acquire()
        for database in self._databases:
            await database.start()

    async def stop(self) -> None:
        """Close every file. Safe to call twice."""
        for database in self._databases:
            await database.stop()
        for lock in self._locks:
            lock.release()

    def chores(self) -> tuple[Callable[[], Awaitable[int]], ...]:
        """What forgets, table by table."""
        return (
            self._inbox.prune,
            self._outbox.prune,
            self._buckets.prune,
            self._states.prune,
            lambda: self._conversations.prune(self._clock.now() - self._ttl),
            lambda: self._traces.prune(self._clock.now() - KEEP_TRACES),
        )


def open_database(url: str) -> Database:
    """The database behind `sqlite:///FILE`, not opened yet. `?synchronous=full` waits for the disk
    at every commit; `memory://` keeps everything in memory, for tests."""
    if url == "memory://":
        return Database(":memory:")
    if not url.startswith("sqlite:///"):
        raise ConfigurationError(f"{url.partition(':')[0]}: only sqlite:///FILE is supported")
    path, _, query = url.removeprefix("sqlite:///").partition("?")
    full = parse_qs(query).get("synchronous", ["normal"])[-1].lower() == "full"
    return Database(Path(path), synchronous="FULL" if full else "NORMAL")
