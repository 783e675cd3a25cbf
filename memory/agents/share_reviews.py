"""Shares that wait for an operator: what changes behaviour, and what others would read.

The review queue keeps the names of pool, memory and agent, not the text. An approval shares the
memory as its agent would, under the conditions of that time: the memory is there, and the agent is
a member with WRITE permission. What is taken back by origin disappears from the queue and from the
pool (`memory/agents/stores/overview.py`).
"""

import uuid
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.text import text, verbatim
from memory.agents.model import (
    AgentEvent,
    AgentLimits,
    EventKind,
    Pool,
    SharedMemory,
    SharedScope,
    ShareWaits,
)
from memory.agents.stores.pools import SqlPools
from memory.model.record import Record, Scope
from memory.model.scope import AccessScope, RequestScope
from memory.stores.audit import Audit
from memory.stores.reviews import ReviewItem, ReviewStore, ShareProposal

WAITS: Final = text(
    "It changes how the assistant works for others, so an operator decides about it. Until then, "
    "nobody else reads it."
)
REASON: Final = text(
    "An agent of {person} would share it in a pool, where it changes the work of others."
)
QUEUE_FULL: Final = text(
    "Too many of your shares and memories wait for a decision. Share it again when some of them are"
    " decided, or share it at scope USER."
)
GONE: Final = text(
    "It can no longer be shared: the memory or the pool was deleted, or the agent may not share "
    "there any more. Reject it."
)
FULL: Final = text(
    "The pool is full: it holds {limit} memories. Reject it, or ask for room in the pool."
)


class ShareReviews(Struct, frozen=True):
    """Queues and approves shares. Every method raises `StoreUnavailable`."""

    pools: SqlPools
    reviews: ReviewStore
    audit: Audit
    clock: Clock
    limits: AgentLimits

    async def propose(
        self,
        request: RequestScope,
        access: AccessScope,
        pool: Pool,
        record: Record,
        scope: SharedScope,
        project: str,
    ) -> ShareWaits:
        """Queue a share of an agent, whose access this is. Raises `BadInput` for a full queue."""
        of_project = scope is SharedScope.PROJECT
        proposed = replace(
            record,
            id=f"mem-{uuid.uuid4()}",
            content="",
            tags=(),
            evidence=replace(record.evidence, claim="", source_id=""),
            scope=Scope.PROJECT if of_project else Scope.GLOBAL,
            project=project if of_project else "",
            provenance=replace(record.provenance, agent=access.agent),
            embedding=None,
        )
        target = ShareProposal(pool.id, scope.value, record.id).target
        reason = REASON.of(person=verbatim(record.provenance.person))
        item = ReviewItem(f"rev-{uuid.uuid4()}", proposed, reason, self.clock.now(), target=target)
        if not await self.reviews.add(access, item):
            raise BadInput(QUEUE_FULL, code="queue_full")
        await self.audit.note(
            "memory_review", request, decision="queued", review=item.id, pool=pool.id
        )
        return ShareWaits(item.id, WAITS)

    async def approve(self, item: ReviewItem, proposal: ShareProposal) -> None:
        """Share as the agent that proposed it. Raises `NotFound` if that is no longer possible,
        `BadInput` for a full pool."""
        record, now = item.record, self.clock.now()
        provenance = record.provenance
        access = AccessScope(
            record.tenant,
            provenance.person,
            (provenance.person,),
            room="",
            project=record.project,
            private=True,
            operates=False,
            agent=provenance.agent,
        )
        scope = SharedScope(proposal.scope)
        share = SharedMemory(proposal.pool, proposal.memory, provenance.agent, scope, now)
        event = self._event(EventKind.POOL_SHARED, record, proposal)
        limit = self.limits.pool_memories
        shared = await self.pools.share(access, share, record.project, limit, event)
        if shared == "full":
            raise BadInput(FULL.of(limit=limit), code="full")
        if not isinstance(shared, SharedMemory):
            raise NotFound(GONE)

    async def undo(self, item: ReviewItem, proposal: ShareProposal) -> None:
        """End a share that was rejected or taken back while it was approved."""
        record = item.record
        event = self._event(EventKind.POOL_UNSHARED, record, proposal)
        owner = (record.provenance.person,)
        await self.pools.unshare(
            record.tenant, owner, proposal.pool, proposal.memory, event, any_=False
        )

    def _event(self, kind: EventKind, record: Record, proposal: ShareProposal) -> AgentEvent:
        return AgentEvent(
            kind,
            record.tenant,
            self.clock.now(),
            agent=record.provenance.agent,
            pool=proposal.pool,
            memory=proposal.memory,
            person=record.provenance.person,
        )
