"""Files memories under the words that they are found by, after an update that changes how.

A memory whose text processes die of is filed alone, and then no more: it is found by its vector
only, and the others are filed all the same.
"""

from typing import Final

from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from memory.store.ports import UnfiledMemories

AT_ONCE: Final = 200
"""Memories that one step files: some milliseconds."""
MAX_PASSED: Final = 1_000
"""Memories that are passed over; with more the chore waits for an operator."""


class Filing:
    """A chore of the housekeeping that guards its own work."""

    def __init__(self, memories: UnfiledMemories, guard: WorkGuard = UNGUARDED) -> None:
        self._memories = memories
        self._guard = guard
        self._passed: list[str] = []

    async def step(self) -> int:
        """File some; how many were dealt with, 0 in the end. Raises `StoreUnavailable`."""
        found = await self._memories.unfiled(AT_ONCE, self._passed)
        exhausted = [one for one in found if self._guard.exhausted(_item(one))]
        self._passed += exhausted[: MAX_PASSED - len(self._passed)]
        left = [one for one in found if one not in set(exhausted)]
        fresh = [one for one in left if not self._guard.deaths(_item(one))]
        suspects = [one for one in left if self._guard.deaths(_item(one))]
        for batch in (fresh, *([one] for one in suspects)):
            if batch:
                with self._guard.working(*map(_item, batch)):
                    await self._memories.file(batch)
        return len(left) or (len(exhausted) if len(self._passed) < MAX_PASSED else 0)


def _item(memory_id: str) -> WorkItem:
    return WorkItem("filing", memory_id)
