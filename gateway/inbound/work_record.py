"""The record of what is in work: a file that outlives the process.

Writing to it is a copy into the page cache; the operating system keeps the pages when the process
ends, however it ends. Each process has a file of its own, held by a lock that the system releases
at the process's crash. A file without a lock belongs to a process that died: whoever takes the lock
reads it once and clears it.

The file has its whole size from the start, so that a full disk does not refuse a write. It is never
mapped: a write into a map that the disk has no room for ends the process (SIGBUS), a refused
`pwrite` is an error. After one, the file is emptied, the record goes on in memory alone, and it is
written again once the disk has room.

Layout, little endian: 64 bytes of header (8 magic, 4 the number of the group that the watchdog
named, 0 for none), then `SLOTS` slots of `SLOT` bytes: 2 the length of the text, 4 the group, then
"kind NUL id" in UTF-8. A slot of length 0 is free.
"""

import contextlib
import fcntl
import itertools
import mmap
import os
import stat
import struct
import time
from collections.abc import Iterable, Sequence
from contextvars import ContextVar, Token
from pathlib import Path
from typing import Final, Self, get_args

import structlog
from msgspec import Struct

from gateway.ports.work_guard import MAX_ID, WorkItem, WorkKind

MAGIC: Final = b"PARLEYW1"
HEADER: Final = 64
SLOT: Final = 1024
SLOTS: Final = 1024
"""Items in work that are recorded; further ones are not recorded, so a crash does not count for
them."""
SIZE: Final = HEADER + SLOT * SLOTS
MAX_PROCESSES: Final = 64
"""Files of one installation in one folder, and so the processes that share it."""
MAX_STACK: Final = 16_384
"""Bytes of a stack that the next process reads."""
MAX_FRAMES: Final = 6
"""Frames of each thread in it."""
RETRY_SECONDS: Final = 5.0
"""Pause between two attempts to write a file that the disk refused."""
KINDS: Final = frozenset(get_args(WorkKind))

_HEAD: Final = struct.Struct("<HI")
"""The header of a slot: the length of the text, and the group."""
_WHOLE: Final = struct.Struct(f"<HI{SLOT - _HEAD.size}s")
"""A whole slot, zeros after the text."""
_FREE: Final = b"\0\0"
_MOST_GROUPS: Final = 0xFFFFFFFF
_GROUP: Final = ContextVar("parley_work_group", default=0)
"""The group that the running task works on; tasks that it starts inherit it."""


NOT_WRITTEN: Final = (
    "{}: {}. A crash does not count towards quarantine until the file can be written"
)

log = structlog.get_logger(__name__)


class Crash(Struct, frozen=True):
    """The remains of a process that died. `named`: what ran when the watchdog ended it. `hung`: the
    watchdog ended it, whether or not it could name what ran. `stack` is of that moment."""

    in_work: tuple[WorkItem, ...]
    named: tuple[WorkItem, ...] = ()
    hung: bool = False
    stack: str = ""


