"""The services of agents, as the HTTP API uses them."""

from msgspec import Struct

from memory.agents.handoffs import HandoffManager
from memory.agents.origins import Origins
from memory.agents.overview import AgentOverview
from memory.agents.pools import PoolRegistry
from memory.agents.registry import AgentRegistry


class AgentServices(Struct, frozen=True):
    """Registers agents, manages pools and handoffs, takes back what agents gave, and lists them."""

    registry: AgentRegistry
    pools: PoolRegistry
    handoffs: HandoffManager
    origins: Origins
    overview: AgentOverview
