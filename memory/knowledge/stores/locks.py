"""Locks for one ingest of a repository at a time; the operating system or the server releases them
when the process ends."""

import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from db.errors import StoreUnavailable

if TYPE_CHECKING:
    from db.postgres import PostgresDatabase


class FileLocks:
    """Implements `memory.knowledge.ports.IngestLock` beside an SQLite file.

    The lock files stay, empty, one for each repository: deleting one would let two processes in.
    """

    def __init__(self, database: Path) -> None:
        self._database = database

    @asynccontextmanager
    async def hold(self, repository_id: str) -> AsyncIterator[bool]:
        name = blake2b(repository_id.encode(), digest_size=8).hexdigest()
        file = self._database.with_name(f"{self._database.name}.{name}.lock")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StoreUnavailable(f"cannot lock {self._database}: {error}") from error
        try:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(opened)


class PostgresLocks:
    """Implements `memory.knowledge.ports.IngestLock` by advisory locks of a connection of
    its own."""

    def __init__(self, database: "PostgresDatabase") -> None:
        self._database = database

    @asynccontextmanager
    async def hold(self, repository_id: str) -> AsyncIterator[bool]:
        async with self._database.session_lock(f"knowledge {repository_id}") as held:
            yield held
