"""Turns the bytes of files into what is stored: decoded, without secrets, split.

Many files are prepared by processes of their own, which use every processor; a file that ends such
a process, by memory or by a defect of a parser, is skipped, and the others are prepared again. They
end with the process that started them, however that one ends.
"""

import asyncio
import codecs
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
from memory.knowledge.ports import NewFile
from memory.knowledge.words import filed_words
from safety.secret_detection.detect import REDACTED, Level, find_secrets

LFS: Final = b"version https://git-lfs.github.com/spec/"
MAX_LFS_POINTER: Final = 1_024
"""Bytes of a pointer file of Git LFS."""
LONG_LINE: Final = 5_000
"""Characters; a file that is mostly longer lines is minified or generated."""
MOST_LONG: Final = 0.5
"""The share of a file in long lines from which it is skipped."""
BINARY_SAMPLE: Final = 0.1
"""The share of control characters from which a text in no known encoding is binary."""
MOST_SECRET: Final = 0.5
"""The share of a file in secrets from which it is skipped instead of redacted."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL: Final = bytes(set(range(32)) - {9, 10, 12, 13, 27}) + b"\x7f"


class FileText(Struct, frozen=True):
    """The text of a file without secrets, with lines that end with a line feed."""

    text: str
    redacted: int = 0
    """Secrets that were replaced."""
    guessed: bool = False
    """The encoding is not declared, and not everything is UTF-8."""


def text_of(content: bytes, *, skip_binary: bool = True) -> FileText | SkipReason:
    """Return the text of a file's bytes, or the reason for which it is skipped."""
    if not content.strip():
        return SkipReason.EMPTY
    if len(content) <= MAX_LFS_POINTER and content.startswith(LFS):
        return SkipReason.LFS_POINTER
    decoded, guessed = _decoded(content, skip_binary)
    if isinstance(decoded, SkipReason):
        return decoded
    text = decoded.replace("\r\n", "\n").replace("\r", "\n")
    long = sum(len(line) for line in text.split("\n") if len(line) > LONG_LINE)
    if long > MOST_LONG * len(text):
        return SkipReason.MINIFIED
    return _without_secrets(text, guessed)


def _decoded(content: bytes, skip_binary: bool) -> tuple[str | SkipReason, bool]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            text = content[len(mark) :].decode(encoding, "replace")
            return (text if "\0" not in text else SkipReason.BINARY), False
    if b"\0" in content:
        if skip_binary:
            return SkipReason.BINARY, False
        return content.decode("utf-8", "replace").replace("\0", ""), True
    try:
        return content.decode(), False
    except UnicodeDecodeError:
        controls = len(content) - len(content.translate(None, _CONTROL))
        if skip_binary and controls > BINARY_SAMPLE * len(content):
            return SkipReason.BINARY, False
        return _guessed(content), True


def _guessed(content: bytes) -> str:
    """Text in no declared encoding: UTF-8 with damaged characters where most of its characters
    outside of ASCII are UTF-8, else Windows-1252, or Latin-1 where that has no such character."""
    text = content.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    if damaged <= sum(1 for sign in text if sign > "\x7f") - damaged:
        return text
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _without_secrets(text: str, guessed: bool) -> FileText | SkipReason:
    """Replace definite and probable secrets; the number of lines stays."""
    found = [one for one in find_secrets(text) if one.kind.level is not Level.POSSIBLE]
    if not found:
        return FileText(text, 0, guessed)
    if sum(one.end - one.start for one in found) > MOST_SECRET * len(text.strip()):
        return SkipReason.SECRET
    parts, done = [], 0
    for one in found:
        lines = text.count("\n", one.start, one.end)
        parts += [text[done : one.start], REDACTED, "\n" * lines]
        done = one.end
    redacted = "".join((*parts, text[done:]))
    if any(one.kind.level is Level.DEFINITE for one in find_secrets(redacted)):
        return SkipReason.SECRET
    return FileText(redacted, len(found), guessed)


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
