"""The processor time of a function for a text, and its growth with the length."""

import time
from collections.abc import Callable
from typing import Final

TIMES: Final = 4
QUADRATIC: Final = 10.0
"""Between linear growth, which is 4 for four times the text, and quadratic growth, which is 16."""
REPETITIONS: Final = 3


def growth(function: Callable[[str], object], unit: str, length: int) -> float:
    """Return the processor time for a text of `length` characters, in that for a quarter of it. The
    text repeats `unit`."""
    text = (unit * length)[:length]
    return shortest(function, text) / shortest(function, text[: length // TIMES])


def shortest(function: Callable[[str], object], text: str) -> float:
    """Return the processor time of the fastest of `REPETITIONS` calls in seconds, at least 0.1 ms,
    so that a busy machine changes little."""
    times = []
    for _ in range(REPETITIONS):
        began = time.thread_time()
        function(text)
        times.append(time.thread_time() - began)
    return max(min(times), 1e-4)
