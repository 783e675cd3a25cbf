"""Updates of shared memories: a compare-and-set by version.

The new text goes through the write path, as a memory of the writing agent's person. It supersedes
what an agent of that person wrote before about the same. The sentence of a person, and the memory
of another person, stay as they are, and only the pool shows the new text. Of two concurrent updates
one wins. The other one gets both texts, and its own memory is deleted.
"""

from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.ports import Clock
from gateway.text import Text, text, verbatim
from memory.agents.model import AgentEvent, EventKind, PoolEntry, SharedUpdate, UpdateOutcome
from memory.agents.stores.events import event_of
from memory.agents.stores.pools import ReplacedText, SqlPools
from memory.model.outcome import Code, Outcome, WriteResult
from memory.model.record import Draft, InputKind
from memory.model.scope import AccessScope, RequestScope, may_be_shared, may_change
from memory.ports.memories import MemoryStore
from memory.recall.selection import displayable
from memory.write.contradiction import Relation, verdict
from memory.write.write_path import WritePath

CONFLICT: Final = text(
    "Another agent changed this memory to version {version}. Merge both texts and update that"
    " version."
)
MEMORY_OFF: Final = text("Memory is off for this person, so nothing is kept.")
GONE: Final = text("The memory is no longer shared here.")
WAITS: Final = text(
    "{reason} After its approval, update the shared memory with the same text again."
)


class SharedUpdates(Struct, frozen=True):
    """Writes new versions of shared memories."""

    store: SqlPools
    memories: MemoryStore
    path: WritePath
    clock: Clock

    async def update(
        self,
        request: RequestScope,
        access: AccessScope,
        entry: PoolEntry,
        expected: int,
        text: str,
    ) -> SharedUpdate:
        """Give a shared memory the next version, if its version is `expected`."""
        if entry.shared.version != expected:
            return _conflict(entry, text)
        if not request.session:
            return _unchanged(entry, text, UpdateOutcome.REFUSED, MEMORY_OFF)
        result = await self._written(request, access, entry, text)
        if result.outcome is Outcome.REVIEW:
            reason = WAITS.of(reason=result.reason)
            waits = _unchanged(entry, text, UpdateOutcome.REVIEW, reason)
            return replace(waits, review_id=result.review_id)
        record_id, stored = result.memory_id, result.outcome is Outcome.STORED
        if not stored and result.code == Code.DUPLICATE and result.validation is not None:
            record_id = result.validation.conflicting_id
        if not record_id:
            present = await self._present(access, entry)
            if present is not None and present.shared.version != expected:
                return _conflict(present, text)
            return _unchanged(entry, text, UpdateOutcome.REFUSED, result.reason)
        kind, shared = EventKind.POOL_UPDATED, entry.shared
        event = event_of(request, kind, self.clock.now(), pool=shared.pool, memory=shared.memory)
        return await self._replaced(access, entry, record_id, text, event, stored=stored)

    async def _written(
        self, request: RequestScope, access: AccessScope, entry: PoolEntry, text: str
    ) -> WriteResult:
        old = entry.record
        own = bool(old.provenance.agent) and old.provenance.person in access.persons
        follows = (
            own
            and may_change(access, old)
            and verdict(text, old.content, named=True).relation is Relation.REPLACES
        )
        draft = Draft(text, old.kind, tags=old.tags, supersedes=old.id if follows else "")
        # A replaced memory is no longer shared, and the pool keeps its text until the next update.
        return await self.path.write(request, access, draft, InputKind.ASSISTANT, keep_both=True)

    async def _replaced(
        self,
        access: AccessScope,
        entry: PoolEntry,
        record_id: str,
        text: str,
        event: AgentEvent,
        *,
        stored: bool,
    ) -> SharedUpdate:
        shared = entry.shared
        record = await self.memories.get(access, record_id)
        new = ReplacedText(shared.pool, shared.memory, access.agent, record_id, shared.version)
        usable = record is not None and record.current and may_be_shared(record)
        if usable and await self.store.replace_text(access.tenant, new, event):
            kept = text if record is None else displayable(record).content
            return SharedUpdate(UpdateOutcome.UPDATED, shared.version + 1, kept, kept)
        if stored:
            await self.memories.take_back(access, [record_id])
        present = await self._present(access, entry)
        if present is None:
            return _unchanged(entry, text, UpdateOutcome.REFUSED, GONE)
        return _conflict(present, text)

    async def _present(self, access: AccessScope, entry: PoolEntry) -> PoolEntry | None:
        now, shared = self.clock.now(), entry.shared
        found = await self.store.query(access, shared.pool, now, 1, shared.memory)
        return found[0] if found else None


def _conflict(present: PoolEntry, text: str) -> SharedUpdate:
    reason = CONFLICT.of(version=verbatim(str(present.shared.version)))
    return _unchanged(present, text, UpdateOutcome.CONFLICT, reason)


def _unchanged(present: PoolEntry, text: str, outcome: UpdateOutcome, reason: Text) -> SharedUpdate:
    shown = displayable(present.record).content
    return SharedUpdate(outcome, present.shared.version, shown, text, reason)
