"""Counts the deaths that a piece of work was in work at, where the next process finds them."""

from datetime import timedelta
from typing import Final

from gateway.ports import AdapterState
from gateway.ports.work_guard import WorkItem

MAX_DEATHS: Final = 7
"""The weight from which an item is not begun any more. With five, one message in some thousands was
given up for nothing when a busy program was killed twenty times; with more than nine, systemd would
have given the program up first."""
KILLED: Final = 1
"""Weight of a death of unknown cause: the item was in work, as others were."""
HUNG: Final = 3
"""Weight of a hang that the watchdog ended without naming what ran."""
NAMED: Final = 4
"""Weight of a hang for the item that ran: two of them reach `MAX_DEATHS`."""
KEEP: Final = timedelta(days=7)
"""How long a death counts."""
OVER: Final = "over"
"""In place of a count: the item was given up, and is finished without a word from then on."""
LONGEST_KEY: Final = 200


class Deaths:
    """The counts, in the durable state of the program. Everything raises `StoreUnavailable`."""

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def of(self, item: WorkItem) -> int:
        """The weight of its deaths."""
        found = await self._state.get(_key(item))
        if found == OVER:
            return MAX_DEATHS
        return int(found) if found and found.isdecimal() else 0

    async def put(self, item: WorkItem, weight: int) -> None:
        """Set the weight."""
        await self._state.put(_key(item), str(weight), KEEP)

    async def add(self, item: WorkItem, weight: int) -> int:
        """Add a death; the weight of all of them. An item that was given up stays so."""
        if await self._state.get(_key(item)) == OVER:
            return MAX_DEATHS
        total = await self.of(item) + weight
        await self.put(item, total)
        return total

    async def begin_giving_up(self, item: WorkItem) -> bool:
        """True for the first call: giving the item up may be what a process dies of, too."""
        if await self._state.get(_key(item)) == OVER:
            return False
        await self._state.put(_key(item), OVER, KEEP)
        return True


def _key(item: WorkItem) -> str:
    # A message's count has stood under the bare id of its exchange since the first release.
    return item.id if item.kind == "message" else f"{item.kind}:{item.id}"[:LONGEST_KEY]
