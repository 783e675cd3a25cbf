"""Python's collector of garbage, told what stays, so that it holds nothing up.

What a start makes (some 100,000 objects) is there until the end. A full collection walks through
all of it while every conversation waits: 40 to 90 ms each, several a minute under load. Set
aside, it is never walked through again.
"""

import gc
from typing import Final

YOUNG: Final = 50_000
"""Objects that stay, between two small collections. Python's own 700 is less than one answer makes;
a collection of so many takes five milliseconds. What an answer makes leaves no cycles behind, so
that a collection finds next to nothing."""


def collect_rarely() -> None:
    """Let more objects come together between two collections. Called before the program is loaded:
    a collection of all that it makes takes 70 ms, and may fall into the first messages."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def set_aside() -> None:
    """Take what exists by now out of every further collection; called when the start is over."""
    gc.collect()
    gc.freeze()
    collect_rarely()
