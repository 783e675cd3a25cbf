"""Takes back by origin: everything that one agent wrote, shared and handed over since a time.

It is for an agent that was compromised or that planted false memories. What it wrote disappears as
if it had never been stored, also where it is shared or waits for review; its other shares end; its
open handoffs are rejected.
"""

from datetime import datetime
from typing import Final

from msgspec import Struct

from gateway.errors import NotFound
from gateway.immutable import replace
from gateway.ports import Clock
from memory.agents.registry import EVER, AgentRegistry
from memory.agents.stores.overview import SqlOrigins
from memory.model.scope import RequestScope, access_scope_of
from memory.stores.audit import Audit

MAX_BATCHES: Final = 1_000


class TakenBack(Struct, frozen=True):
    """The numbers of what was taken back."""

    memories: int
    shares: int
    handoffs: int
    reviews: int


class Origins:
    """Takes back what agents gave. Every method raises `StoreUnavailable`."""

    def __init__(
        self, registry: AgentRegistry, store: SqlOrigins, audit: Audit, clock: Clock
    ) -> None:
        self._registry = registry
        self._store = store
        self._audit = audit
        self._clock = clock

    async def take_back(
        self, request: RequestScope, agent_id: str, since: datetime = EVER
    ) -> TakenBack:
        """Take back everything that an agent gave since then, as far as the caller may: the agent's
        person, or an operator, who also ends shares and handoffs of other people's agents in the
        tenant. The agent may be unregistered already. Raises `NotFound` for the request of an
        agent: only a person takes back."""
        if request.agent:
            raise NotFound("Only a person takes back what an agent gave.")
        access = access_scope_of(replace(request, agent=""))
        memories = await self._registry.take_back(request, agent_id, since)
        shares = handoffs = reviews = 0
        for _ in range(MAX_BATCHES):
            gone = await self._store.take_back(access, agent_id, since, self._clock.now())
            shares, handoffs = shares + gone.shares, handoffs + gone.handoffs
            reviews += gone.reviews
            if not gone.any:
                break
        taken = TakenBack(memories, shares, handoffs, reviews)
        await self._audit.note(
            "pool_operation",
            request,
            operation="take_back",
            agent=agent_id[:64],
            memories=memories,
            shares=shares,
            handoffs=handoffs,
            reviews=reviews,
        )
        return taken
