"""Pools over HTTP: list, read, delete, leave; update a shared memory, end a share; list and decline
invitations."""

from typing import Final, Literal, cast

from gateway.errors import NotFound
from gateway.ports.rights import (
    AGENT_WRITES,
    TOKEN_READS,
    TOKEN_WRITES,
    TokenScope,
    by_agent_too,
)
from memory.agents.model import Capability, PoolInvitation, PoolSummary, SharedUpdate, UpdateOutcome
from memory.model.scope import RequestScope
from parley.http.api.agent_models import (
    AgentsQuery,
    InvitationOut,
    InvitationsOut,
    InvitedOut,
    LeaveBody,
    PoolMemberOut,
    PoolOut,
    PoolPageOut,
    PoolsOut,
    ScopeName,
    SharedUpdateBody,
    SharedUpdateOut,
    UnshareBody,
)
from parley.http.api.errors import Refused
from parley.http.api.models import Nothing, Plain
from parley.http.api.operations import Answer, AnyOperation, Call, Operation

PATH: Final = "/brain/pools"
INVITATIONS: Final = "/brain/invitations"
NO_POOL: Final = "You have no pool with this id. `GET /brain/pools` lists yours."
NOT_OWNER: Final = (
    "No pool with this id is yours. `POST /brain/pools/ID/leave` takes an agent of yours out of a "
    "pool of somebody else."
)
NOT_MEMBER: Final = "No agent with this id that is yours, or in a pool of yours, is there."
NO_INVITATION: Final = (
    "No invitation with this id waits for you. `GET /brain/invitations` lists them."
)
NOT_SHARED: Final = "No memory with this id is shared there that is yours, or in a pool of yours."
NO_CAPABILITY: Final = "This agent lacks the capability memory_write."
NAME_ONE: Final = "This is the token of a person: name one of your agents as `agent`."
NO_PERMISSION: Final = (
    "This agent may not write in the pool. The owner of the pool gives the permission."
)
_MISSING: Final = {404: "It does not exist, or is not yours."}


def pool_operations() -> tuple[AnyOperation, ...]:
    """Return the operations on pools."""
    one = f"{PATH}/{{id}}"
    return (*_of_pools(one), *_of_shares(one), *_of_invitations(one))


def _of_pools(one: str) -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "GET",
            PATH,
            "pools",
            "List pools that you own or have an agent in",
            TOKEN_READS,
            pools,
            AgentsQuery,
            Nothing,
            {200: (PoolsOut, "The pools.")},
            {404: "You do not belong to this project, or only operators may list `all`."},
        ),
        Operation(
            "GET",
            one,
            "pool",
            "Read a pool and its members",
            TOKEN_READS,
            page,
            Plain,
            Nothing,
            {200: (PoolPageOut, "The pool.")},
            _MISSING,
        ),
        Operation(
            "DELETE",
            one,
            "delete_pool",
            "Delete a pool; the memories stay with the people who shared them",
            TOKEN_WRITES,
            delete,
            Plain,
            Nothing,
            {204: (None, "Deleted.")},
            _MISSING,
        ),
    )


def _of_shares(one: str) -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "POST",
            f"{one}/update",
            "update_shared",
            "Give a shared memory a new text, if its version is still the one that was read",
            by_agent_too(TokenScope.WRITE, Capability.MEMORY_WRITE),
            update,
            Plain,
            SharedUpdateBody,
            {
                200: (SharedUpdateOut, "Updated."),
                202: (SharedUpdateOut, "The text waits for review; nothing changed in the pool."),
                409: (SharedUpdateOut, "Another agent was faster: nothing was stored."),
            },
            {
                403: "The agent lacks the capability `memory_write`, or the permission WRITE.",
                404: "The agent is not yours, you cannot use the pool, or no such memory is shared "
                "in it.",
                422: "The text cannot be stored, or it would change the behaviour of others.",
            },
        ),
        Operation(
            "POST",
            f"{one}/unshare",
            "unshare",
            "Stop sharing a memory of yours, or as the owner of the pool any",
            TOKEN_WRITES,
            unshare,
            Plain,
            UnshareBody,
            {204: (None, "No longer shared.")},
            {404: "It is not shared there, or is not yours."},
        ),
    )


def _of_invitations(one: str) -> tuple[AnyOperation, ...]:
    """Accepting is left to the person: in chat, in the console, or after a question over MCP."""
    return (
        Operation(
            "POST",
            f"{one}/leave",
            "leave",
            "Take an agent out of a pool, or withdraw its invitation",
            AGENT_WRITES,
            leave,
            Plain,
            LeaveBody,
            {204: (None, "It is out of the pool.")},
            {404: "It is not there, or is not yours."},
        ),
        Operation(
            "GET",
            INVITATIONS,
            "invitations",
            "List invitations of your agents into pools of other people",
            TOKEN_READS,
            invitations,
            Plain,
            Nothing,
            {200: (InvitationsOut, "The invitations.")},
            {404: "You do not belong to this project."},
        ),
        Operation(
            "POST",
            f"{INVITATIONS}/{{id}}/decline",
            "decline_invitation",
            "Decline an invitation of an agent of yours",
            TOKEN_WRITES,
            decline,
            Plain,
            Nothing,
            {204: (None, "Declined.")},
            _MISSING,
        ),
    )


