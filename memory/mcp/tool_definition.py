"""The definition of a tool, one call of it, and the agent for which it is made.

The agent belongs to the caller and has the needed capability; it reaches what the caller reaches,
and what pools share with it. A call with the token of an agent is always the one of this agent.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Generic, TypeVar, get_type_hints

from msgspec import Struct
from pydantic import Field

from gateway.errors import ToolError
from gateway.immutable import replace
from gateway.ports.action import Output
from gateway.ports.memory import Caller
from gateway.ports.rights import NO_CAPABILITY, Allowed, Denied, TokenScope
from memory.agents.handoffs import HandoffManager
from memory.agents.model import Capability
from memory.agents.pools import PoolRegistry
from memory.agents.registry import AgentRegistry
from memory.agents.stores.events import AgentEvents
from memory.documents.service import DocumentService
from memory.knowledge.access import KnowledgeReader
from memory.mcp.names import ServerName
from memory.ports.people import AgentTasks
from memory.service.handle import Memory, MemoryHandle
from memory.turns.arguments import Arguments
from memory.turns.brief import BriefLimits

CALLER_KEY: Final = "parley.caller"
"""The caller in the scope of an authenticated HTTP request, a `gateway.ports.memory.Caller`."""
PROOF_KEY: Final = "parley.proof"
"""The proof of this caller, in the same scope, a `gateway.ports.rights.Proof`."""
RECHECK_KEY: Final = "parley.recheck"
"""A function in the same scope that returns True while the token is valid: `Recheck`."""
Recheck = Callable[[], Awaitable[bool]]


class WaitingResult(Output):
    """A result that says whether the tool did it, or what it waits for."""

    success: Annotated[bool, Field(description="True if it is done.")]
    status: Annotated[
        str | None, Field(description="What it waits for, if it is not done yet.")
    ] = None
    next: Annotated[str | None, Field(description="The next step.")] = None
    confirm: Annotated[
        str | None, Field(description="The code with which a second call confirms it.")
    ] = None


class Confirmable(Arguments):
    """The arguments of a tool that needs a confirmation."""

    confirm: Annotated[
        str,
        Field(
            max_length=64,
            description="Empty at first. Only if the first answer has a code and the person "
            "agrees: that code.",
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class McpServices:
    """Everything that the tools use. `key` returns the secret of confirmation codes; `count_call`
    counts a call of an agent (tenant, id) and raises `ToolError` after too many."""

    memory: Memory
    """All memory, which is reached through a caller."""
    documents: DocumentService
    """Reads and writes SOUL, BIBLE and HEARTBEAT."""
    tasks: AgentTasks
    """Stores the tasks of agents."""
    agents: AgentRegistry
    """Registers agents, and opens their sessions."""
    pools: PoolRegistry
    """Manages pools and the shares in them."""
    handoffs: HandoffManager
    """Hands tasks over."""
    events: AgentEvents
    """Reads the events of agents, pools and handoffs."""
    key: Callable[[], bytes] = field(repr=False)
    count_call: Callable[[str, str], Awaitable[None]]
    poll_seconds: float = 2.0
    """Seconds between two looks for events of an open stream."""
    brief: BriefLimits = field(default_factory=BriefLimits)
    """The limits of a brief."""
    repositories: KnowledgeReader | None = None
    """Searches repositories, where that is enabled."""


class McpCall(Struct, frozen=True):
    """One call: the caller, and their memory."""

    services: McpServices
    """The services of the server."""
    caller: Caller
    handle: MemoryHandle
    """The memory that the caller reaches."""

    @property
    def person(self) -> str:
        """The caller as a `str(PersonId)`."""
        return str(self.caller.principal.person)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class ToolDefinition(Generic[A]):
    """A tool. `allowed` are the scope of the token and the capability of the agent that it needs.
    `question` returns the text that the person confirms before `run`. `agent` is the argument with
    the id of the agent that calls it; a tool without `agent` is called by the person, or with the
    token of an agent. `own_refusal`: `run` itself answers an agent of the argument that lacks the
    capability, with a `status`.

    The annotations of `run` are its `arguments`, unless `takes` narrows them, and its `result`.
    Both raise `BadInput` or `ToolError` with the next step. `destructive` and `idempotent` are
    hints for the client, as is that a tool only reads; no tool reaches beyond this program.
    """

    name: str
    """The name under which a client calls it."""
    title: str
    """The name that people read."""
    description: str
    """The sentences by which a model decides to call it."""
    server: ServerName
    """The server that has it, besides the one with all tools."""
    allowed: Allowed
    run: Callable[[McpCall, A], Awaitable[Output]]
    question: Callable[[McpCall, A], Awaitable[str]] | None = None
    agent: str = ""
    own_refusal: bool = False
    destructive: bool = False
    idempotent: bool = False
    takes: type[A] | None = None
    arguments: type[A] = field(init=False)
    result: type[Output] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.allowed, Allowed):
            raise TypeError(f"{self.name}: a tool declares who may call it")
        _, arguments, result = get_type_hints(self.run).values()
        object.__setattr__(self, "arguments", self.takes or arguments)
        object.__setattr__(self, "result", result)

    @property
    def reads_only(self) -> bool:
        """True if a token that only reads may call it."""
        return self.allowed.scope is TokenScope.READ

    @property
    def needed(self) -> tuple[Capability, ...]:
        """The capabilities that an agent needs before `run`; a question shows a memory."""
        capability = "" if self.own_refusal else self.allowed.capability
        if not capability:
            return ()
        shown = () if self.question is None else (Capability.MEMORY_READ,)
        return (Capability(capability), *shown)


AnyTool = ToolDefinition[Any]


def without_titles(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema without the titles that repeat the names: every request of a client
    reads them."""
    short: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "title" and isinstance(value, str):
            continue
        if name in ("properties", "$defs") and isinstance(value, dict):
            short[name] = {key: without_titles(one) for key, one in value.items()}
        elif isinstance(value, dict) and name != "default":
            short[name] = without_titles(value)
        elif isinstance(value, list):
            short[name] = [without_titles(x) if isinstance(x, dict) else x for x in value]
        else:
            short[name] = value
    return short


NULL: Final = {"type": "null"}


def with_nulls(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of arguments in which optional ones may be null, as `Arguments` reads
    them: a client checks what it sends against the schema."""
    needed, open_ = schema.get("required", ()), dict(schema)
    for group in ("properties", "$defs"):
        if group in schema:
            open_[group] = {name: with_nulls(one) for name, one in schema[group].items()}
    if "properties" in schema:
        open_["properties"] = {
            name: one if name in needed else _or_null(one)
            for name, one in open_["properties"].items()
        }
    return open_


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may also be null; its description and default stay in
    front."""
    about = {name: schema[name] for name in ("description", "default") if name in schema}
    value = {name: one for name, one in schema.items() if name not in about}
    if value.keys() == {"anyOf"}:
        forms = list(value["anyOf"])
        return about | {"anyOf": forms if NULL in forms else [*forms, NULL]}
    return about | {"anyOf": [value, NULL]}


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
