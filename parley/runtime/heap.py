"""The C library's heap, told to give large pieces back.

After the first large piece that is freed, glibc takes pieces of up to 32 MB from its heap instead
of mapping them by themselves, and a heap shrinks from its end only: a program grows with every
rush, and stays so. From the second to the tenth minute at 100 messages a second it grew by 5 to
6 MB, of which one was in use, and by 2.3 with this.
"""

import ctypes
from typing import Final

LARGE: Final = 128 * 1024
"""Bytes from which a piece is mapped by itself, and that may stay free at the heap's end: the
values that glibc begins with; it keeps them once they are set."""
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3


def return_large_blocks() -> bool:
    """Called once, at the start. False where the C library is another one, which is left alone."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return all([mallopt(_MMAP_THRESHOLD, LARGE), mallopt(_TRIM_THRESHOLD, LARGE)])