async def pools(call: Call, query: AgentsQuery, _body: Nothing) -> Answer:
    """Return the caller's pools, or for an operator those of everybody."""
    request, overview = call.handle.request, call.agents.overview
    every = query.of == "all"
    summaries = await (overview.all_pools(request) if every else overview.own_pools(request))
    return Answer(200, PoolsOut(pools=[_pool(request, one) for one in summaries]))


async def page(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return a pool with its members."""
    request = call.handle.request
    summary = await call.agents.overview.named_pool(request, call.item)
    if summary.pool.id != call.item:
        raise NotFound(NO_POOL)
    members = [
        PoolMemberOut(agent=one.agent, permission=one.permission.value, joined_at=one.joined_at)
        for one in await call.agents.pools.members_of(request, summary.pool.id)
    ]
    invited = [
        InvitedOut(agent=one.agent, permission=one.permission.value, until=one.until)
        for one in await call.agents.pools.invited_to(request, summary.pool.id)
    ]
    return Answer(200, PoolPageOut(pool=_pool(request, summary), members=members, invited=invited))


async def delete(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Delete a pool of the caller; operators delete every pool of the tenant."""
    if not await call.agents.pools.delete_pool(call.handle.request, call.item):
        raise NotFound(NOT_OWNER)
    return Answer(204)


async def update(call: Call, _query: Plain, body: SharedUpdateBody) -> Answer:
    """Update a shared memory as an agent of the caller."""
    update = await call.agents.pools.update_shared(
        call.handle.request,
        call.item,
        body.memory,
        _agent(call, body.agent),
        body.version,
        body.content,
    )
    if update is None:
        raise Refused(403, "missing_capability", NO_CAPABILITY, "body.agent")
    if update is False:
        raise Refused(403, "missing_permission", NO_PERMISSION, "body.agent")
    match update.outcome:
        case UpdateOutcome.UPDATED:
            return Answer(200, _update(update, "updated"))
        case UpdateOutcome.REVIEW:
            return Answer(202, _update(update, "review"))
        case UpdateOutcome.CONFLICT:
            return Answer(409, _update(update, "conflict"))
        case UpdateOutcome.REFUSED:
            raise Refused(422, "refused", update.reason, "body.content")


async def unshare(call: Call, _query: Plain, body: UnshareBody) -> Answer:
    """End a share of the caller, or in a pool of the caller."""
    if not await call.agents.pools.unshare(call.handle.request, call.item, body.memory):
        raise NotFound(NOT_SHARED)
    return Answer(204)


async def leave(call: Call, _query: Plain, body: LeaveBody) -> Answer:
    """End a membership of an agent of the caller, or in a pool of the caller."""
    agent = _agent(call, body.agent)
    if not await call.agents.pools.leave_pool(call.handle.request, call.item, agent):
        raise NotFound(NOT_MEMBER)
    return Answer(204)


def _agent(call: Call, given: str | None) -> str:
    """The agent that a request names, or whose token calls. Raises `NotFound` without one."""
    agent = given or call.handle.request.agent
    if not agent:
        raise NotFound(NAME_ONE)
    return agent


async def invitations(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return the invitations that wait for the caller."""
    waits = await call.agents.pools.invitations.waiting(call.handle.request)
    return Answer(200, InvitationsOut(invitations=[_invitation(one) for one in waits]))


async def decline(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Decline an invitation of an agent of the caller."""
    try:
        await call.agents.pools.invitations.decline(call.handle.request, call.item)
    except NotFound:
        raise NotFound(NO_INVITATION) from None
    return Answer(204)


def _invitation(one: PoolInvitation) -> InvitationOut:
    return InvitationOut(
        id=one.id,
        pool=one.pool,
        name=one.pool_name,
        scope=cast("ScopeName", one.scope.name.lower()),
        person=one.inviter,
        agent=one.agent,
        permission=one.permission.value,
        made_at=one.made_at,
        until=one.until,
    )


def _update(
    update: SharedUpdate, outcome: Literal["updated", "conflict", "review"]
) -> SharedUpdateOut:
    return SharedUpdateOut(
        outcome=outcome,
        version=update.version,
        content=update.text,
        own_content=update.own_text,
        message=update.reason,
        review_id=update.review_id or None,
    )


def _pool(request: RequestScope, one: PoolSummary) -> PoolOut:
    pool, own = one.pool, one.pool.owner in request.persons
    return PoolOut(
        id=pool.id,
        name=pool.name or None,
        scope=cast("ScopeName", pool.scope.name.lower()),
        person=pool.owner if own or not pool.name else None,
        yours=own,
        project=pool.project or None,
        created_at=pool.created_at,
        members=one.members,
        memories=one.memories,
    )
