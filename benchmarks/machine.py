"""Measures the processor time of other programs during a measurement."""

import os
import resource
import time
from contextlib import suppress
from typing import Final

import psutil

QUIET: Final = 0.3
"""Processors that others may use, on average, in a measurement that counts."""


class Machine:
    """Looks at all processors from now on. Children of this process count as its own once they
    are waited for."""

    def __init__(self) -> None:
        self._began, self._busy, self._ours = time.monotonic(), _busy(), _ours()

    def others(self) -> float:
        """Processors (1.0 is one of them, all the time) that others used since then."""
        seconds = time.monotonic() - self._began
        used = (_busy() - self._busy) - (_ours() - self._ours)
        return round(max(0.0, used / seconds), 3)


def comes_first() -> bool:
    """Return True if this process and its children have a higher priority than others, so that
    these cannot delay them: `chrt -f 10 python -m benchmarks.latency`, on a shared machine."""
    return os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)


def processor_seconds(pid: int) -> float:
    """Return what a process and its descendants have used so far."""
    process = psutil.Process(pid)
    used = 0.0
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            used += times.user + times.system
    return used


def _busy() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - times.iowait - times.guest - times.guest_nice)


def _ours() -> float:
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, whose))
