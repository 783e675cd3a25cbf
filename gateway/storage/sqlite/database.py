"""One SQLite file, one thread that owns it, many coroutines that wait for it.

Work that arrives while a transaction runs is done in the next one together, each piece behind its
own savepoint: the more there is to do, the fewer commits it takes. The file is in WAL mode. With
`synchronous=NORMAL` a killed process loses nothing that was committed; a machine that loses power
may lose the last commits, never the consistency. `synchronous=FULL` waits for the disk each time.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from gateway.errors import StoreUnavailable
from gateway.storage.sqlite.migrations import migrate

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

MAX_WAITING = 20_000
"""Pieces of work that may wait; one more is refused at once."""
MAX_BATCH = 500
"""Pieces of work in one transaction: bounds how long a commit takes."""
BUSY_SECONDS = 5.0


@dataclass(slots=True)
class _Waiting:
    job: Job[Any]
    future: "asyncio.Future[Any]"
    result: Any = None
    error: BaseException | None = None


class Database:
    """An open database. `path` ":memory:" keeps it in memory, for tests."""

    def __init__(
        self, path: Path | str, *, synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    ) -> None:
        self.path = str(path)
        self._synchronous = synchronous
        self._jobs: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._waiting = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Open the file, bring its tables up to date. Raises `StoreUnavailable`."""
        self._loop = asyncio.get_running_loop()
        opened: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(
            target=self._serve, args=(self._loop, opened), name="parley-sqlite", daemon=True
        )
        self._thread.start()
        await opened

    async def stop(self) -> None:
        """Finish what waits and close the file. Safe to call twice."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            await asyncio.to_thread(thread.join)

    async def run(self, job: Job[T]) -> T:
        """The result of `job(connection)`, once it is committed.

        The job runs on the database's thread, inside a transaction that it must not end. Raises
        `StoreUnavailable` when it could not run or be committed; nothing of it is kept then.
        """
        loop = self._loop
        if loop is None or self._thread is None:
            raise StoreUnavailable(f"the database {self.path} is not open")
        if self._waiting >= MAX_WAITING:
            raise StoreUnavailable(f"the database {self.path} has too much waiting work")
        waiting = _Waiting(job, loop.create_future())
        self._waiting += 1
        self._jobs.put(waiting)
        result: T = await waiting.future
        return result

    # --- on the database's thread ---------------------------------------------------------------

    def _serve(self, loop: asyncio.AbstractEventLoop, opened: "asyncio.Future[None]") -> None:
        try:
            connection = self._open()
        except (sqlite3.Error, OSError, StoreUnavailable) as error:
            problem = StoreUnavailable(f"cannot open the database {self.path}: {error}")
            loop.call_soon_threadsafe(_settle, opened, None, problem)
            return
        loop.call_soon_threadsafe(_settle, opened, None, None)
        try:
            while batch := self._next_batch():
                self._commit(connection, batch)
                loop.call_soon_threadsafe(self._deliver, batch)
        finally:
            connection.close()

    def _open(self) -> sqlite3.Connection:
        if self.path != ":memory:":
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=256
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={self._synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        migrate(connection)
        return connection

    def _next_batch(self) -> list[_Waiting]:
        """Everything that waits, at most `MAX_BATCH`; empty when it is time to stop."""
        batch: list[_Waiting] = []
        while len(batch) < MAX_BATCH:
            try:
                item = self._jobs.get(block=not batch)
            except queue.Empty:
                break
            if item is None:
                if batch:
                    self._jobs.put(None)
                break
            batch.append(item)
        return batch

    def _commit(self, connection: sqlite3.Connection, batch: list[_Waiting]) -> None:
        try:
            connection.execute("BEGIN IMMEDIATE")
            for item in batch:
                self._attempt(connection, item)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            for item in batch:
                item.error = item.error or StoreUnavailable(f"{self.path}: {error}")

    def _attempt(self, connection: sqlite3.Connection, item: _Waiting) -> None:
        connection.execute("SAVEPOINT piece")
        try:
            item.result = item.job(connection)
        except sqlite3.Error as error:
            item.error = StoreUnavailable(f"{self.path}: {error}")
        except Exception as error:  # noqa: BLE001 - belongs to the caller, who gets it
            item.error = error
        if item.error is not None:
            connection.execute("ROLLBACK TO piece")
        connection.execute("RELEASE piece")

    # --- back on the event loop -----------------------------------------------------------------

    def _deliver(self, batch: list[_Waiting]) -> None:
        self._waiting -= len(batch)
        for item in batch:
            _settle(item.future, item.result, item.error)


def _settle(future: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
