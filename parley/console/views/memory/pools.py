"""The viewer's agents in pools of other people: invitations that wait, and memberships.

Only a person in a browser answers: a program does not agree for its person.
"""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from gateway.errors import NotFound
from gateway.people import Role
from gateway.ports.action import Input, Output
from gateway.ports.rights import in_person, to_read
from gateway.text import (
    NO_TEXT,
    Text,
    text,
)
from memory.actions.call import MAX_ID, AgentServices
from memory.model.scope import RequestScope
from parley.console.route import AnyRoute, ConsoleRoute, ItemParams
from parley.console.said import Said
from parley.console.services import MEMORY_OFF, ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.memory.documents import PATH
from parley.http.api.errors import CallRefused

POOLS: Final = f"{PATH}/pools"
TEMPLATE: Final = "memory/pools.html"
MAX_WAITING: Final = 100
MAX_MEMBERSHIPS: Final = 500
EXAMPLE: Final = {"id": "0" * 32}
ACCEPTED: Final = text("Your agent is in the pool now.")
DECLINED: Final = text("The invitation is declined.")
LEFT: Final = text("The agent is out of the pool, with everything that it shared there.")
NOT_THERE: Final = text(
    "This agent is not in the pool. The page lists your agents in other people's pools."
)


class PoolsQuery(Input):
    """The page has no parameters."""


class LeaveForm(ItemParams):
    """The agent that leaves the pool."""

    agent: Annotated[str, Field(max_length=MAX_ID)]


class PoolInvitationOut(Output):
    """An invitation of an agent of the viewer. `inviter` owns the pool and gave it its name;
    `inviter_name` is the display name of this person, empty if it is not known."""

    id: str
    pool: str
    name: str
    inviter: str
    inviter_name: str = ""
    agent: str
    agent_name: str
    writes: bool
    since: datetime
    until: datetime


class PoolMembershipOut(Output):
    """An agent of the viewer in a pool of somebody else, and the number of memories that it shares
    there. Names are empty if they are not known."""

    agent: str
    agent_name: str = ""
    pool: str
    name: str
    owner: str
    owner_name: str = ""
    writes: bool
    shares: int


class PoolsOfOthersOut(Output):
    """Invitations and memberships, the oldest first. `said` is the outcome of an action."""

    waiting: tuple[PoolInvitationOut, ...] = Field(max_length=MAX_WAITING)
    memberships: tuple[PoolMembershipOut, ...] = Field(max_length=MAX_MEMBERSHIPS)
    said: Said = NO_TEXT


async def pools(viewer: Viewer, services: ConsoleServices, _params: PoolsQuery) -> PoolsOfOthersOut:
    """Return what waits, and the memberships."""
    return await _shown(viewer, services)


async def accept(viewer: Viewer, services: ConsoleServices, params: ItemParams) -> PoolsOfOthersOut:
    """Let an agent join. Raises `NotFound`, `BadInput` at a limit."""
    agents, request = await _agents(viewer, services)
    await agents.pools.invitations.accept(request, params.id)
    return await _shown(viewer, services, ACCEPTED)


async def decline(
    viewer: Viewer, services: ConsoleServices, params: ItemParams
) -> PoolsOfOthersOut:
    """Decline an invitation. Raises `NotFound`."""
    agents, request = await _agents(viewer, services)
    await agents.pools.invitations.decline(request, params.id)
    return await _shown(viewer, services, DECLINED)


async def leave(viewer: Viewer, services: ConsoleServices, params: LeaveForm) -> PoolsOfOthersOut:
    """Take an agent out of a pool. Raises `NotFound`."""
    agents, request = await _agents(viewer, services)
    if not await agents.pools.leave_pool(request, params.id, params.agent):
        raise NotFound(NOT_THERE)
    return await _shown(viewer, services, LEFT)


async def _agents(viewer: Viewer, services: ConsoleServices) -> tuple[AgentServices, RequestScope]:
    handle = await services.memory_of(viewer)
    if services.memory.agents is None:
        raise CallRefused("memory_off", MEMORY_OFF)
    return services.memory.agents, handle.request


async def _shown(
    viewer: Viewer, services: ConsoleServices, said: Text = NO_TEXT
) -> PoolsOfOthersOut:
    agents, request = await _agents(viewer, services)
    waits = (await agents.pools.invitations.waiting(request))[:MAX_WAITING]
    members = (await agents.overview.in_pools_of_others(request))[:MAX_MEMBERSHIPS]
    # The viewer may read these names: a notice about an invitation shows them too.
    owners = {*(one.inviter for one in waits), *(one.owner for _, one in members)}
    names = await services.storage.people_names.of(viewer.tenant, owners)
    own = {one.id: one.name for one in await agents.registry.agents_of(request)} if members else {}
    return PoolsOfOthersOut(
        waiting=tuple(
            PoolInvitationOut(
                id=one.id,
                pool=one.pool,
                name=one.pool_name,
                inviter=one.inviter,
                inviter_name=names.get(one.inviter, ""),
                agent=one.agent,
                agent_name=one.agent_name,
                writes=one.permission.value == "write",
                since=one.made_at,
                until=one.until,
            )
            for one in waits
        ),
        memberships=tuple(
            PoolMembershipOut(
                agent=agent,
                agent_name=own.get(agent, ""),
                pool=one.pool,
                name=one.name,
                owner=one.owner,
                owner_name=names.get(one.owner, ""),
                writes=one.permission.value == "write",
                shares=one.shares,
            )
            for agent, one in members
        ),
        said=said,
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="memory_pools",
        method="GET",
        path=POOLS,
        allowed=to_read(Role.GUEST),
        summary=text("Your agents in other people's pools, and invitations"),
        run=pools,
        template=TEMPLATE,
        palette=text("Other people's pools"),
    ),
    ConsoleRoute(
        name="accept_invitation",
        method="POST",
        path=f"{POOLS}/invitations/{{id}}/accept",
        allowed=in_person(Role.GUEST),
        summary="Let an agent of yours join the pool of somebody else, on the page only",
        run=accept,
        template=TEMPLATE,
        example=EXAMPLE,
    ),
    ConsoleRoute(
        name="decline_invitation",
        method="POST",
        path=f"{POOLS}/invitations/{{id}}/decline",
        allowed=in_person(Role.GUEST),
        summary="Decline an invitation of an agent of yours, on the page only",
        run=decline,
        template=TEMPLATE,
        example=EXAMPLE,
    ),
    ConsoleRoute(
        name="leave_pool",
        method="POST",
        path=f"{POOLS}/{{id}}/leave",
        allowed=in_person(Role.GUEST),
        summary="Take an agent of yours out of the pool of somebody else, on the page only",
        run=leave,
        template=TEMPLATE,
        example={**EXAMPLE, "agent": "0" * 32},
    ),
)