class WorkRecord:
    """The work that this process has begun. Without a file (`path` None) only this process knows
    it. `problem` is the reason why the file cannot be written, empty while it can be."""

    def __init__(self, path: Path | None = None, descriptor: int = -1) -> None:
        self.path = path
        self.problem = ""
        self._descriptor = descriptor
        self._retry_at = 0.0
        self._map = mmap.mmap(-1, SIZE)
        self._map[: len(MAGIC)] = MAGIC
        self._free = list(range(HEADER, SIZE, SLOT))
        self.groups = itertools.count(1)
        self._write_all()

    @property
    def stack_file(self) -> Path | None:
        """The file for the stack of a hanging process."""
        return self.path.with_name(f"{self.path.name}.stack") if self.path else None

    def working(self, *items: WorkItem) -> "WorkInProgress":
        """Mark these items as in work within the block, in one group."""
        return WorkInProgress(self, items)

    def in_work(self) -> tuple[WorkItem, ...]:
        """Return all items in work."""
        return _items(self._map)[0]

    def name_running(self) -> tuple[WorkItem, ...]:
        """Record the running group, and return its items; empty if no item runs. Safe in a signal
        handler."""
        group = _GROUP.get()
        struct.pack_into("<I", self._map, len(MAGIC), group)
        if self._descriptor >= 0 and not self.problem:
            with contextlib.suppress(OSError):
                os.pwrite(self._descriptor, self._map[:HEADER], 0)
        return _items(self._map)[1]

    def close(self) -> None:
        """Record a regular end without items in work. Safe to call twice."""
        if self._map.closed:
            return
        self._map[HEADER:SIZE] = bytes(SIZE - HEADER)
        struct.pack_into("<I", self._map, len(MAGIC), 0)
        self._write_all()
        self._map.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def begin(self, items: Iterable[WorkItem], group: int) -> list[int]:
        """Write items into free slots; return their offsets."""
        taken: list[int] = []
        record, free = self._map, self._free
        if record.closed:
            return taken
        for kind, id_ in items:
            if not free:
                break
            at = free.pop()
            text = f"{kind}\0{id_[:MAX_ID]}".encode()
            _WHOLE.pack_into(record, at, len(text), group, text)
            self._write(at, _HEAD.size + len(text))
            taken.append(at)
        return taken

    def end(self, taken: Sequence[int]) -> None:
        """Free these slots."""
        record = self._map
        if record.closed:
            return
        for at in taken:
            record[at : at + 2] = _FREE
            self._write(at, len(_FREE))
        self._free += taken

    def _write(self, at: int, length: int) -> None:
        """Copy a part of the record into the file. Never raises."""
        if self._descriptor < 0:
            return
        if self.problem:
            if time.monotonic() >= self._retry_at:
                self._write_all()
            return
        try:
            _put(self._descriptor, self._map[at : at + length], at)
        except OSError as error:
            self._refused(error)

    def _write_all(self) -> None:
        """Copy the whole record into the file, which reserves its room. Never raises."""
        if self._descriptor < 0:
            return
        try:
            _put(self._descriptor, self._map[:], 0)
        except OSError as error:
            self._refused(error)
            return
        if self.problem:
            self.problem = ""
            log.info("work_record_written_again", file=str(self.path))

    def _refused(self, error: OSError) -> None:
        """Go on in memory. The file is emptied: it would name work that has ended."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        self._retry_at = time.monotonic() + RETRY_SECONDS
        if not self.problem:
            self.problem = NOT_WRITTEN.format(self.path, error.strerror or error)
            log.warning("work_record_not_written", file=str(self.path), problem=self.problem)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class WorkInProgress:
    """Marks items while the block runs, also in tasks that start there."""

    __slots__ = ("_items", "_record", "_taken", "_token")

    def __init__(self, record: WorkRecord, items: Sequence[WorkItem]) -> None:
        self._record = record
        self._items = items

    def __enter__(self) -> None:
        group = next(self._record.groups) & _MOST_GROUPS
        self._taken = self._record.begin(self._items, group)
        self._token: Token[int] = _GROUP.set(group)

    def __exit__(self, *_: object) -> None:
        _GROUP.reset(self._token)
        self._record.end(self._taken)


def open_record(folder: Path, name: str) -> tuple[WorkRecord, list[Crash]]:
    """Return the record of this process, and the remains of crashed processes in the same folder.

    Raises `OSError` if the folder is not writable, or all `MAX_PROCESSES` files are in use.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own: tuple[Path, int] | None = None
    crashes = []
    for number in range(MAX_PROCESSES):
        path = folder / (f"{name}.in-work" if number == 0 else f"{name}.in-work-{number}")
        if own is not None and not path.exists():
            continue
        descriptor = _locked(path)
        if descriptor is None:
            continue
        crashes += _taken_over(path, descriptor, keep=own is None)
        if own is None:
            own = path, descriptor
        else:
            os.close(descriptor)
    if own is None:
        raise OSError(f"{MAX_PROCESSES} processes have their records in {folder} already")
    return WorkRecord(*own), crashes


def _locked(path: Path) -> int | None:
    """Return a locked file, None while a running process holds it. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise PermissionError(f"{path} belongs to another user")
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _taken_over(path: Path, descriptor: int, *, keep: bool) -> list[Crash]:
    """Read and clear the file of a crashed process: at most one crash. `keep`: this process uses
    the file now, and its room stays reserved."""
    content = os.pread(descriptor, SIZE, 0)
    stack_file = path.with_name(f"{path.name}.stack")
    stack = _stack(stack_file)
    in_work: tuple[WorkItem, ...] = ()
    named: tuple[WorkItem, ...] = ()
    if len(content) == SIZE and content.startswith(MAGIC):
        in_work, named = _items(content)
    _clear(descriptor, len(content) if keep else 0)
    stack_file.unlink(missing_ok=True)
    if not (in_work or stack):
        return []
    return [Crash(in_work, named, bool(stack), stack)]


def _clear(descriptor: int, size: int) -> None:
    """Clear the file, so that its crash is read once. A file of the whole `size` is overwritten: a
    full disk would not give its room a second time."""
    try:
        if size == SIZE:
            _put(descriptor, bytes(SIZE), 0)
            return
    except OSError:
        pass
    os.ftruncate(descriptor, 0)


def _put(descriptor: int, content: bytes, at: int) -> None:
    """Write all of it. Raises `OSError`; a disk that becomes full writes a part first."""
    left = memoryview(content)
    while left:
        written = os.pwrite(descriptor, left, at)
        left, at = left[written:], at + written


def _stack(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        text = os.read(descriptor, MAX_STACK).decode(errors="replace").strip("\0\n ")
    finally:
        os.close(descriptor)
    *others, main = text.split("\n\n")  # the newest thread first, the main thread last
    return "\n\n".join(_innermost(thread) for thread in (main, *others))


def _innermost(thread: str) -> str:
    """Return the head of a thread and its innermost frames: a log line has room for a few threads,
    and any of them may be the one that hangs."""
    return "\n".join(thread.splitlines()[: 1 + MAX_FRAMES])


def _items(content: bytes | mmap.mmap) -> tuple[tuple[WorkItem, ...], tuple[WorkItem, ...]]:
    """Return all items in work, and those of the named group."""
    (named,) = struct.unpack_from("<I", content, len(MAGIC))
    items, running = list[WorkItem](), list[WorkItem]()
    for at in range(HEADER, SIZE, SLOT):
        length, group = _HEAD.unpack_from(content, at)
        if not 0 < length <= SLOT - 6:
            continue
        kind, _, id_ = content[at + 6 : at + 6 + length].decode(errors="replace").partition("\0")
        if kind in KINDS:
            item = WorkItem(kind, id_)  # type: ignore[arg-type]  # it is one of KINDS
            items.append(item)
            if group == named:
                running.append(item)
    return tuple(items), tuple(running)
