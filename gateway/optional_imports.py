"""Keeps a library from importing optional ones that Parley does not use with it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unavailable(*packages: str) -> Iterator[None]:
    """Let imports of these packages fail inside the block, unless they are imported already. Used
    at the start only: it affects imports of other threads as well."""
    absent = [name for name in packages if name not in sys.modules]
    for name in absent:
        sys.modules[name] = None  # type: ignore[assignment]  # makes Python's import fail
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
