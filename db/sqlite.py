"""One SQLite file, and the work on it in batches.

All work that coroutines ask for within one iteration of the event loop runs in one transaction: the
higher the load, the fewer commits. Where a piece of work fails, the whole batch runs again, each
piece behind a savepoint of its own; savepoints copy every page that is written, and are hardly ever
needed. Work runs on the thread of the event loop, because a separate thread waits for Python's
interpreter lock at every statement (measured: 3.6 ms for an insert on a busy machine, 0.05 ms
here). No work waits for the disk: the file is in WAL mode, and a thread without a lock moves the
log into the file.

With `synchronous=NORMAL` a killed process loses nothing that was committed; a machine that loses
power may lose the last commits, never the consistency. `FULL` waits for the disk at every commit.
"""

import asyncio
import contextlib
import errno
import sqlite3
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import structlog

from db.database import Reader
from db.errors import NOT_LAST, SQLITE, StoreUnavailable, WorkMisused
from db.migrations import Schema, migrate_sqlite
from db.statements import Engine, Statement
from db.transaction import (
    NO_PARAMS,
    Change,
    Fetch,
    Lock,
    Params,
    Row,
    Single,
    Together,
    Work,
)

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

MAX_WAITING = 20_000
"""Pieces of work that may wait; one more is refused at once."""
MAX_BATCH = 200
"""Pieces of work in one transaction: bounds how long the loop is held, to some milliseconds."""
BUSY_SECONDS = 0.02
"""The time for which a transaction waits for another process before it is retried."""
BUSY_TRIES = 250
"""Attempts of a transaction, with a pause of `BUSY_SECONDS` between them: about ten seconds."""
CLOSE_SECONDS = 5.0
"""The time for which `close` waits for work that another process blocks."""
FOLD_EVERY = 1.0
"""Seconds between two checkpoints of the log."""
MAX_LOG = 16 * 1024 * 1024
"""Bytes from which the log is restarted. Under a load without a pause, checkpoints never catch up
with the writes (100 messages a second write 11 MB), and the log would grow without end. Its file
stays and is overwritten, because a disk does that in half the time of a growing file."""
MAX_FILE = 4 * MAX_LOG
"""Bytes from which that file is truncated as well."""
QUIET = 3
"""Checkpoints without new data after which the log is emptied, so that deleted data does not remain
in it. Fewer than the seconds between two writes of the health check."""

