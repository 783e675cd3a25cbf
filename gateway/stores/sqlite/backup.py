"""Backup and restore of a database file while a gateway uses it.

A backup is a snapshot: a read transaction is held on the source, which in WAL mode blocks no
writer, and SQLite's online backup copies a bounded number of pages at a time. Meanwhile the log
cannot be checkpointed, so `FILE-wal` grows by what is written.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from db.errors import StoreUnavailable
from db.file_owner import FileOwner, give, owner_of, private
from db.migrations import Schema, applied_in, migrate_sqlite, missing
from gateway.errors import UsageError
from gateway.stores.hot_losses import ELSEWHERE
from gateway.stores.sqlite.lock import GatewayLock
from gateway.stores.sqlite.queues import RESTORED

PAGES: Final = 256
"""Pages per step: a megabyte."""
PAUSE_SECONDS: Final = 0.002
"""The pause between two steps, which leaves the disk to the gateway."""
BUSY_SECONDS: Final = 10.0
"""The time for which either side waits for a lock."""
MARK_SENDS: Final = f"UPDATE outbox SET begun = {RESTORED} WHERE state = 'waiting'"
RECORD: Final = """
    INSERT INTO hot_losses (id, kind, at, since, events, sends)
    VALUES (?, 'restored', ?, 0, ?, ?)
"""
NEW: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY
DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
LOCKED: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
PRIMARY: Final = 0xFF
"""The bits of a result code that say its kind (sqlite.org/rescode.html)."""
MAX_FINDINGS: Final = 5
"""Reported faults of a damaged file."""


def back_up(
    database: Path,
    target: Path,
    schemas: Sequence[Schema],
    *,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Copy a database to `target`; returns the copy's size in bytes. `progress` gets the numbers
    of copied pages and of all pages, after each step.

    It holds everything that was committed before the call. The copy is verified before it gets its
    name. Raises `BadInput` if there is no database or `target` exists, and `StoreUnavailable` if
    the copy cannot be written.
    """
    if not database.is_file():
        raise UsageError(f"there is no database at {database} yet")
    _refuse_existing(target, overwrite)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _explained(f"cannot copy {database} to {target}"):
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with closing(_opened(database, "ro")) as source, closing(_opened(part, "rw")) as copy:
                _copy_moment(source, copy, progress)
            verify(part, schemas)
            _make_durable(part)
            part.replace(target)
            _make_durable(target.parent)
            return target.stat().st_size
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def verify(backup: Path, schemas: Sequence[Schema]) -> None:
    """Check that a file is a sound database that this program can use.

    Raises `BadInput` if it is missing, damaged, or not Parley's, and `StoreUnavailable` if a newer
    Parley wrote it.
    """
    if not backup.is_file():
        raise UsageError(f"{backup} does not exist")
    try:
        with closing(_opened(backup, "ro")) as connection:
            rows = connection.execute(f"PRAGMA integrity_check({MAX_FINDINGS})").fetchall()
            steps = applied_in(connection)
    except sqlite3.Error as error:
        raise UsageError(f"{backup} is not a valid database: {error}") from error
    faults = [str(row[0]) for row in rows if row[0] != "ok"]
    if faults:
        raise UsageError(f"{backup} is damaged: {'; '.join(faults)}")
    if not steps:
        raise UsageError(f"{backup} is a database, but not one of Parley")
    missing(schemas, steps)


class InFlight(Struct, frozen=True):
    """Messages and sends that waited when a copy was made, and may come twice."""

    events: int
    sends: int


def restore(
    backup: Path,
    database: Path,
    schemas: Sequence[Schema],
    *,
    overwrite: bool = False,
    kept: Path | None = None,
) -> InFlight:
    """Replace a database by a backup, completely or not at all. What waits in it is marked as
    restored: its answers then stand below a note. `kept` is the file for a copy of the database
    that is replaced, with its log beside it. The database keeps its owner and mode; a new one gets
    the owner of its folder.

    Raises `BadInput` if the backup cannot be used, or if there is a database and `overwrite` is not
    set, and `StoreUnavailable` if a gateway is running on it or it cannot be written.
    """
    verify(backup, schemas)
    with GatewayLock(database):
        _refuse_existing(database, overwrite)
        new = not database.exists()
        try:
            with _explained(f"cannot restore {database}"):
                if kept is not None and not new:
                    _keep(database, kept)
                _put_back(backup, database)
                return _mark_restored(database, schemas)
        except StoreUnavailable:
            if new:
                database.unlink(missing_ok=True)
            raise


