"""Turns the bytes of files into what is stored: decoded, without secrets, split.

Many files are prepared by processes of their own, which use every processor; a file that ends such
a process, by memory or by a defect of a parser, is skipped, and the others are prepared again. They
end with the process that started them, however that one ends.
"""

import asyncio
import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from types import TracebackType
from typing import Final, Self, TypeAlias

import structlog
from msgspec import Struct

from memory.git.errors import GitFailed
from memory.knowledge.model import SkipReason, SplitFile
from memory.knowledge.ports.stores import NewFile
from memory.knowledge.reading.text import FileText, text_of
from memory.knowledge.words import filed_words

MAX_WORKERS: Final = 4
FEW: Final = 16
"""Files that this process prepares by itself: starting others takes longer."""
FEW_BYTES: Final = 64 * 1024
"""Bytes of all these files together. More would hold the other work of this process."""
MAX_BROKEN: Final = 20
"""Processes that may end before the ingest is given up."""
SECONDS: Final = 60.0
"""The time limit for one file."""
MAX_CHUNKS: Final = 5_000
"""Chunks of one file."""

Split: TypeAlias = Callable[[str, str], SplitFile]
"""Splits the text (second) of a path (first). A function of a module, for other processes."""

log = structlog.get_logger(__name__)


class RawFile(Struct, frozen=True):
    """A file as git has it."""

    path: str
    blob: str
    content: bytes


class PreparedFile(Struct, frozen=True):
    """A file to store, with the number of its replaced secrets. `guessed` as in `FileText`."""

    file: NewFile
    redacted: int
    guessed: bool


Prepared: TypeAlias = PreparedFile | SkipReason


def prepare(split: Split, skip_binary: bool, raw: RawFile) -> Prepared:
    """Return a file to store, or the reason for which it is skipped."""
    try:
        text = text_of(raw.content, skip_binary=skip_binary)
        if not isinstance(text, FileText):
            return text
        parts = split(raw.path, text.text)
        words = tuple(map(filed_words, parts.chunks[:MAX_CHUNKS]))
    except Exception as error:  # noqa: BLE001 - a hostile file may raise anything; it is skipped with the reason
        log.warning("file_not_split", path=raw.path, error=type(error).__name__)
        return SkipReason.UNREADABLE
    if len(parts.chunks) > MAX_CHUNKS:
        return SkipReason.UNREADABLE
    digest = hashlib.sha256(raw.content).hexdigest()
    file = NewFile(raw.path, raw.blob, digest, len(raw.content), parts, words)
    return PreparedFile(file, text.redacted, text.guessed)


class FileWorkers:
    """Prepares files, with other processes where there are many. Use it as a context."""

    def __init__(self, split: Split, skip_binary: bool, *, always: bool = False) -> None:
        self._split = split
        self._skip_binary = skip_binary
        self._few = 0 if always else FEW
        self._pool: ProcessPoolExecutor | None = None
        self._broken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    async def prepare(self, files: Sequence[RawFile]) -> list[Prepared]:
        """Return what becomes of each file, in order. Raises `GitFailed` if processes end again and
        again."""
        small = len(files) <= self._few and sum(len(one.content) for one in files) <= FEW_BYTES
        if small and self._pool is None:
            return [
                await asyncio.to_thread(prepare, self._split, self._skip_binary, raw)
                for raw in files
            ]
        try:
            return list(await asyncio.gather(*map(self._submitted, files)))
        except (BrokenProcessPool, TimeoutError):
            self._end()
        return [await self._alone(raw) for raw in files]

    async def _submitted(self, raw: RawFile) -> Prepared:
        if self._pool is None:
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(_processors(), context, initializer=_watch_parent)
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(SECONDS * 10):
            return await loop.run_in_executor(
                self._pool, prepare, self._split, self._skip_binary, raw
            )

    async def _alone(self, raw: RawFile) -> Prepared:
        try:
            async with asyncio.timeout(SECONDS):
                return await self._submitted(raw)
        except (BrokenProcessPool, TimeoutError):
            self._end()
            self._broken += 1
            if self._broken > MAX_BROKEN:
                raise GitFailed(
                    f"processes that split files ended {MAX_BROKEN} times; see the log"
                ) from None
            log.warning("file_ended_a_process", path=raw.path)
            return SkipReason.UNREADABLE

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            # A process that hangs in one file would never end by itself.
            for process in list((pool._processes or {}).values()):  # noqa: SLF001 - no public way before 3.14
                process.kill()
            pool.shutdown(wait=True, cancel_futures=True)


def _processors() -> int:
    """The number of processors that this process may use, at most `MAX_WORKERS`."""
    known = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(MAX_WORKERS, known)


def _watch_parent() -> None:
    """Make this process end when the one that started it does. A killed one cannot stop others,
    and a process of a pool waits for work without an end: each holds the pipe open that it reads.
    """
    Thread(target=_end_with_parent, daemon=True, name="parent").start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()  # a pipe of its own, whose other end only the parent has
        os._exit(1)
