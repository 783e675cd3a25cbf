"""The short ids by which the model names the memories of one turn.

A short id is "mem-" and eight hexadecimal digits of the whole id. It is valid only for memories
that this turn showed to the model, so a guess or an external text reaches no other memory.
"""

import re
from collections.abc import Iterable
from typing import Final

from memory.model.record import SHORT_ID

MAX_SHOWN: Final = 1_000
"""Memories of one turn that have short ids."""
_WHOLE: Final = re.compile(r"mem-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class ShownIds:
    """The ids that the model reads in one turn."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def add(self, memory_ids: Iterable[str]) -> None:
        """Note ids that the model is about to read."""
        for memory_id in memory_ids:
            if len(self._ids) < MAX_SHOWN:
                self._ids.add(memory_id)

    def named(self, name: str) -> str | None:
        """Return the full id that the model means; None if none or two of this name were shown. A
        full id is returned unchanged: the store checks the access."""
        short = name.strip().strip("[]()").casefold()
        if _WHOLE.fullmatch(short) is not None:
            return short
        if len(short) < SHORT_ID:
            return None
        matches = [one for one in self._ids if one.startswith(short)]
        return matches[0] if len(matches) == 1 else None
