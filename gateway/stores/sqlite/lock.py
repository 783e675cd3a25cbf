"""A lock that allows one gateway per SQLite file.

The lock is on `FILE.lock`, beside the database; the operating system releases it when the process
ends. Read-only commands (`parley why`, `parley backup`) do not take it.
"""

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Self

from db.errors import StoreUnavailable
from db.file_owner import PRIVATE, give, owner_of, private


class GatewayLock:
    """The lock of a database file."""

    def __init__(self, database: Path | str) -> None:
        self._database = str(database)
        self._file = Path(os.path.realpath(database) + ".lock")
        self._held: int | None = None

    def acquire(self) -> None:
        """Take the lock without waiting. Raises `StoreUnavailable`, which names the holder."""
        if self._held is not None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            opened = os.open(self._file, os.O_RDWR | os.O_CREAT, PRIVATE)
            if os.geteuid() == 0:  # the user of the database takes the lock next
                give(opened, private(owner_of(Path(self._database))))
        except OSError as error:
            raise StoreUnavailable(f"cannot lock {self._database}: {error}") from error
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(opened, 20, 0).decode(errors="replace").strip()
            os.close(opened)
            if not isinstance(error, BlockingIOError):
                raise StoreUnavailable(f"cannot lock {self._database}: {error}") from error
            raise StoreUnavailable(
                f"{self._database} is in use by a running Parley"
                f" (process {owner or 'unknown'}); stop that one first, or name another file"
            ) from None
        self._held = opened
        with contextlib.suppress(OSError):  # for people; a full disk still has the lock
            os.ftruncate(opened, 0)
            os.pwrite(opened, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock. Safe to call twice. The empty file stays: deleting it would let two
        processes in."""
        held, self._held = self._held, None
        if held is not None:
            os.ftruncate(held, 0)
            os.close(held)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
