"""A pool of connections to PostgreSQL: few, bounded in every wait, reconnected after an outage."""

import asyncio
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import Any, Final, LiteralString, TypeVar, cast

import psycopg
from msgspec import Struct
from psycopg import AsyncConnection, AsyncCursor, AsyncPipeline
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import DeadlockDetected, PipelineAborted, ReadOnlySqlTransaction
from psycopg.rows import TupleRow
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from db.database import Reader
from db.errors import NOT_LAST, POSTGRES, AddressInvalid, StoreUnavailable, WorkMisused
from db.migrations import Schema, migrate_postgres
from db.poolers import SHARED, shares_sessions
from db.statements import Engine, Statement
from db.transaction import (
    NO_PARAMS,
    Change,
    ChangeMany,
    Execute,
    Fetch,
    Lock,
    Params,
    Row,
    Single,
    Step,
    Together,
    Work,
)

T = TypeVar("T")
Connection = AsyncConnection[TupleRow]
Cursor = AsyncCursor[TupleRow]

CONNECTION_DEFAULTS: Final = {
    "application_name": "parley",
    "connect_timeout": "3",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""Defaults of the URL in seconds, the last one in milliseconds. They detect a vanished server after
some ten seconds."""
CLIENT_GRACE: Final = 1.0
"""Seconds that the client waits longer for a statement than the server works on it."""
MAX_WAITING: Final = 2_000
"""Pieces of work that may wait for a connection; one more is refused at once."""
DRAIN_PAUSE: Final = 5.0
"""Seconds between two replacements of all connections."""
DEADLOCK_TRIES: Final = 3
"""Attempts of work that the server undoes in a deadlock."""
DEADLOCK_PAUSE: Final = 0.1
"""Seconds between attempts, varied at random by up to half."""
TAKE_LOCKS: Final = b"SELECT pg_advisory_xact_lock(key) FROM unnest(%s::bigint[]) AS key"
"""Sorted keys, so that two transactions never wait for each other."""

TRY_LOCK: Final = b"SELECT pg_try_advisory_lock(%s)"
FREE_LOCKS: Final = b"SELECT pg_advisory_unlock_all()"


class PoolLimits(Struct, frozen=True):
    """The number of connections, and how long anything may take (seconds).

    `extra` are those of long reads and background work beside the pool. `checkout` is the wait for
    a free connection, which also bridges a restart of the server; the
    server enforces `statement`, and the client a second later.
    """

    connections: int = 10
    extra: int = 6
    checkout: float = 5.0
    statement: float = 5.0


def server_of(url: str) -> tuple[str, str]:
    """Return the name of a server for people, and its connection parameters. Raises
    `AddressInvalid`."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        raise AddressInvalid(  # the cause would show the password
            "database.url is not an address that PostgreSQL understands; write"
            " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        ) from None
    name = f"{given.get('host') or 'localhost'}/{given.get('dbname') or 'postgres'}"
    return name, make_conninfo(url, **{**CONNECTION_DEFAULTS, **given})


class PostgresDatabase:
    """Implements `db.database.Database` for a `postgresql://` URL. The URL sets TLS and whatever
    else libpq knows (`?sslmode=verify-full&sslrootcert=FILE`)."""

    engine: Engine = "postgres"

    def __init__(
        self, url: str, schemas: Sequence[Schema], limits: PoolLimits | None = None
    ) -> None:
        """Does not connect yet. Raises `AddressInvalid`."""
        self._limits = limits or PoolLimits()
        self._schemas = tuple(schemas)
        self.name, self._conninfo = server_of(url)
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._unfinished: set[asyncio.Task[None]] = set()
        self._drained_at = -math.inf
        self._readers = asyncio.Semaphore(self._limits.extra // 2)
        self._background = asyncio.Semaphore(self._limits.extra - self._limits.extra // 2)

    async def start(self) -> None:
        """Connect, bring the tables up to date. Raises `StoreUnavailable`, `SchemaTooNew`."""
        try:
            async with await AsyncConnection.connect(self._conninfo, autocommit=True) as connection:
                if await shares_sessions(connection, self._conninfo):
                    raise StoreUnavailable(SHARED)
                await migrate_postgres(connection, self._schemas)
        except (psycopg.Error, OSError) as error:
            raise self._unavailable(error, "cannot open ") from error
        self._pool = AsyncConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True, "prepare_threshold": 0},
            min_size=1,
            max_size=self._limits.connections,
            open=False,
            configure=self._configure,
            name=f"postgres {self.name}",
            timeout=self._limits.checkout,
            max_waiting=MAX_WAITING,
            reconnect_timeout=self._limits.checkout,
        )
        await self._pool.open()

    async def stop(self) -> None:
        """Close every connection. Safe to call twice."""
        pool, self._pool = self._pool, None
        if pool is not None:
            if self._unfinished:
                await asyncio.wait(self._unfinished, timeout=self._limits.checkout)
            await pool.close()

    async def run(self, make: Callable[[], Work[T]]) -> T:
        """Return the result of the work after its commit.

        If the connection breaks, the work runs a second time on another one, and it is unknown how
        much of the first was committed: repeated work changes the same rows. If the server undid it
        in a deadlock, it runs again as well.
        """
        return await self.with_connection(lambda connection: _drive(connection, make()))

    async def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> list[Row]:
        """Return all rows of one statement."""

        async def work(connection: Connection) -> list[Row]:
            return await (await _executed(connection, statement, params)).fetchall()

        return await self.with_connection(work)

    async def change(self, statement: Statement, params: Params = NO_PARAMS) -> int:
        """Run one statement; return the number of changed rows."""

        async def work(connection: Connection) -> int:
            return (await _executed(connection, statement, params)).rowcount

        return await self.with_connection(work)

    async def fetch_raw(
        self, sql: LiteralString, params: Sequence[object] | Params = ()
    ) -> list[Row]:
        """Return all rows of a statement in the dialect of PostgreSQL."""

        async def work(connection: Connection) -> list[Row]:
            return await (await connection.execute(sql, params)).fetchall()

        return await self.with_connection(work)

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[Reader]:
        """A separate connection for one read-only transaction."""
        try:
            async with (
                self._readers,
                await AsyncConnection.connect(self._conninfo) as connection,
            ):
                _type_parameters(connection)
                await connection.set_read_only(True)
                yield _PostgresReader(connection, self._unavailable)
        except (psycopg.Error, OSError) as error:
            raise self._unavailable(error) from error

    async def with_connection(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Return the result of `work(connection)`, in autocommit mode, for features of PostgreSQL
        alone. It runs twice if the connection breaks, and at most `DEADLOCK_TRIES` times in a
        deadlock."""
        pool = self._pool
        if pool is None:
            raise StoreUnavailable(f"PostgreSQL at {self.name} is not open", POSTGRES)
        try:
            for _ in range(DEADLOCK_TRIES - 1):
                with suppress(DeadlockDetected):
                    return await self._reconnected(pool, work)
                # so that the other one comes first
                await asyncio.sleep(random.uniform(0.5, 1.5) * DEADLOCK_PAUSE)  # noqa: S311 - no secret
            return await self._reconnected(pool, work)
        except (psycopg.Error, OSError, PoolTimeout, TooManyRequests, PoolClosed) as error:
            raise self._unavailable(error) from error
        except (_Broken, TimeoutError) as error:
            cause = error.__cause__ or error
            raise self._unavailable(cause) from cause

    async def without_limit(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Return the result of work that takes minutes, on its own connection without a time limit;
        never runs twice."""
        try:
            async with (
                self._background,
                await AsyncConnection.connect(self._conninfo, autocommit=True) as connection,
            ):
                return await work(connection)
        except (psycopg.Error, OSError) as error:
            raise self._unavailable(error) from error

    @asynccontextmanager
    async def session_lock(self, name: str) -> AsyncIterator[bool]:
        """Hold a lock for longer than one transaction, on a connection of its own; False at once if
        another session has it."""
        key = _lock_key(name)
        try:
            connection = await AsyncConnection.connect(
                self._conninfo, autocommit=True, connect_timeout=math.ceil(self._limits.checkout)
            )
        except (psycopg.Error, OSError) as error:
            raise self._unavailable(error) from error
        try:
            row = await (await connection.execute(TRY_LOCK, (key,))).fetchone()
            yield bool(row and row[0])
        finally:
            # The server notices a closed connection later, and refuses the next one until then.
            with suppress(psycopg.Error):
                await connection.execute(FREE_LOCKS)
            await connection.close()

    async def _reconnected(
        self,
        pool: AsyncConnectionPool[Connection],
        work: Callable[[Connection], Awaitable[T]],
    ) -> T:
        try:
            return await self._once(pool, work)
        except _ReadOnly:
            if not await self._drained(pool):
                raise
        except _Broken:
            await self._replace_broken(pool)
        return await self._once(pool, work)

    async def _once(
        self,
        pool: AsyncConnectionPool[Connection],
        work: Callable[[Connection], Awaitable[T]],
    ) -> T:
        connection = await self._checked_out(pool)
        try:
            async with asyncio.timeout(self._limits.statement + CLIENT_GRACE):
                return await work(connection)
        except psycopg.OperationalError as error:
            if connection.closed:
                raise _Broken from error
            raise
        except ReadOnlySqlTransaction as error:
            raise _ReadOnly from error
        finally:
            await self._give_back(pool, connection)

    async def _checked_out(self, pool: AsyncConnectionPool[Connection]) -> Connection:
        """Return a connection, unless the caller was cancelled meanwhile. The pool waits with
        `asyncio.wait_for`, which loses a cancellation before Python 3.12."""
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        connection = await pool.getconn()
        if task is not None and task.cancelling() > before:
            await self._give_back(pool, connection)
            raise asyncio.CancelledError
        return connection

    async def _give_back(
        self, pool: AsyncConnectionPool[Connection], connection: Connection
    ) -> None:
        """Return a connection, also if the caller is cancelled meanwhile. The pool would lose it
        then, and with it the caller that waits for it (psycopg_pool 3.3)."""
        await self._uninterrupted(pool.putconn(connection))

    def _uninterrupted(self, work: Coroutine[Any, Any, None]) -> "asyncio.Future[None]":
        """Work of the pool that goes on if the caller is cancelled."""
        task = asyncio.create_task(work)
        self._unfinished.add(task)
        task.add_done_callback(self._unfinished.discard)
        return asyncio.shield(task)

    async def _replace_broken(self, pool: AsyncConnectionPool[Connection]) -> None:
        """Replace connections that failed together with one. The pool takes a cancellation of its
        check for a broken connection."""
        async with asyncio.timeout(self._limits.checkout):
            await self._uninterrupted(pool.check())

    async def _drained(self, pool: AsyncConnectionPool[Connection]) -> bool:
        """Replace all connections: after a failover they may still lead to the earlier primary
        server. False if that was done just before."""
        now = asyncio.get_running_loop().time()
        if now - self._drained_at < DRAIN_PAUSE:
            return False
        self._drained_at = now
        async with asyncio.timeout(self._limits.checkout):
            await self._uninterrupted(pool.drain())
        return True

    async def _configure(self, connection: Connection) -> None:
        _type_parameters(connection)
        limit = str(round(self._limits.statement * 1000))
        await connection.execute(
            "SELECT set_config('statement_timeout', %(limit)s, false),"
            " set_config('idle_in_transaction_session_timeout', %(limit)s, false),"
            # a statement behind a lock sees what was committed while it waited
            " set_config('default_transaction_isolation', 'read committed', false),"
            " set_config('timezone', 'UTC', false)",
            {"limit": limit},
        )

    def _unavailable(self, error: Any, before: str = "") -> StoreUnavailable:
        """Return the error for callers, without the statement's values."""
        primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
        if isinstance(error, TimeoutError):
            primary = f"no answer within {self._limits.statement + CLIENT_GRACE:g} seconds"
        text = primary or next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        if isinstance(error, ReadOnlySqlTransaction):
            text += "; database.url has to reach the primary server"
        full = isinstance(error, psycopg.errors.DiskFull)
        return StoreUnavailable(f"{before}PostgreSQL at {self.name}: {text}", POSTGRES, full=full)


class _Broken(Exception):
    """The connection failed while work was running."""


class _ReadOnly(_Broken):
    """The server takes no changes."""


class _PostgresReader:
    def __init__(
        self, connection: Connection, unavailable: Callable[[Any], StoreUnavailable]
    ) -> None:
        self._connection = connection
        self._unavailable = unavailable

    async def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> list[Row]:
        """Return all rows of one statement."""
        try:
            return await (await _executed(self._connection, statement, params)).fetchall()
        except psycopg.Error as error:
            raise self._unavailable(error) from error


def _type_parameters(connection: Connection) -> None:
    """Texts are sent as text and integers as bigint, so that every statement has one plan and means
    the same as in SQLite."""
    connection.adapters.register_dumper(str, StrDumper)
    connection.adapters.register_dumper(int, Int8Dumper)


async def _executed(connection: Connection, statement: Statement, params: Params) -> Cursor:
    return await connection.execute(statement.postgres.encode(), params)


async def _drive(connection: Connection, work: Work[T]) -> T:
    """Run work in one transaction. Statements wait in the pipeline until a result is needed; the
    beginning goes with the first ones, and the commit with the last ones. (`transaction()` of the
    library would wait for each of them.)"""
    try:
        async with connection.pipeline() as pipeline:
            await connection.execute(b"BEGIN")
            step, value = _advanced(work, None)
            while step is not None and not (isinstance(step, Together) and step.last):
                result = await _result(connection, pipeline, step)
                step, value = _advanced(work, result)
            ends = () if step is None else step.steps
            cursors = [await _sent(connection, one) for one in ends]
            await connection.execute(b"COMMIT")
        if step is not None:
            results = [await _read(*pair) for pair in zip(ends, cursors, strict=True)]
            step, value = _advanced(work, results)
    except BaseException as error:
        with suppress(psycopg.Error):
            await connection.rollback()
        if isinstance(error, PipelineAborted) and error.__context__ is not None:
            raise error.__context__ from None  # which this one only followed
        raise
    finally:
        work.close()
    if step is not None:
        raise WorkMisused(NOT_LAST)
    return cast("T", value)


def _advanced(work: Work[T], result: object) -> tuple[Step | None, T | None]:
    """The next step, or None and the value that the work returns."""
    try:
        return work.send(result), None
    except StopIteration as end:
        return None, end.value


async def _result(connection: Connection, pipeline: AsyncPipeline, step: Step) -> object:
    match step:
        case Lock(names):
            await connection.execute(TAKE_LOCKS, (lock_keys(names),))
            return None
        case Execute():
            await _sent(connection, step)
            return None
        case Together(steps):
            cursors = [await _sent(connection, one) for one in steps]
            await pipeline.sync()
            return [await _read(*pair) for pair in zip(steps, cursors, strict=True)]
        case _:
            cursor = await _sent(connection, step)
            await pipeline.sync()
            return await _read(step, cursor)


async def _sent(connection: Connection, step: Single) -> Cursor:
    """The statement is in the pipeline."""
    sql = step.statement.postgres.encode()
    if isinstance(step, Fetch | Change):
        return await connection.execute(sql, step.params)
    cursor = connection.cursor()
    if step.items:
        await cursor.executemany(sql, step.items)
    return cursor


async def _read(step: Single, cursor: Cursor) -> object:
    """The result of a statement that has run."""
    match step:
        case Fetch():
            return await cursor.fetchall()
        case Change():
            return cursor.rowcount
        case ChangeMany(_, items):
            return cursor.rowcount if items else 0
        case Execute():
            return None


def lock_keys(names: Iterable[str]) -> list[int]:
    """The keys of these locks, in the order in which they are taken."""
    return sorted({_lock_key(name) for name in names})


def _lock_key(name: str) -> int:
    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(
        blake2b(data, digest_size=8, person=b"parley locks").digest(), signed=True
    )
