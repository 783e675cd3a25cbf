"""The viewer's agents with what each of them gave, their pools, and the tasks that wait for the
viewer and the agents. Operators also see the numbers of everybody's, without names and texts."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from gateway.people import Role
from gateway.ports.action import Input, Nothing, Output
from gateway.ports.rights import in_person, to_read
from gateway.text import (
    NO_TEXT,
    Text,
    text,
)
from memory.actions import agents as on
from memory.actions import pools as on_pools
from memory.actions.agents import AgentOut, HandoffOut, Listing
from memory.actions.call import AgentCall, OneId
from memory.actions.pools import PoolOut
from memory.agents.model import MAX_NAME, AgentType
from memory.service.review import MAX_REASON
from parley.console.names import names_of
from parley.console.route import AnyRoute, ConsoleRoute, ItemParams
from parley.console.said import Said
from parley.console.services import MEMORY_OFF, ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.memory.accounts import check_account
from parley.console.views.memory.documents import PATH
from parley.http.api.errors import CallRefused

AGENTS: Final = f"{PATH}/agents"
TEMPLATE: Final = "memory/agents.html"
EXAMPLE: Final = {"id": "0" * 32}
MAX_LISTED: Final = 1_000
REGISTERED: Final = text("The agent is registered. Create a token for it on the page Tokens.")
UNREGISTERED: Final = text("The agent is unregistered, and its tokens end. What it wrote stays.")
TAKEN_BACK: Final = text(
    "Everything that the agent gave is taken back. Memories: {memories}, waiting memories: "
    "{waiting}, shares: {shares}, tasks: {handoffs}."
)
REJECTED: Final = text("The task is rejected. The agent that handed it over reads your reason.")
DELETED: Final = text("The pool is deleted. The memories stay with the people who shared them.")


class AgentsQuery(Input):
    """The page has no parameters."""


class RegisterForm(Input):
    """The type and the name of a new agent."""

    type: AgentType = AgentType.CLAUDE_CODE
    name: Annotated[str, StringConstraints(max_length=MAX_NAME, strip_whitespace=True)] = ""


class TaskRejection(ItemParams):
    """The reason of a rejection, which the agent reads."""

    reason: Annotated[str, StringConstraints(max_length=MAX_REASON)] = ""


class AgentsPageOut(Output):
    """Agents, pools and open tasks. `all_agents` and `all_pools` are those of everybody, for
    operators, and `names` the known names of their people by id. `said` is the outcome of an
    action."""

    agents: tuple[AgentOut, ...] = Field(max_length=MAX_LISTED)
    pools: tuple[PoolOut, ...] = Field(max_length=MAX_LISTED)
    handoffs: tuple[HandoffOut, ...] = Field(max_length=MAX_LISTED)
    all_agents: tuple[AgentOut, ...] = Field(default=(), max_length=MAX_LISTED)
    all_pools: tuple[PoolOut, ...] = Field(default=(), max_length=MAX_LISTED)
    names: Mapping[str, str] = Field(default={}, max_length=2 * MAX_LISTED)
    said: Said = NO_TEXT


async def agents(viewer: Viewer, services: ConsoleServices, _params: AgentsQuery) -> AgentsPageOut:
    """Return the agents, pools and open tasks."""
    return await _shown(viewer, services, await _call(viewer, services))


async def register(
    viewer: Viewer, services: ConsoleServices, params: RegisterForm
) -> AgentsPageOut:
    """Register an agent of the viewer. Raises `BadInput` at a limit."""
    check_account(viewer)
    call = await _call(viewer, services)
    await on.register(call, on.AgentBody(type=params.type, name=params.name, capabilities=None))
    return await _shown(viewer, services, call, REGISTERED)


async def unregister(
    viewer: Viewer, services: ConsoleServices, params: ItemParams
) -> AgentsPageOut:
    """Unregister an agent of the viewer. Raises `NotFound`."""
    call = await _call(viewer, services)
    await on.unregister(call, OneId(id=params.id))
    return await _shown(viewer, services, call, UNREGISTERED)


async def take_back(viewer: Viewer, services: ConsoleServices, params: ItemParams) -> AgentsPageOut:
    """Take back everything that an agent gave. Raises `NotFound`."""
    call = await _call(viewer, services)
    taken = await on.take_back(call, on.TakeBack(id=params.id))
    return await _shown(viewer, services, call, TAKEN_BACK.of(**taken.model_dump()))


async def reject(viewer: Viewer, services: ConsoleServices, params: TaskRejection) -> AgentsPageOut:
    """Reject a task that waits for the viewer or an agent of theirs. Raises `NotFound`,
    `BadInput`."""
    call = await _call(viewer, services)
    await on.reject(call, on.RejectHandoff(id=params.id, reason=params.reason))
    return await _shown(viewer, services, call, REJECTED)


async def delete_pool(
    viewer: Viewer, services: ConsoleServices, params: ItemParams
) -> AgentsPageOut:
    """Delete a pool of the viewer; operators delete every pool of the tenant. Raises
    `NotFound`."""
    call = await _call(viewer, services)
    await on_pools.delete(call, OneId(id=params.id))
    return await _shown(viewer, services, call, DELETED)


async def _call(viewer: Viewer, services: ConsoleServices) -> AgentCall:
    handle = await services.memory_of(viewer)
    if services.memory.agents is None:
        raise CallRefused("memory_off", MEMORY_OFF)
    return AgentCall(viewer.proof, handle, services.memory.agents)


async def _shown(
    viewer: Viewer, services: ConsoleServices, call: AgentCall, said: Text = NO_TEXT
) -> AgentsPageOut:
    own = Listing(of="own")
    listed = await on.agents(call, own)
    pools = await on_pools.pools(call, own)
    handoffs = await on.handoffs(call, Nothing())
    page = AgentsPageOut(
        agents=tuple(listed.agents[:MAX_LISTED]),
        pools=tuple(pools.pools[:MAX_LISTED]),
        handoffs=tuple(handoffs.handoffs[:MAX_LISTED]),
        said=said,
    )
    if not viewer.is_operator:
        return page
    every = Listing(of="all")
    all_agents = (await on.agents(call, every)).agents[:MAX_LISTED]
    all_pools = (await on_pools.pools(call, every)).pools[:MAX_LISTED]
    people = [*(one.person for one in all_agents), *(one.person for one in all_pools)]
    return page.model_copy(
        update={
            "all_agents": tuple(all_agents),
            "all_pools": tuple(all_pools),
            "names": await names_of(viewer, services, filter(None, people)),
        }
    )


def _action(
    name: str,
    path: str,
    summary: str,
    run: Callable[[Viewer, ConsoleServices, Any], Awaitable[AgentsPageOut]],
    example: dict[str, str],
) -> AnyRoute:
    return ConsoleRoute(
        name=name,
        method="POST",
        path=f"{AGENTS}/{path}",
        allowed=in_person(Role.GUEST),
        summary=summary,
        run=run,
        template=TEMPLATE,
        example=example,
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="agents",
        method="GET",
        path=AGENTS,
        allowed=to_read(Role.GUEST),
        summary=text("Your agents, their pools, and the tasks that wait for you"),
        run=agents,
        template=TEMPLATE,
        palette=text("Agents, pools and tasks"),
    ),
    _action(
        *("register_agent", "register", "Register an agent"),
        register,
        {"type": "custom_pipeline", "name": "laptop"},
    ),
    _action(
        *("unregister_agent", "{id}/unregister", "Unregister an agent; what it wrote stays"),
        unregister,
        EXAMPLE,
    ),
    _action(
        *("take_back_agent", "{id}/take-back", "Delete everything that an agent of yours gave"),
        take_back,
        EXAMPLE,
    ),
    _action(
        *("reject_handoff", "tasks/{id}/reject", "Reject a task that an agent handed over"),
        reject,
        EXAMPLE,
    ),
    _action(
        *("delete_pool", "pools/{id}/delete", "Delete a pool; the memories stay"),
        delete_pool,
        EXAMPLE,
    ),
)
