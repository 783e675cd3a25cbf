"""The contract suite of Parley for memory, for this backend."""

from pathlib import Path

from parley.testing import MemoryCase
from parley.testing.memory_contract import *  # noqa: F403 - every test of the suite


def settings(folder: Path) -> dict[str, object]:
    """The name is one of this test, so that it does not matter if the package is installed."""
    return {
        "memory": {
            "backend": "notes",
            "backend_load": {"notes": "parley_memory_markdown:backend"},
            "backend_options": {"notes": {"folder": str(folder / "notes")}},
        }
    }


MEMORY_CASES = (MemoryCase("markdown", settings, backend="notes"),)