READ_SECONDS = 5.0
"""The time for which a reading connection waits for a lock."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Waiting:
    job: Job[Any]
    future: "asyncio.Future[Any]"
    context: Context
    result: Any = None
    error: BaseException | None = None


class SqliteDatabase:
    """Implements `db.database.Database`. The path ":memory:" is for tests."""

    engine: Engine = "sqlite"

    def __init__(
        self,
        path: Path | str,
        schemas: Sequence[Schema],
        *,
        synchronous: Literal["NORMAL", "FULL"] = "NORMAL",
    ) -> None:
        self.path = str(path)
        self._schemas = tuple(schemas)
        self._synchronous = synchronous
        self._waiting: deque[_Waiting] = deque()
        self._connection: sqlite3.Connection | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scheduled: asyncio.Handle | None = None
        self._busy_tries = 0
        self._changed = False
        self._held = False
        self.transactions = 0
        """The number of transactions since the start; concurrent work shares one."""
        self._folding: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the file and migrate its tables. Raises `StoreUnavailable`."""
        self._loop = asyncio.get_running_loop()
        try:
            self._connection = await asyncio.to_thread(self._open)
        except (sqlite3.Error, OSError) as error:
            raise _unavailable(f"cannot open the database {self.path}", error) from error
        if self.path != ":memory:":
            self._folding = asyncio.create_task(self._fold(), name="sqlite-fold")

    async def stop(self) -> None:
        """Finish waiting work and close the file. Safe to call twice."""
        if self._waiting and self._connection is not None:
            waiting = [item.future for item in self._waiting]
            await asyncio.wait(waiting, timeout=CLOSE_SECONDS)
        folding, self._folding = self._folding, None
        if folding is not None:
            folding.cancel()
            await asyncio.gather(folding, return_exceptions=True)
        connection, self._connection = self._connection, None
        if connection is not None:
            self._refuse("it is closed")
            with contextlib.suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()

    @property
    def waiting(self) -> int:
        """The number of pieces of work that wait for their transaction."""
        return len(self._waiting)

    def run(self, make: Callable[[], Work[T]]) -> "asyncio.Future[T]":
        """Return the result of the work after its commit.

        Work of a cancelled caller is done as well.
        """
        return self.run_job(lambda connection: drive(connection, make()))

    def fetch(
        self, statement: Statement, params: Params = NO_PARAMS
    ) -> "asyncio.Future[list[Row]]":
        """Return all rows of one statement."""
        bound = statement.for_sqlite(params)
        return self.run_job(lambda db: db.execute(statement.sqlite, bound).fetchall())

    def change(self, statement: Statement, params: Params = NO_PARAMS) -> "asyncio.Future[int]":
        """Run one statement; return the number of changed rows."""
        bound = statement.for_sqlite(params)
        return self.run_job(lambda db: db.execute(statement.sqlite, bound).rowcount)

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[Reader]:
        """A read-only connection, used on threads."""
        if self.path == ":memory:":
            yield _SameConnection(self)
            return
        reader = _SqliteReader(self.path)
        try:
            yield reader
        finally:
            await reader.close()

    def run_job(self, job: Job[T]) -> "asyncio.Future[T]":
        """Return the result of `job(connection)` after its commit, for features of SQLite alone.

        The job runs inside a transaction that it must not end. It waits for nothing, and changes
        only the database, because it may run twice.
        """
        if self._connection is None or self._loop is None:
            raise StoreUnavailable(f"the database {self.path} is not open", SQLITE)
        if len(self._waiting) >= MAX_WAITING:
            raise StoreUnavailable(f"the database {self.path} has too much waiting work")
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append(_Waiting(job, future, copy_context()))
        if self._scheduled is None and not self._held:
            self._scheduled = self._loop.call_soon(self._flush)
        return future

    async def run_apart(self, job: Job[None]) -> None:
        """Run `job(connection)` in a transaction on a thread and a connection of its own, while
        other work waits. Raises `StoreUnavailable`. A database in memory has one connection, and
        the job does not run."""
        if self.path == ":memory:":
            return
        try:
            await self._without_work(lambda path: _transaction(path, job))
        except sqlite3.Error as error:
            raise _unavailable(self.path, error) from error

    def _open(self) -> sqlite3.Connection:
        if self.path != ":memory:":
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            Path(self.path).touch(mode=0o600)  # readable by the owner only
        connection = sqlite3.connect(
            self.path,
            timeout=5.0,
            isolation_level=None,
            cached_statements=256,
            check_same_thread=False,  # opened on a thread, used on the loop only
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA secure_delete=ON")  # zeroes over what is deleted
            connection.execute(f"PRAGMA synchronous={self._synchronous}")
            migrate_sqlite(connection, self._schemas)
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute("PRAGMA temp_store=MEMORY")  # what can be undone, at every statement
            connection.execute(f"PRAGMA busy_timeout={round(BUSY_SECONDS * 1000)}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _flush(self) -> None:
        """Run the waiting work, at most `MAX_BATCH` pieces, in one transaction."""
        self._scheduled = None
        connection, loop = self._connection, self._loop
        if connection is None or loop is None or self._held:
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if _is_busy(error) and self._busy_tries < BUSY_TRIES:
                self._busy_tries += 1
                self._scheduled = loop.call_later(BUSY_SECONDS, self._flush)
                return
            self._refuse(error)
            return
        self._busy_tries = 0
        batch = [self._waiting.popleft() for _ in range(min(MAX_BATCH, len(self._waiting)))]
        before = connection.total_changes
        _commit(connection, batch, self.path)
        self.transactions += 1
        self._changed = self._changed or connection.total_changes != before
        if self._waiting:
            self._scheduled = loop.call_soon(self._flush)
        for item in batch:
            _settle(item)

    def _refuse(self, reason: sqlite3.Error | str) -> None:
        """Refuse all waiting work."""
        self._busy_tries = 0
        while self._waiting:
            item = self._waiting.popleft()
            item.error = _unavailable(self.path, reason)
            _settle(item)

    async def _fold(self) -> None:
        """Checkpoint the log repeatedly, on a thread and a connection of its own."""
        quiet = 0
        while True:
            await asyncio.sleep(FOLD_EVERY)
            quiet = 0 if self._changed else quiet + 1
            try:
                if self._changed:
                    self._changed = False
                    if await asyncio.to_thread(_folded, self.path) > MAX_LOG:
                        await self._without_work(_begun_anew)
                elif quiet % QUIET == 0 and _has_log(self.path):
                    await self._without_work(_emptied)
            except (sqlite3.Error, OSError) as error:
                log.warning("wal_checkpoint_failed", path=self.path, error=str(error))

    async def _without_work(self, step: Callable[[str], None]) -> None:
        """Run a step on the file or its log. Work waits meanwhile (earlier checkpoints leave
        milliseconds of work), but the event loop does not block, as it would if a transaction met
        the lock of this step."""
        self._held = True
        try:
            await asyncio.to_thread(step, self.path)
        finally:
            self._held = False
            if self._waiting and self._scheduled is None and self._loop is not None:
                self._scheduled = self._loop.call_soon(self._flush)


class _SameConnection:
    """Reads in a database in memory, which has one connection."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> list[Row]:
        """Return all rows of one statement."""
        return await self._database.fetch(statement, params)


class _SqliteReader:
    """A second connection to a file, which only reads.

    A thread whose caller was cancelled still uses the connection. It is closed after that: SQLite
    would otherwise end the process.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._in_use = threading.Lock()
        self._closed = False

    async def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> list[Row]:
        """Return all rows of one statement."""
        try:
            return await asyncio.to_thread(self._fetch, statement, params)
        except sqlite3.Error as error:
            raise _unavailable(self._path, error) from error

    async def close(self) -> None:
        """End a statement that still runs, and close the connection."""
        self._closed = True
        if self._connection is not None or self._in_use.locked():
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.interrupt()
        with self._in_use:
            if self._connection is not None:
                self._connection.close()

    def _fetch(self, statement: Statement, params: Params) -> list[Row]:
        with self._in_use:
            if self._closed:
                raise sqlite3.ProgrammingError("the reader is closed")
            if self._connection is None:
                uri = f"{Path(self._path).absolute().as_uri()}?mode=ro"
                self._connection = sqlite3.connect(
                    uri,
                    uri=True,
                    timeout=READ_SECONDS,
                    isolation_level=None,
                    check_same_thread=False,  # threads of the pool use it one after another
                )
            bound = statement.for_sqlite(params)
            return self._connection.execute(statement.sqlite, bound).fetchall()


def drive(connection: sqlite3.Connection, work: Work[T]) -> T:
    """Run work inside the caller's transaction; return its result."""
    result: object = None
    last = False
    try:
        while True:
            step = work.send(result)
            if last:
                raise WorkMisused(NOT_LAST)
            if isinstance(step, Together):
                result = [_result(connection, one) for one in step.steps]
                last = step.last
            else:
                result = None if isinstance(step, Lock) else _result(connection, step)
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        work.close()


def _result(connection: sqlite3.Connection, step: Single) -> object:
    statement = step.statement
    if isinstance(step, Fetch):
        return connection.execute(statement.sqlite, statement.for_sqlite(step.params)).fetchall()
    if isinstance(step, Change):
        return connection.execute(statement.sqlite, statement.for_sqlite(step.params)).rowcount
    return connection.executemany(statement.sqlite, map(statement.for_sqlite, step.items)).rowcount


def _commit(connection: sqlite3.Connection, batch: list[_Waiting], path: str) -> None:
    try:
        if not _all_done(connection, batch):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            for item in batch:
                _attempt(connection, item, path)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        for item in batch:
            item.error = item.error or _unavailable(path, error)


def _all_done(connection: sqlite3.Connection, batch: list[_Waiting]) -> bool:
    """Run all pieces, unless one fails."""
    for item in batch:
        try:
            item.result = item.context.run(item.job, connection)
        except Exception:  # noqa: BLE001 - whose it is shows when they run one by one
            return False
    return True


def _attempt(connection: sqlite3.Connection, item: _Waiting, path: str) -> None:
    connection.execute("SAVEPOINT piece")
    try:
        item.result = item.context.run(item.job, connection)
    except sqlite3.Error as error:
        item.error = _unavailable(path, error)
        if not connection.in_transaction:  # a full disk: SQLite has undone the whole transaction
            raise
    except Exception as error:  # noqa: BLE001 - belongs to the caller, who gets it
        item.error = error
    if item.error is not None:
        connection.execute("ROLLBACK TO piece")
    connection.execute("RELEASE piece")


def _settle(item: _Waiting) -> None:
    if item.future.done():
        return
    if item.error is not None:
        item.future.set_exception(item.error)
    else:
        item.future.set_result(item.result)


def _unavailable(what: str, error: sqlite3.Error | OSError | str) -> StoreUnavailable:
    """The error for callers; a full disk with the next step."""
    code = getattr(error, "sqlite_errorcode", 0)
    full = code & 0xFF == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    advice = ". Free space on the disk of this file" if full else ""
    return StoreUnavailable(f"{what}: {error}{advice}", SQLITE, full=full)


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def _has_log(path: str) -> bool:
    log_file = Path(f"{path}-wal")
    return log_file.exists() and log_file.stat().st_size > 0


def _folded(path: str) -> int:
    """Checkpoint the log without blocking others; return its size in bytes."""
    with contextlib.closing(sqlite3.connect(path, timeout=1.0, isolation_level=None)) as db:
        for _ in range(2):  # the second time, what was written during the first
            _, pages, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    return int(pages) * int(size)


def _begun_anew(path: str) -> None:
    """Restart the log at the beginning of its file; not while a reader uses an older snapshot, as a
    backup does: the next second will do."""
    large = Path(f"{path}-wal").stat().st_size > MAX_FILE
    _checkpoint(path, "TRUNCATE" if large else "RESTART")


def _emptied(path: str) -> None:
    """Truncate the log's file; not while a reader uses an older snapshot."""
    _checkpoint(path, "TRUNCATE")


def _transaction(path: str, job: Job[None]) -> None:
    with (
        contextlib.closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as db,
        db,
    ):
        db.execute("BEGIN IMMEDIATE")
        job(db)


def _checkpoint(path: str, how: Literal["RESTART", "TRUNCATE"]) -> None:
    with contextlib.closing(sqlite3.connect(path, timeout=0.0, isolation_level=None)) as db:
        db.execute(f"PRAGMA wal_checkpoint({how})")
