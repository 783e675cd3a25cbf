"""Writes the two small files that an ingest leaves in a work tree: `.agent/state/last_ingest_sha`
and `.agent/logs/ingestion.log`.

They are for people and for coding agents; Parley never reads them. Nothing is written through a
link, into a file with several names, or into a file that the repository has committed.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog

from memory.git.repository import GitRepository
from memory.knowledge.model import BranchOutcome

STATE: Final = (".agent", "state", "last_ingest_sha")
LOG: Final = (".agent", "logs", "ingestion.log")
IGNORED: Final = ("/.agent/state/", "/.agent/logs/")
"""Lines of `.git/info/exclude`, which keep both files out of `git status`."""
MAX_LOG: Final = 256 * 1024
"""Bytes of the log; then its older half is removed."""
MAX_EXCLUDE: Final = 1024 * 1024
"""Bytes of `info/exclude`; a larger one is left alone."""

log = structlog.get_logger(__name__)


async def note_ingest(git: GitRepository, outcome: BranchOutcome, at: datetime) -> None:
    """Note an ingest of the checked out branch in the work tree, if there is one.

    A file that cannot be written is left alone: the index does not depend on it.
    """
    location = git.location
    if location.is_bare:
        return
    tracked = [
        bool(await git.entries(outcome.commit, "/".join(parts[:-1]))) for parts in (STATE, LOG)
    ]
    try:
        _ignore(location.common_dir)
        if not tracked[0]:
            with _opened(location.folder, STATE) as file:
                os.ftruncate(file, 0)
                os.pwrite(file, f"{outcome.commit}\n".encode(), 0)
        if not tracked[1]:
            with _opened(location.folder, LOG) as file:
                _append(file, _line(outcome, at))
    except OSError as error:
        log.warning("work_tree_not_written", folder=str(location.folder), error=str(error))


def clear_state(folder: Path) -> None:
    """Delete the note of the last ingest, if it is a file of the work tree."""
    with suppress(OSError), _folder(folder, STATE[:-1], make=False) as inner:
        if _is_own(os.stat(STATE[-1], dir_fd=inner, follow_symlinks=False)):
            os.unlink(STATE[-1], dir_fd=inner)


def _line(outcome: BranchOutcome, at: datetime) -> str:
    skipped = sum(outcome.skipped.values())
    return (
        f"{at:%Y-%m-%dT%H:%M:%SZ} {outcome.commit[:12]} mode={outcome.mode.name.lower()}"
        f" read={outcome.read} kept={outcome.kept} removed={outcome.removed} skipped={skipped}\n"
    )


def _append(file: int, line: str) -> None:
    size = os.fstat(file).st_size
    if size > MAX_LOG:
        rest = os.pread(file, MAX_LOG // 2, size - MAX_LOG // 2).partition(b"\n")[2]
        os.ftruncate(file, 0)
        os.pwrite(file, rest, 0)
        size = len(rest)
    os.pwrite(file, line.encode(), size)


def _ignore(common: Path) -> None:
    with _opened(common, ("info", "exclude")) as file:
        size = os.fstat(file).st_size
        if size > MAX_EXCLUDE:
            return
        content = os.pread(file, size, 0)
        lines = content.splitlines()
        missing = [one for one in IGNORED if one.encode() not in lines]
        if missing:
            start = b"" if not content or content.endswith(b"\n") else b"\n"
            os.pwrite(file, start + "".join(f"{one}\n" for one in missing).encode(), size)


@contextmanager
def _opened(top: Path, parts: tuple[str, ...]) -> Iterator[int]:
    """Open a regular file below a folder, made if necessary. Raises `OSError` for links."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with _folder(top, parts[:-1], make=True) as folder:
        file = os.open(parts[-1], flags, 0o644, dir_fd=folder)
        try:
            if not _is_own(os.fstat(file)):
                raise OSError(f"{'/'.join(parts)} is no file of its own")
            yield file
        finally:
            os.close(file)


@contextmanager
def _folder(top: Path, parts: tuple[str, ...], *, make: bool) -> Iterator[int]:
    """Open a folder step by step, so that no step is a link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(top, flags)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=opened)
            inner = os.open(part, flags, dir_fd=opened)
            os.close(opened)
            opened = inner
        yield opened
    finally:
        os.close(opened)


def _is_own(status: os.stat_result) -> bool:
    """True for a regular file with one name."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1
