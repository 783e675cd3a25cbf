"""The processor time of a piece of work, and its growth with the length of a text.

Only the time of the calling thread counts, the collector of garbage does not run, and the fastest
of several calls counts: other tests of the process and a busy machine change little.
"""

import gc
import time
from collections.abc import Callable
from typing import Final

TIMES: Final = 4
QUADRATIC: Final = 10.0
"""Between linear growth, which is 4 for four times the text, and quadratic growth, which is 16."""
REPETITIONS: Final = 3
LEAST: Final = 1e-4


def seconds(work: Callable[[], object], enough: float = 0.0) -> float:
    """Return the time of the fastest of `REPETITIONS` calls, at least 0.1 ms. A call that takes at
    most `enough` seconds is the last one."""
    best = float("inf")
    for _ in range(REPETITIONS):
        best = min(best, _once(work))
        if best <= enough:
            break
    return max(best, LEAST)


def growth(function: Callable[[str], object], unit: str, length: int) -> float:
    """Return the time for a text of `length` characters, in that for a quarter of it. The text
    repeats `unit`."""
    long = (unit * length)[:length]
    short = long[: length // TIMES]
    return seconds(lambda: function(long)) / seconds(lambda: function(short))


def _once(work: Callable[[], object]) -> float:
    collected = gc.isenabled()
    gc.disable()
    began = time.thread_time()
    try:
        work()
        return time.thread_time() - began
    finally:
        if collected:
            gc.enable()
