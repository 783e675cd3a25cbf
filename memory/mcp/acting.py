"""Makes a call that of an agent. The agent belongs to the caller and has the needed capability; it
reaches what the caller reaches, and what pools share with it."""

from typing import Annotated, Final

from pydantic import Field

from gateway.errors import ToolError
from gateway.immutable import replace
from memory.agents.model import Capability
from memory.mcp.tool_definition import ToolCall
from memory.turns.arguments import Arguments

MAX_ID: Final = 100
NO_CAPABILITY: Final = "This agent lacks the capability {name}. Use an agent of another type."

AgentId = Annotated[
    str, Field(min_length=1, max_length=MAX_ID, description="The id of an agent of yours.")
]


class AsAgent(Arguments):
    """The arguments of a tool that an agent may call under its id."""

    agent_id: Annotated[
        str,
        Field(
            max_length=MAX_ID,
            description="Your id from register_agent: what you store is marked with it, and what "
            "pools share with you is found. Without it, the person of the token calls.",
        ),
    ] = ""


async def acting(call: ToolCall, agent_id: str, needed: Capability | None = None) -> ToolCall:
    """Return the call for an agent; the same call for an empty id.

    Raises `NotFound` for an agent that is not the caller's, `ToolError` without the capability or
    after too many calls in a minute.
    """
    if not agent_id:
        return call
    agent = await call.services.agents.own(call.handle.request, agent_id)
    await call.services.count_call(agent.tenant, agent.id)
    if needed is not None and not agent.may(needed):
        await call.handle.read.audit("permission_denied", agent=agent.id, operation=needed.value)
        raise ToolError(NO_CAPABILITY.format(name=needed.value))
    return replace(call, handle=call.handle.for_agent(agent.id))
