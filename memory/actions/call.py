"""One call of an action of memory, the services of agents that it uses, and the types that several
actions take."""

from typing import Annotated, Final

from msgspec import Struct
from pydantic import BeforeValidator, Field

from gateway.ports.action import ActionCall, Input
from gateway.ports.memory import Caller
from gateway.ports.rights import Credential, Proof
from memory.agents.handoffs import HandoffManager
from memory.agents.overview import AgentOverview, Origins
from memory.agents.pools import PoolRegistry
from memory.agents.registry import AgentRegistry
from memory.service.handle import MemoryHandle


class AgentServices(Struct, frozen=True):
    """Registers agents, manages pools and handoffs, takes back what agents gave, and lists them."""

    registry: AgentRegistry
    """Registers agents, and opens their sessions."""
    pools: PoolRegistry
    handoffs: HandoffManager
    origins: Origins
    """Takes back what agents gave."""
    overview: AgentOverview
    """Lists agents and pools for people and operators."""


MAX_ID: Final = 100
MAX_NUMBER: Final = 1_000_000_000
MAX_LIST: Final = 100


class MemoryCall(ActionCall, frozen=True):
    """A call with the memory that it reaches: `?project=`, the chosen project and the agent have
    selected it already."""

    handle: MemoryHandle


def in_chat(handle: MemoryHandle, caller: Caller) -> MemoryCall:
    """Return the call of a person who writes in a chat."""
    return MemoryCall(Proof(Credential.CHAT, caller.principal.role), handle)


def _integral(value: object) -> object:
    """Return 1 for 1.0: in JSON both are the same number (JSON Schema 2020-12, core 6.3)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _whole(value: object) -> object:
    """Return the number that a query writes in plain digits; other values unchanged."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 10:
        return int(value)
    return value


Integral = BeforeValidator(_integral)
Digits = BeforeValidator(_whole)
Number = Annotated[int, Field(ge=0, le=MAX_NUMBER), Integral]
Limit = Annotated[int, Field(ge=1, le=MAX_LIST), Digits]
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID)]


class OneId(Input):
    """The id of a memory, an entry, an agent or a pool."""

    id: Id


class AgentCall(MemoryCall, frozen=True):
    """A call with the agents, pools and handoffs."""

    agents: AgentServices
