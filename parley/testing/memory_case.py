"""A memory as its contract suite tests it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct


class MemoryCase(Struct, frozen=True):
    """One configuration of memory.

    `name` stands in the names of the tests. `settings` returns the configuration for an empty
    folder, without `database` for a SQLite file in that folder. `backend` is the name of the memory
    backend in `memory.backend` that is tested; empty for Parley's own memory, for which the tests
    of the port are skipped.
    """

    name: str
    settings: Callable[[Path], Mapping[str, object]]
    backend: str = ""
