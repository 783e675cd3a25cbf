"""The services of agents, as the HTTP API uses them."""

from dataclasses import dataclass

from memory.agents.handoffs import HandoffManager
from memory.agents.origins import Origins
from memory.agents.overview import AgentOverview
from memory.agents.pools import PoolRegistry
from memory.agents.registry import AgentRegistry


@dataclass(frozen=True, slots=True)
class AgentServices:
    """Registers agents, manages pools and handoffs, takes back what agents gave, and lists them."""

    registry: AgentRegistry
    pools: PoolRegistry
    handoffs: HandoffManager
    origins: Origins
    overview: AgentOverview