def _keep(database: Path, kept: Path) -> None:
    """Copy a database that nobody writes, and its log, byte by byte, or leave no copy."""
    made: list[Path] = []
    try:
        for suffix in ("", "-wal"):
            source, copy = Path(f"{database}{suffix}"), Path(f"{kept}{suffix}")
            if source.exists():
                with source.open("rb") as old, open(os.open(copy, NEW, 0o600), "wb") as new:
                    made.append(copy)
                    give(new.fileno(), private(owner_of(source)))
                    shutil.copyfileobj(old, new)
                _make_durable(copy)
        _make_durable(kept.parent)
    except OSError:
        for copy in made:
            copy.unlink(missing_ok=True)
        raise


def _put_back(backup: Path, database: Path) -> None:
    """Restore in one transaction of the database: readers see the old content until it is
    replaced. A database that is too damaged for a transaction is replaced as a file."""
    owner = owner_of(database)
    try:
        _fill(backup, database, owner)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & PRIMARY not in DAMAGE:
            raise
        _replace_file(backup, database, owner)
    _make_durable(database)


def _fill(backup: Path, database: Path, owner: FileOwner) -> None:
    opened = os.open(database, os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        give(opened, owner)
    finally:
        os.close(opened)
    with closing(_opened(backup, "ro")) as source, closing(_opened(database, "rw")) as copy:
        copy.execute("PRAGMA synchronous=FULL")
        source.backup(copy, progress=_impatient())
        copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _replace_file(backup: Path, database: Path, owner: FileOwner) -> None:
    database = Path(os.path.realpath(database))  # a link stays one
    part = database.with_name(f".{database.name}.{os.getpid()}.part")
    try:
        _fill(backup, part, owner)
        _make_durable(part)
        # SQLite would apply the log of the old file to the new one.
        for suffix in ("-wal", "-shm"):
            Path(f"{database}{suffix}").unlink(missing_ok=True)
        part.replace(database)
        _make_durable(database.parent)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _mark_restored(database: Path, schemas: Sequence[Schema]) -> InFlight:
    """Mark what waits, and record that the data was restored."""
    now = time.time_ns() // 1000
    with closing(_opened(database, "rw")) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        migrate_sqlite(connection, schemas)
        connection.execute("BEGIN IMMEDIATE")
        sends = connection.execute(MARK_SENDS).rowcount
        (events,) = connection.execute("SELECT count(*) FROM inbox WHERE done = 0").fetchone()
        connection.execute("UPDATE hot_state SET home = ?", (ELSEWHERE,))
        connection.execute(RECORD, (f"restored:{now}", now, int(events), sends))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return InFlight(int(events), sends)


def _copy_moment(
    source: sqlite3.Connection,
    copy: sqlite3.Connection,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Copy a snapshot of the source. Without the open transaction every write of another process
    would restart the copy."""

    bounded = _impatient()

    def step(status: int, left: int, pages: int) -> None:
        bounded(status, left, pages)
        if progress is not None:
            progress(pages - left, pages)
        time.sleep(PAUSE_SECONDS)

    source.execute("BEGIN")
    source.execute("SELECT count(*) FROM sqlite_master").fetchone()
    source.backup(copy, pages=PAGES, progress=step)
    source.execute("COMMIT")
    copy.execute("PRAGMA journal_mode=DELETE")


def _impatient() -> Callable[[int, int, int], None]:
    """Return a function that ends a copy which waits too long for a lock. Python would try again
    without an end."""
    since: list[float] = []

    def step(status: int, _left: int, _pages: int) -> None:
        now = time.monotonic()
        if status & PRIMARY not in LOCKED:
            since.clear()
        elif not since:
            since.append(now)
        elif now - since[0] > BUSY_SECONDS:
            raise sqlite3.OperationalError("another program has locked the database")

    return step


def _opened(file: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(file.absolute()))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def _refuse_existing(file: Path, overwrite: bool) -> None:
    if file.exists() and not overwrite:
        raise UsageError(f"{file} exists already; --force replaces it")


def _make_durable(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreUnavailable(f"{what}: {error}") from error
