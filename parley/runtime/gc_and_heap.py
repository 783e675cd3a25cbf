"""Tunes Python's garbage collector and the C library's heap for a program that runs for long.

Garbage: a start creates some 100,000 objects that live until the end. A full collection scans all
of them and blocks every conversation: 40 to 90 ms each, several a minute under load. Frozen objects
are never scanned again.

Heap: once a large block was freed, glibc takes blocks of up to 32 MB from its heap instead of
mapping them separately. A heap shrinks at its end only, so the program grows with every peak. From
the second to the tenth minute at 100 messages a second it grew by 5 to 6 MB, of which one was in
use, and by 2.3 MB with these limits. Each thread would have a heap of its own: with one for all a
start takes 4 MB less, and Python's lock lets one thread allocate at a time anyway.
"""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

YOUNG: Final = 50_000
"""New objects between two small collections, of five milliseconds each. Python's default of 700 is
fewer than one answer creates, and an answer leaves no cycles to collect."""
LARGE: Final = 128 * 1024
"""Bytes from which a block is mapped separately, and that may stay free at the end of the heap.
These are glibc's initial values, which stay fixed once they are set."""
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8


def return_large_blocks() -> bool:
    """Set the limits; called once, at the start. Returns False on other C libraries."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return all(
        [mallopt(_MMAP_THRESHOLD, LARGE), mallopt(_TRIM_THRESHOLD, LARGE), mallopt(_ARENA_MAX, 1)]
    )


def collect_rarely() -> None:
    """Raise the number of new objects between two collections. Called before the program is loaded:
    a collection of everything that the start creates takes 70 ms, and may delay the first
    messages."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def freeze_loaded_objects() -> None:
    """Exclude the present objects from every further collection, after a collection of the newest.
    Called when all parts are loaded: the collection at the end of the start then scans 10,000
    objects instead of 200,000, which takes 2 ms instead of 140."""
    gc.collect(0)
    gc.freeze()


def freeze_startup_objects() -> None:
    """Exclude the present objects from every further collection; called at the end of the start."""
    gc.collect()
    gc.freeze()
    collect_rarely()


@contextmanager
def no_collections() -> Iterator[None]:
    """Load a library inside the block: nothing is collected, and its objects are excluded from
    every further collection. A full collection in between takes 200 ms, and holds the loop also
    from another thread."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        _trim()


def _trim() -> None:
    """Give free pages of the heap back to the system, where the C library can."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
