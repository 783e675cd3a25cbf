"""Updates that wait for the bot: kept until a later offset confirms them, as Telegram does."""

import asyncio
import json
from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import Final

MAX_WAITING: Final = 100_000
MAX_BATCH: Final = 100
UNASKED: Final = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
"""Kinds that Telegram delivers only to a bot that names them in allowed_updates."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An update ready to go out. `lane` is the chat; updates of one lane keep their order."""

    id: int
    lane: int
    text: str


class Superseded(Exception):
    """Another getUpdates took over from this one."""


class UpdateQueue:
    """The updates of one bot, in order."""

    def __init__(self) -> None:
        self.waiting: deque[Waiting] = deque()
        self.allowed: frozenset[str] | None = None
        self.delivered: int = 0
        self._again: list[Waiting] = []
        self._repeat = 0
        self._ids = count(700_000_001)
        self._changed = asyncio.Event()
        self._poller: object | None = None
        self.polled = asyncio.Event()

    def wants(self, kind: str) -> bool:
        """True when the bot asked for this kind of update."""
        return kind not in UNASKED if self.allowed is None else kind in self.allowed

    def allow(self, kinds: list[str]) -> None:
        """Set allowed_updates; an empty list means the default kinds."""
        self.allowed = frozenset(kinds) if kinds else None

    def duplicate_next(self, times: int) -> None:
        """Deliver the next update `times` more often, also after it was confirmed."""
        self._repeat += times

    def add(self, kind: str, lane: int, body: dict[str, object]) -> list[Waiting]:
        """Queue an update; returns what is to be delivered (empty when not asked for)."""
        if not self.wants(kind):
            return []
        if len(self.waiting) >= MAX_WAITING:
            raise OverflowError(f"{MAX_WAITING} updates wait for a bot that does not fetch them")
        number = next(self._ids)
        text = json.dumps({"update_id": number, kind: body})
        update = Waiting(number, lane, text)
        self.waiting.append(update)
        again = [update] * self._repeat
        self._again += again
        self._repeat = 0
        self._wake()
        return [update, *again]

    def drop_all(self) -> None:
        """Forget what waits (drop_pending_updates)."""
        self.waiting.clear()
        self._again.clear()

    def forget(self, update: Waiting) -> None:
        """A webhook took this update."""
        if self.waiting and self.waiting[0].id == update.id:
            self.waiting.popleft()
        elif update in self.waiting:
            self.waiting.remove(update)
        if update in self._again:
            self._again.remove(update)

    def take_over(self) -> None:
        """End a getUpdates that waits; it raises `Superseded`."""
        self._poller = None
        self._wake()

    async def poll(self, offset: int, limit: int, timeout: float) -> list[Waiting]:
        """Return the response of getUpdates. Raises `Superseded` if another poll begins
        meanwhile."""
        mine = object()
        if self._poller is not None:
            self.take_over()
        self._poller = mine
        self.polled.set()
        try:
            self._confirm(offset)
            if not self.waiting and not self._again and timeout > 0:
                await self._wait(mine, timeout)
            if self._poller is not mine:
                raise Superseded
            batch = self._batch(limit)
            self.delivered += len(batch)
            return batch
        finally:
            if self._poller is mine:
                self._poller = None

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            while len(self.waiting) > -offset:
                self.waiting.popleft()
        while self.waiting and self.waiting[0].id < offset:
            self.waiting.popleft()

    def _batch(self, limit: int) -> list[Waiting]:
        size = max(1, min(limit, MAX_BATCH))
        late: list[Waiting] = []
        if self._again:
            known = {update.id for update in self.waiting}
            late = [update for update in self._again if update.id not in known]
            self._again = [update for update in self._again if update.id in known]
        fresh = [self.waiting[at] for at in range(min(size, len(self.waiting)))]
        return [*late, *fresh][:size]

    async def _wait(self, mine: object, timeout: float) -> None:
        try:
            async with asyncio.timeout(timeout):
                while self._poller is mine and not self.waiting and not self._again:
                    await self._changed.wait()
        except TimeoutError:
            return

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
