"""Ends the process when its event loop stands still, also while the interpreter's lock is held.

Two timers of the operating system are set anew from the loop, `TICKS` times within the limit:

* SIGALRM after the limit. Its handler in C (`faulthandler.register`) writes the stacks of all
  threads to standard error at once, whoever holds the interpreter's lock. The handler in Python
  follows: `re` and the interpreter's own loop let signals in, so that it runs in the middle of what
  hangs, names the work that runs, and ends the process.
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
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO, Final, Self, TextIO

import structlog

from gateway.inbound.work_record import WorkRecord

TICKS: Final = 8
"""How often the timers are set anew within the limit."""
LONGEST_TICK: Final = 1.0
"""Seconds between two of these at most; systemd is told as often."""
GRACE_SHARE: Final = 0.25
"""Share of the limit by which the second timer is later than the first."""
BUSY_SHARE: Final = 0.25
"""Share of the limit for which a hanging process computed or waited for a processor, at least. A
process that was stopped did neither."""
SCHEDULED: Final = Path("/proc/thread-self/schedstat")
"""Linux: nanoseconds that the thread ran, nanoseconds that it waited for a processor, and a count
(https://docs.kernel.org/scheduler/sched-stats.html)."""
STATUS: Final = 1
"""The exit status, the same as that of `faulthandler`."""

log = structlog.get_logger(__name__)


class Watchdog:
    """Watches one event loop, from `start` to `close`. Needs the main thread; `alive` is called at
    every tick."""

    def __init__(
        self,
        seconds: float,
        record: WorkRecord,
        alive: Callable[[], None] = lambda: None,
        errors: TextIO | None = None,
    ) -> None:
        """`seconds`: how long the loop may stand still, 0 for as long as it likes."""
        self._seconds = seconds
        self._tick = min(LONGEST_TICK, seconds / TICKS) if seconds else LONGEST_TICK
        self._grace = seconds * GRACE_SHARE
        self._record = record
        self._alive = alive
        self._errors = errors or sys.stderr
        self._stacks: IO[bytes] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next: asyncio.TimerHandle | None = None
        self._busy = 0.0
        self._warned = False

    def start(self) -> None:
        """Begin; called within the loop."""
        self._loop = asyncio.get_running_loop()
        if self._seconds:
            self._stacks = _opened(self._record.stack_file)
            signal.signal(signal.SIGALRM, self._hangs)
            faulthandler.register(signal.SIGALRM, file=self._errors, all_threads=True, chain=True)
        self._turn()

    def close(self) -> None:
        """End. Safe to call twice, and before `start`."""
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
        """The loop turns: set the timers anew."""
        if self._loop is None:
            return
        self._warned = False
        self._busy = _busy_seconds()
        self._arm(self._seconds)
        self._alive()
        self._next = self._loop.call_later(self._tick, self._turn)

    def _arm(self, seconds: float) -> None:
        if not self._seconds:
            return
        signal.setitimer(signal.ITIMER_REAL, seconds)
        faulthandler.dump_traceback_later(
            seconds + self._grace, exit=True, file=self._stacks or self._errors
        )

    def _hangs(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler of SIGALRM: the loop has stood still for as long as it may."""
        busy = _busy_seconds() - self._busy >= self._seconds * BUSY_SHARE
        if not (busy or self._warned):
            self._warned = True
            self._arm(self._grace)
            return
        ran = self._record.name_running() if busy else ()
        if self._stacks is not None:
            faulthandler.dump_traceback(self._stacks, all_threads=True)
        try:
            log.critical(
                "event_loop_stands_still",
                seconds=self._seconds,
                ran=" ".join(item.key for item in ran),
                in_work=" ".join(item.key for item in self._record.in_work()),
                hint="The stacks are above. The process ends; its supervisor has to restart it.",
            )
            self._errors.flush()
        finally:
            os._exit(STATUS)


def _busy_seconds() -> float:
    """Seconds that this process computed, or its main thread waited for a processor, so far."""
    try:
        waited = int(SCHEDULED.read_bytes().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        waited = 0.0  # not Linux, or a kernel without these figures
    return time.process_time() + waited


def _opened(path: Path | None) -> IO[bytes] | None:
    """The file for the stacks, made now: there is no time for it later."""
    if path is None:
        return None
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        return os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
    except OSError as error:
        log.warning("no_stack_file", path=str(path), error=str(error))
        return None
