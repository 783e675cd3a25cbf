"""The background process of the hooks: one ingest at a time, and at most one that waits for it."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from memory.knowledge.hooks.script import GONE, LOCK, LOG, REWRITTEN, WAITING

LOCK_SECONDS: Final = 900.0
"""Seconds for which a process waits for the one that ingests."""
POLL_SECONDS: Final = 0.05
MAX_LOG: Final = 1_000_000
"""Bytes of the log of the hooks, which then begins again."""
MAX_PID: Final = 30


def run_once(
    state: Path,
    ingest: Callable[[bool], int],
    *,
    wait: float = LOCK_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Run `ingest` alone, and return its status; 1 if another process did not end in time.

    The argument of `ingest` is true after a rebase or an amended commit. From the moment at which
    it begins, a further commit starts a further process.
    """
    _bound_log(state / LOG)
    _taken(state / GONE)
    with _alone(state / LOCK, wait, sleep) as alone:
        if not alone:
            return 1
        _begin(state / WAITING)
        rewritten = _taken(state / REWRITTEN)
        done = False
        try:
            status = ingest(rewritten)
            done = status == 0
        finally:
            if rewritten and not done:
                (state / REWRITTEN).touch()
        return status


@contextmanager
def _alone(lock: Path, wait: float, sleep: Callable[[float], None]) -> Iterator[bool]:
    """Hold the lock; false if another process keeps it. The system releases it when the process
    ends, however it ends."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield _locked(handle, wait, sleep)
    finally:
        os.close(handle)


def _locked(handle: int, wait: float, sleep: Callable[[float], None]) -> bool:
    for _ in range(max(1, int(wait / POLL_SECONDS))):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(POLL_SECONDS)
        else:
            return True
    return False


def _taken(mark: Path) -> bool:
    """Remove a mark; true if it was there."""
    try:
        mark.unlink()
    except FileNotFoundError:
        return False
    return True


def _begin(waiting: Path) -> None:
    """Remove the mark of this process: commits from now on are not certain to be seen by it."""
    with suppress(FileNotFoundError):
        if waiting.read_bytes()[:MAX_PID].strip() == str(os.getpid()).encode():
            waiting.unlink()


def _bound_log(log: Path) -> None:
    with suppress(FileNotFoundError):
        if log.stat().st_size > MAX_LOG:
            os.truncate(log, 0)
