"""Builds agents and their pools from the stores."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from gateway.ports import Clock
from memory.agents.model import AgentLimits
from memory.agents.pools import PoolRegistry
from memory.agents.registry import AgentRegistry
from memory.audit import Audit
from memory.service.people import People
from parley.wiring.storage import MemoryStores


@dataclass(frozen=True, slots=True)
class WiredAgents:
    """Agents as the rest of the program uses them. `chores` end idle sessions and delete shares
    that nobody can read."""

    registry: AgentRegistry
    pools: PoolRegistry
    chores: Mapping[str, Callable[[], Awaitable[int]]] = field(default_factory=dict)


def wire_agents(
    stores: MemoryStores, people: People, audit: Audit, clock: Clock, limits: AgentLimits
) -> WiredAgents:
    """The agents over these stores; `people` says who belongs to a project."""
    registry = AgentRegistry(stores.agents, stores.memories, audit, clock, limits)
    pools = PoolRegistry(
        stores.pools,
        stores.agents,
        registry,
        stores.memories,
        audit,
        clock,
        people.reaches,
        limits,
    )
    chores = {"agent sessions": registry.prune, "pool shares": pools.prune}
    return WiredAgents(registry, pools, chores)
