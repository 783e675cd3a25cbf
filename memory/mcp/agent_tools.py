"""The tools of agents: register them, and look them up."""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from gateway.errors import BadInput, NotFound
from gateway.ports.action import Output
from gateway.ports.rights import AGENT_READS, TOKEN_READS, TOKEN_WRITES
from memory.agents.model import MAX_NAME, Agent, AgentType
from memory.mcp.acting import MAX_ID, calling_agent
from memory.mcp.names import SESSION
from memory.mcp.tool_definition import AnyTool, McpCall, ToolDefinition
from memory.turns.arguments import Arguments

MAX_PERSON: Final = 300
MAX_LISTED: Final = 1_000
NO_AGENT: Final = (
    "No agent with this id is yours, or shares a pool with one of yours. get_agents_for_user lists "
    "yours; register_agent makes one."
)
NOT_YOU: Final = (
    "{place}: this token belongs to {person}. Leave it empty, or give exactly that: an agent acts "
    "for the person of its token only."
)


def lower(value: Any) -> Any:
    """Return a name in lower case: clients may write types and scopes in upper case."""
    return value.casefold() if isinstance(value, str) else value


Owner = Annotated[
    str,
    Field(max_length=MAX_PERSON, description="The person of the token; empty means the same."),
]
TypeName = Annotated[
    Literal["claude_code", "gpt_agent", "custom_pipeline", "human"], BeforeValidator(lower)
]


class RegisterArguments(Arguments):
    """The arguments of `register_agent`."""

    agent_type: Annotated[
        TypeName, Field(description="The type of the agent decides its capabilities.")
    ]
    owner_id: Owner = ""
    name: Annotated[
        str, Field(max_length=MAX_NAME, description="A name by which its person knows it.")
    ] = ""


class AgentArguments(Arguments):
    """The arguments of `get_agent_info`."""

    agent_id: Annotated[
        str,
        Field(
            max_length=MAX_ID,
            description="The id of an agent. With the token of an agent, leave it empty.",
        ),
    ] = ""


class UserArguments(Arguments):
    """The arguments of `get_agents_for_user`."""

    user_id: Owner = ""


class AgentResult(Output):
    """An agent. Owner and name of another person's agent are empty."""

    agent_id: str
    agent_type: str
    capabilities: list[str]
    owner_id: str
    name: str
    registered_at: str


class AgentsResult(Output):
    """Agents, first registered first."""

    agents: list[AgentResult]


async def checked_owner(call: McpCall, given: str, place: str) -> None:
    """Raise `BadInput`, and record it, if `given` is somebody else than the caller."""
    if given and given not in {call.person, *call.handle.request.persons}:
        await call.handle.read.audit("permission_denied", operation="owner", reason=place)
        raise BadInput(NOT_YOU.format(place=place, person=call.person))


async def register(call: McpCall, given: RegisterArguments) -> AgentResult:
    """Register an agent of the caller."""
    await checked_owner(call, given.owner_id, "owner_id")
    agent = await call.services.agents.register_agent(
        call.handle.request, AgentType(given.agent_type), name=given.name
    )
    return agent_out(agent)


async def info(call: McpCall, given: AgentArguments) -> AgentResult:
    """Return an agent. Raises `NotFound`."""
    agent_id = given.agent_id or calling_agent(call)
    agent = await call.services.agents.get_agent(call.handle.request, agent_id)
    if agent is None:
        raise NotFound(NO_AGENT)
    return agent_out(agent)


async def of_user(call: McpCall, given: UserArguments) -> AgentsResult:
    """Return the agents of the caller."""
    await checked_owner(call, given.user_id, "user_id")
    agents = await call.services.agents.agents_of(call.handle.request)
    return AgentsResult(agents=[agent_out(agent) for agent in agents[:MAX_LISTED]])


def agent_out(agent: Agent) -> AgentResult:
    """Return an agent as a result."""
    return AgentResult(
        agent_id=agent.id,
        agent_type=agent.type.value,
        capabilities=sorted(capability.value for capability in agent.capabilities),
        owner_id=agent.owner,
        name=agent.name,
        registered_at=agent.registered_at.isoformat(timespec="seconds"),
    )


AGENT_TOOLS: Final[tuple[AnyTool, ...]] = (
    ToolDefinition(
        "register_agent",
        "Register an agent",
        "Register yourself as an agent of the token's person, once. Keep the id: the tools of "
        "pools and handoffs need it.",
        SESSION,
        TOKEN_WRITES,
        register,
    ),
    ToolDefinition(
        "get_agent_info",
        "Agent",
        "Return an agent of yours, or one that shares a pool with one of yours.",
        SESSION,
        AGENT_READS,
        info,
        idempotent=True,
    ),
    ToolDefinition(
        "get_agents_for_user",
        "Agents of a person",
        "Return the agents of the token's person.",
        SESSION,
        TOKEN_READS,
        of_user,
        idempotent=True,
    ),
)
"""The tools, in the order in which they are listed."""
