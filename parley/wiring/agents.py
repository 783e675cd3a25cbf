"""Builds agents and their pools from the stores."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from gateway.ports import Clock
from memory.agents.model import AgentLimits
from memory.agents.pools import PoolRegistry
from memory.agents.registry import AgentRegistry
from memory.agents.shared_updates import SharedUpdates
from memory.service.people import People
from memory.write.write_path import WritePath
from parley.config import Settings
from parley.wiring.storage import MemoryStores


@dataclass(frozen=True, slots=True)
class WiredAgents:
    """Agents as the rest of the program uses them. `chores` end idle sessions and delete shares
    that nobody can read."""

    registry: AgentRegistry
    pools: PoolRegistry
    chores: Mapping[str, Callable[[], Awaitable[int]]] = field(default_factory=dict)


def wire_agents(
    stores: MemoryStores, people: People, path: WritePath, clock: Clock, limits: AgentLimits
) -> WiredAgents:
    """The agents over these stores; `people` says who belongs to a project, `path` stores what
    agents write."""
    audit = path.audit
    registry = AgentRegistry(stores.agents, stores.memories, audit, clock, limits)
    pools = PoolRegistry(
        stores.pools,
        stores.agents,
        registry,
        stores.memories,
        audit,
        clock,
        people.reaches,
        SharedUpdates(stores.pools, stores.memories, path, clock),
        limits,
    )
    chores = {"agent sessions": registry.prune, "pool shares": pools.prune}
    return WiredAgents(registry, pools, chores)


def agent_limits(settings: Settings) -> AgentLimits:
    """The limits of a configuration."""
    return AgentLimits(**settings.agents.model_dump())
