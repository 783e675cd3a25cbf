"""Memories of an older version of the program, which are not filed under their words yet."""

from collections.abc import Sequence
from typing import Protocol


class UnfiledMemories(Protocol):
    """What the chore of filing needs of a store."""

    async def unfiled(self, limit: int, passed: Sequence[str]) -> list[str]:
        """Ids of some of them, the newest first, without those in `passed`."""
        ...

    async def file(self, ids: Sequence[str]) -> int:
        """File these under their words; how many were not filed yet."""
        ...
