"""Ends the process when its event loop hangs, also while the interpreter's lock is held.

The loop resets two timers of the operating system, `TICKS` times within the limit:

* SIGALRM after the limit. Its handler in C (`faulthandler.register`) writes the stacks of all
  threads to standard error at once, whoever holds the interpreter's lock. The handler in Python
  follows: `re` and the interpreter's own loop let signals in, so it can run while they hang. It
  names the current work and ends the process.
* `faulthandler.dump_traceback_later` some seconds after that, a thread in C: for C code that lets
  no signal in, and for a thread that holds the lock. It writes the stacks to a file beside the
  record of work, and ends the process.

A second process that watches this one would do as well, but not for process 1 of a container, which
no process inside can end. The timers go by the monotonic clock: they stand still while a computer
sleeps, but not while a process is stopped (SIGSTOP, a frozen container). A process that was stopped
for longer than the limit has neither used processor time nor waited for it: it is given
`GRACE_SHARE` of the limit to turn its loop, and ends only if it was stopped for longer than both.
"""

import asyncio
import faulthandler
import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO, Final, Self

import structlog

from gateway.inbound.work_record import Crash, WorkRecord, open_record
from parley.config import Settings
from parley.config.sections import sqlite_file

log = structlog.get_logger(__name__)


def work_record(settings: Settings) -> tuple[WorkRecord, list[Crash]]:
    """Open the record, with the crashes that processes before this one left. Where its folder
    cannot be written, the record stays in memory: a hang is logged, but does not count at the next
    start."""
    folder, name = record_location(settings)
    try:
        return open_record(folder, name)
    except OSError as error:
        log.warning(
            "work_record_missing",
            folder=str(folder),
            error=str(error),
            hint="set watchdog.folder to a folder that this user can write",
        )
        return WorkRecord(), []


def record_location(settings: Settings) -> tuple[Path, str]:
    """The folder and the prefix of the file's name, which programs share only with their stores."""
    storage, database = settings.storage_url, settings.database.url
    file = sqlite_file(storage) or sqlite_file(database)
    configured = settings.watchdog.folder
    if file:
        path = Path(file).resolve()
        return Path(configured) if configured else path.parent, path.name
    digest = hashlib.blake2b(f"{storage}\0{database}".encode(), digest_size=4).hexdigest()
    return Path(configured or "."), f"parley-{digest}"


TICKS: Final = 8
"""Number of times that the timers are reset within the limit."""
LONGEST_TICK: Final = 1.0
"""Maximum of seconds between two resets; systemd is notified as often."""
GRACE_SHARE: Final = 0.25
"""Delay of the second timer after the first, as a share of the limit."""
BUSY_SHARE: Final = 0.25
"""Share of the limit for which a hanging process computed or waited for a processor, at least. A
process that was stopped did neither."""
SCHEDULED: Final = Path("/proc/thread-self/schedstat")
"""Linux: nanoseconds that the thread ran, nanoseconds that it waited for a processor, and a count
(https://docs.kernel.org/scheduler/sched-stats.html)."""
STATUS: Final = 1
"""The exit status, the same as `faulthandler`'s."""


class Watchdog:
    """Watches one event loop, from `start` to `close`. Needs the main thread; `alive` is called at
    every tick."""

    def __init__(
        self,
        seconds: float,
        record: WorkRecord,
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        """`seconds`: the limit for which the loop may block; 0 for no limit."""
        self._seconds = seconds
        self._tick = min(LONGEST_TICK, seconds / TICKS) if seconds else LONGEST_TICK
        self._grace = seconds * GRACE_SHARE
        self._record = record
        self._alive = alive
        self._stacks: IO[bytes] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next: asyncio.TimerHandle | None = None
        self._computed = self._waited = 0.0
        self._warned = False

    def start(self) -> None:
        """Start to watch; called within the loop."""
        self._loop = asyncio.get_running_loop()
        if self._seconds:
            self._stacks = _opened(self._record.stack_file)
            signal.signal(signal.SIGALRM, self._hangs)
            faulthandler.register(signal.SIGALRM, file=sys.stderr, all_threads=True, chain=True)
        self._turn()

    def close(self) -> None:
        """Stop. Safe to call twice, and before `start`."""
        following, self._next = self._next, None
        if following is not None:
            following.cancel()
        if self._loop is not None and self._seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
            faulthandler.unregister(signal.SIGALRM)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        self._loop = None
        stacks, self._stacks = self._stacks, None
        if stacks is not None:
            stacks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _turn(self) -> None:
        """Reset the timers: the loop runs."""
        if self._loop is None:
            return
        self._warned = False
        self._computed, self._waited = time.process_time(), _waited_seconds()
        self._arm(self._seconds)
        self._alive()
        self._next = self._loop.call_later(self._tick, self._turn)

    def _arm(self, seconds: float) -> None:
        if not self._seconds:
            return
        signal.setitimer(signal.ITIMER_REAL, seconds)
        faulthandler.dump_traceback_later(
            seconds + self._grace, exit=True, file=self._stacks or sys.stderr
        )

    def _hangs(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler of SIGALRM: the loop has stood still for as long as it may."""
        least, computed = self._seconds * BUSY_SHARE, time.process_time() - self._computed
        busy = computed >= least
        if not (busy or self._warned):
            self._warned = True
            self._arm(self._grace)
            return
        blocked = computed + _waited_seconds() - self._waited >= least
        ran = self._record.name_running() if blocked else ()
        if self._stacks is not None:
            faulthandler.dump_traceback(self._stacks, all_threads=True)
        try:
            log.critical(
                "event_loop_blocked",
                seconds=self._seconds,
                ran=" ".join(item.key for item in ran),
                in_work=" ".join(item.key for item in self._record.in_work()),
                hint="The stacks are above. The process exits, so that its supervisor restarts it.",
            )
            sys.stderr.flush()
        finally:
            os._exit(STATUS)


def _waited_seconds() -> float:
    """Seconds that the main thread waited for a processor so far; 0 where the system does not say.
    A process that hangs on a busy machine computes little, but wants to."""
    try:
        return int(SCHEDULED.read_bytes().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _opened(path: Path | None) -> IO[bytes] | None:
    """The file for the stacks, opened in advance: a hanging process cannot do it any more."""
    if path is None:
        return None
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        return os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
    except OSError as error:
        log.warning("no_stack_file", path=str(path), error=str(error))
        return None
