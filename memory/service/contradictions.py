"""Memories of one person that may contradict each other, for one request: the marks, the question
which of two is true, and the restoration of a replaced memory."""

from typing import Final, Literal

from msgspec import Struct

from gateway.errors import BadInput, NotFound
from gateway.people import Audience
from gateway.text import text
from memory.model.plans import refusal_of
from memory.model.record import Record, Scope, short_id
from memory.recall.selection import displayable
from memory.service.dependencies import RequestMemory
from memory.stores.conflicts import Kept, KeptPair, Pair, contradicting
from memory.write.write_path import STORED_ALREADY

NOT_OPEN: Final = text("This is decided already, or one of the two memories is gone.")
NOT_REPLACED: Final = text("This memory was not replaced, or is no longer stored.")


class Contradiction(Struct, frozen=True):
    """Two memories of which only one may be true, the older one first."""

    older: Record
    newer: Record

    @property
    def pair(self) -> Pair:
        """The ids of the two."""
        return Pair(self.older.id, self.newer.id)


class Decided(Struct, frozen=True):
    """The answer of a person about two memories: those that are true, and the one that is not."""

    true: tuple[Record, ...]
    replaced: Record | None = None
    """The memory that is no longer true; None if both are true."""


Answer = Literal["one", "other", "both"]
"""Which of two memories is true."""


class MemoryContradictions(RequestMemory, frozen=True):
    """Shows and decides what may contradict, as far as both memories may be shown here."""

    async def marks(self) -> dict[str, tuple[str, ...]]:
        """Return the ids of the memories that a memory may contradict, by its id."""
        conflicts = self.dependencies.path.conflicts
        return contradicting(await conflicts.open(self.access, self.request.at))

    async def every(self) -> list[KeptPair]:
        """Return all pairs of the person for an export, also those that were settled."""
        return await self.dependencies.path.conflicts.every(self.access)

    async def bring_in(self, kept: KeptPair) -> bool | None:
        """Store a pair of an export: True if it is stored now, None if it was before. False if the
        two are not memories of this person that belong together, or if too many pairs wait."""
        conflicts = self.dependencies.path.conflicts
        if await conflicts.knows(self.access, kept.pair):
            return None
        return await conflicts.bring_in(self.access, kept, self.request.at)

    async def question(self) -> Contradiction | None:
        """Return the pair to ask about after an answer, and note that it was asked: in a direct
        conversation, and at most one a day."""
        if self.request.place.audience is not Audience.DIRECT or self.access.agent:
            return None
        conflicts, now = self.dependencies.path.conflicts, self.request.at
        return await self._asked(await conflicts.next_question(self.access, now))

    async def first(self) -> Contradiction | None:
        """Return the oldest pair for a person who asks what waits for their decision, and note that
        it was asked; None where others read the answer."""
        if self.request.place.audience is not Audience.DIRECT or self.access.agent:
            return None
        pairs = await self.dependencies.path.conflicts.open(self.access, self.request.at)
        return await self._asked(pairs[0] if pairs else None)

    async def settle(self, one: str, other: str, true: Answer) -> Decided:
        """Record which of two memories is true; the other one is replaced by it. `one` and `other`
        are ids, or what `short_id` makes of them. Raises `NotFound` for a pair that is not open."""
        conflicts, now = self.dependencies.path.conflicts, self.request.at
        pairs = [
            pair
            for pair in await conflicts.open(self.access, now)
            if _is_named(pair, one, other) or _is_named(pair, other, one)
        ]
        both = await self._records(pairs[0]) if len(pairs) == 1 else None
        if both is None:
            raise NotFound(NOT_OPEN)
        kept: Kept = "both"
        if true != "both":
            kept = "older" if _is_named(both.pair, one, other) == (true == "one") else "newer"
        if not await conflicts.settle(self.access, both.pair, kept, now):
            raise NotFound(NOT_OPEN)
        ids = {"older": both.older.id, "newer": both.newer.id}
        await self.audit("memory_conflict", decision=kept, **ids)
        if kept == "both":
            return Decided((both.older, both.newer))
        stays, left = (both.older, both.newer) if kept == "older" else (both.newer, both.older)
        return Decided((stays,), left)

    async def restore(self, memory_id: str) -> Record:
        """Make a replaced memory current again, and return it. What replaced it stays, and the two
        may contradict each other. Raises `NotFound` if it was not replaced or may not be changed
        here, and `BadInput` if the plan is full or the same is stored by now."""
        memories, path = self.dependencies.memories, self.dependencies.path
        old = await memories.get(self.access, memory_id)
        if old is None or old.current:
            raise NotFound(NOT_REPLACED)
        await self._check_room(old)
        beside = await memories.restore(self.access, memory_id)
        restored = None if beside is None else await memories.get(self.access, memory_id)
        if restored is None:
            raise NotFound(NOT_REPLACED)
        other = await memories.get(self.access, beside) if beside else None
        if other is not None:
            times = (restored.provenance.at, other.provenance.at)
            ids = (restored.id, other.id) if times[0] <= times[1] else (other.id, restored.id)
            await path.conflicts.reopen(self.access, Pair(*ids), self.request.at)
        await self.audit("memory_restore", ids=memory_id, beside=beside or "none")
        return displayable(restored)

    async def _check_room(self, old: Record) -> None:
        memories, path = self.dependencies.memories, self.dependencies.path
        most = path.plans.plan_of(self.access.persons)
        if old.scope is Scope.USER and most.memories is not None:
            count = await memories.count(self.access)
            if count >= most.memories:
                raise BadInput(refusal_of(most, count), code="quota")
        threshold = path.rules.dedup_threshold
        if threshold is not None and await memories.like(self.access, old, threshold=threshold):
            raise BadInput(STORED_ALREADY, code="duplicate")

    async def _asked(self, pair: Pair | None) -> Contradiction | None:
        both = None if pair is None else await self._records(pair)
        if both is not None:
            await self.dependencies.path.conflicts.asked(self.access, both.pair, self.request.at)
        return both

    async def _records(self, pair: Pair) -> Contradiction | None:
        older = await self.dependencies.memories.get(self.access, pair.older)
        newer = await self.dependencies.memories.get(self.access, pair.newer)
        if older is None or newer is None:
            return None
        return Contradiction(displayable(older), displayable(newer))


def _is_named(pair: Pair, older: str, newer: str) -> bool:
    return (older, newer) in (
        (pair.older, pair.newer),
        (short_id(pair.older), short_id(pair.newer)),
    )
