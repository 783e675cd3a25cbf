"""Stores that can be made unavailable and available: a real Redis, a real PostgreSQL, a disk."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from tests.support.servers import PostgresServer, RedisServer, postgres_server, redis_server

Outage = Literal["redis-held", "redis-killed", "postgres-held", "postgres-killed", "disk-full"]
ROLES: Final = ("adapter", "worker")
DISK_BYTES: Final = 256 * 1024 * 1024
"""More than the log of the database may grow to, which could not be folded otherwise."""
FEW_BYTES: Final = 64 * 1024
BLOCK: Final = 1024 * 1024


class Trouble(Protocol):
    """Something that happens to a store. `parts` is what `/readyz` calls it: both, where one file
    holds everything."""

    @property
    def parts(self) -> tuple[str, ...]: ...

    def begin(self, processes: list[int]) -> None: ...

    def end(self, processes: list[int]) -> None: ...


@dataclass(frozen=True, slots=True)
class Stage:
    """The stores of a run, what happens to one of them, and the roles that share the work."""

    settings: Mapping[str, object]
    trouble: Trouble
    roles: tuple[str, ...]
    how: str


@contextmanager
def staged(outage: Outage, folder: Path) -> Iterator[Stage]:
    """The stores for one outage; gone in the end.

    Redis runs with `appendonly yes` and `appendfsync everysec`, PostgreSQL with `fsync` and
    `synchronous_commit` on, SQLite with `synchronous=normal`: what the documentation advises.
    """
    with ExitStack() as stack:
        if outage == "disk-full":
            yield stack.enter_context(_on_a_small_disk(folder))
            return
        redis = stack.enter_context(redis_server())
        postgres = stack.enter_context(postgres_server(fsync=True))
        settings = {"storage": {"url": redis.url}, "database": {"url": postgres.url}}
        server: RedisServer | PostgresServer = redis if outage.startswith("redis") else postgres
        parts = ("storage" if server is redis else "database",)
        if outage.endswith("held"):
            yield Stage(settings, Held(server, parts), ROLES, "SIGSTOP")
        else:
            yield Stage(settings, Killed(server, parts), ROLES, "SIGKILL")


@dataclass(frozen=True, slots=True)
class Held:
    """The server is stopped and goes on later: connections stay open, nothing answers."""

    server: RedisServer | PostgresServer
    parts: tuple[str, ...]

    def begin(self, processes: list[int]) -> None:
        self.server.pause()

    def end(self, processes: list[int]) -> None:
        self.server.resume()


@dataclass(frozen=True, slots=True)
class Killed:
    """The server dies at once and comes again with the data it had on the disk."""

    server: RedisServer | PostgresServer
    parts: tuple[str, ...]

    def begin(self, processes: list[int]) -> None:
        if isinstance(self.server, PostgresServer):
            self.server.crash()
        else:
            self.server.stop(kill=True)

    def end(self, processes: list[int]) -> None:
        self.server.start()


@dataclass(frozen=True, slots=True)
class Filled:
    """A file takes all the room on the disk of the database."""

    filler: Path
    parts: tuple[str, ...] = ("storage", "database")

    def begin(self, processes: list[int]) -> None:
        with self.filler.open("wb", buffering=0) as file:
            for size in (BLOCK, 1):
                try:
                    while file.write(b"\0" * size) == size:
                        pass
                except OSError:
                    continue

    def end(self, processes: list[int]) -> None:
        self.filler.unlink()


@dataclass(frozen=True, slots=True)
class Limited:
    """No file of the program may be written beyond its first bytes."""

    database: Path
    parts: tuple[str, ...] = ("storage", "database")

    def begin(self, processes: list[int]) -> None:
        self._limit(processes, FEW_BYTES)

    def end(self, processes: list[int]) -> None:
        self._limit(processes, resource.RLIM_INFINITY)

    def _limit(self, processes: list[int], size: int) -> None:
        for pid in processes:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextmanager
def _on_a_small_disk(folder: Path) -> Iterator[Stage]:
    """A file system of `DISK_BYTES` where we may mount one, or else a limit on file sizes."""
    disk = folder / "disk"
    disk.mkdir()
    database = disk / "parley.db"
    settings = {"database": {"url": f"sqlite:///{database}"}}
    mount, options = shutil.which("mount"), f"size={DISK_BYTES}"
    may = os.geteuid() == 0 and sys.platform == "linux" and mount is not None
    done = may and subprocess.run(
        [str(mount), "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], check=False
    )
    if not done or done.returncode:
        yield Stage(settings, Limited(database), ("all",), "RLIMIT_FSIZE")
        return
    try:
        yield Stage(settings, Filled(disk / "filler"), ("all",), "full file system (tmpfs)")
    finally:
        subprocess.run(["umount", str(disk)], check=False)
