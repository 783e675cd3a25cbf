"""Opens the short-lived state: inbox, outbox, buckets and adapter state, in SQLite or in Redis."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from db.sqlite import SqliteDatabase
from gateway.ports import Clock
from gateway.ports.adapter import AdapterStates
from gateway.ports.buckets import Buckets
from gateway.ports.inbox import BacklogReader, Inbox
from gateway.ports.outbox import DeadLetters, DeliveryLog, Outbox, OutboxReader
from gateway.stores.hot_state_personal_data import HotPersonalData
from gateway.stores.sqlite.hot_state import (
    SqliteAdapterStates,
    SqliteBacklog,
    SqliteBuckets,
    SqliteInbox,
    SqliteOutbox,
)
from memory.ports.personal_data import PersonalDataStore
from parley.wiring.storage.long_lived import open_database

if TYPE_CHECKING:
    from gateway.stores.redis.hot_state import RedisHotState

Chore = Callable[[], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class HotState:
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
    deliveries: DeliveryLog
    chores: Mapping[str, Chore] = field(default_factory=dict)
    database: SqliteDatabase | None = None
    shared: "RedisHotState | None" = None
    unsent: OutboxReader | None = None
    dead: DeadLetters | None = None


def open_hot(url: str, clock: Clock, same: SqliteDatabase | None = None) -> HotState:
    """The stores behind `storage.url`; nothing is opened yet. `same` is the database to use when
    the long-lived state lives in the same file."""
    if url.startswith(("redis://", "rediss://")):
        return _redis(url, clock)
    database = same or open_database(url)
    inbox, outbox = SqliteInbox(database, clock), SqliteOutbox(database, clock)
    buckets, states = SqliteBuckets(database, clock), SqliteAdapterStates(database, clock)
    return HotState(
        inbox=inbox,
        outbox=outbox,
        buckets=buckets,
        states=states,
        personal=HotPersonalData(inbox, outbox, outbox, states),
        start=database.start if same is None else _nothing,
        stop=database.stop if same is None else _nothing,
        backlog=SqliteBacklog(database),
        deliveries=outbox,
        chores={
            "inbox": inbox.prune,
            "outbox": outbox.prune,
            "buckets": buckets.prune,
            "adapter_state": states.prune,
        },
        database=database,
        unsent=outbox,
        dead=outbox,
    )


def _redis(url: str, clock: Clock) -> HotState:
    from gateway.stores.redis.hot_state import RedisHotState  # noqa: PLC0415 - only where configured

    shared = RedisHotState(url, clock)
    return HotState(
        inbox=shared.inbox,
        outbox=shared.outbox,
        buckets=shared.buckets,
        states=shared.states,
        personal=HotPersonalData(shared.inbox, shared.outbox, shared.outbox, shared.states),
        start=shared.client.start,
        stop=shared.client.stop,
        backlog=shared.backlog,
        deliveries=shared.outbox,
        chores={"inbox": shared.inbox.prune, "outbox": shared.outbox.prune},
        shared=shared,
        dead=shared.outbox,
    )


async def _nothing() -> None:
    """Do nothing: the long-lived state opens and closes the shared file."""
