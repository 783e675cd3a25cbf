"""The memories that the model was shown in one turn, and the short ids by which it names them.

A short id is "mem-" and eight hexadecimal digits, the beginning of the whole one. It means
something only for what this turn showed to this model: any other name leads to nothing, so that
neither a guess nor a text from outside reaches another memory, let alone another person's.
"""

import re
from collections.abc import Iterable
from typing import Final

from memory.model.record import SHORT_ID

MAX_SHOWN: Final = 1_000
"""Memories of one turn; further ones can be named by their whole id only."""
_WHOLE: Final = re.compile(r"mem-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class ShownIds:
    """Collects the ids that the model reads in one turn."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def add(self, memory_ids: Iterable[str]) -> None:
        """Note ids, as the model is about to read them."""
        for memory_id in memory_ids:
            if len(self._ids) < MAX_SHOWN:
                self._ids.add(memory_id)

    def named(self, name: str) -> str | None:
        """The whole id that the model means; None where it was shown none of this name, or two. A
        whole id is taken as it is: the store looks whose it is."""
        wanted = name.strip().strip("[]()").casefold()
        if _WHOLE.fullmatch(wanted) is not None:
            return wanted
        if len(wanted) < SHORT_ID:
            return None
        found = [one for one in self._ids if one.startswith(wanted)]
        return found[0] if len(found) == 1 else None
