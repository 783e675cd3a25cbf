"""Makes a call that of an agent. The agent belongs to the caller and has the needed capability; it
reaches what the caller reaches, and what pools share with it. A call with the token of an agent is
always the one of this agent."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from gateway.errors import ToolError
from gateway.immutable import replace
from gateway.ports.rights import NO_CAPABILITY, Denied
from memory.agents.model import Capability
from memory.mcp.tool_definition import McpCall
from memory.turns.arguments import Arguments

MAX_ID: Final = 100
NAME_ONE: Final = (
    "agent_id: this is the token of a person, so name one of their agents. get_agents_for_user "
    "lists them."
)

AgentId = Annotated[
    str, Field(min_length=1, max_length=MAX_ID, description="The id of an agent of yours.")
]
CallingAgent = Annotated[
    str,
    Field(
        max_length=MAX_ID,
        description="Your id from register_agent. With the token of an agent, leave it empty.",
    ),
]


class AsAgent(Arguments):
    """The arguments of a tool that an agent may call under its id."""

    agent_id: Annotated[
        str,
        Field(
            max_length=MAX_ID,
            description="Your id from register_agent: what you store is marked with it, and what "
            "pools share with you is found. Without it, the person of the token calls; with the "
            "token of an agent, leave it empty.",
        ),
    ] = ""


async def acting(call: McpCall, agent_id: str, needed: Iterable[Capability] = ()) -> McpCall:
    """Return the call for an agent: the one of the token, or else the named one; the same call for
    a person who names none.

    Raises `NotFound` for an agent that is not the caller's, `Denied` without a capability,
    `ToolError` after too many calls in a minute.
    """
    agent_id = agent_id or call.handle.request.agent
    if not agent_id:
        return call
    agent = await call.services.agents.own(call.handle.request, agent_id)
    await call.services.count_call(agent.tenant, agent.id)
    for one in needed:
        if not agent.may(one):
            await call.handle.read.audit("permission_denied", agent=agent.id, operation=one.value)
            raise Denied(NO_CAPABILITY.format(name=one.value), code="needs_capability")
    return replace(call, handle=call.handle.for_agent(agent.id))


def calling_agent(call: McpCall) -> str:
    """Return the id of the agent that calls. Raises `ToolError` for the call of a person."""
    if not call.handle.request.agent:
        raise ToolError(NAME_ONE)
    return call.handle.request.agent
