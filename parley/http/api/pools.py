"""Pools over HTTP: list, read, delete."""

from typing import Final, cast

from gateway.errors import NotFound
from memory.agents.model import PoolSummary
from memory.model.scope import RequestScope
from parley.http.api.agent_models import (
    AgentsQuery,
    PoolMemberOut,
    PoolOut,
    PoolPageOut,
    PoolsOut,
    ScopeName,
)
from parley.http.api.models import Nothing, Plain
from parley.http.api.operations import Answer, AnyOperation, Call, Operation

PATH: Final = "/brain/pools"
NO_POOL: Final = "You have no pool with this id. `GET /brain/pools` lists yours."
NOT_OWNER: Final = (
    "No pool with this id is yours. To leave a pool of somebody else, unregister the agent that is "
    "a member, or let it call `leave_pool`."
)
_MISSING: Final = {404: "It does not exist, or is not yours."}


def pool_operations() -> tuple[AnyOperation, ...]:
    """Return the operations on pools."""
    one = f"{PATH}/{{id}}"
    return (
        Operation(
            "GET",
            PATH,
            "pools",
            "List pools that you own or have an agent in",
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
            delete,
            Plain,
            Nothing,
            {204: (None, "Deleted.")},
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
    return Answer(200, PoolPageOut(pool=_pool(request, summary), members=members))


async def delete(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Delete a pool of the caller; operators delete every pool of the tenant."""
    if not await call.agents.pools.delete_pool(call.handle.request, call.item):
        raise NotFound(NOT_OWNER)
    return Answer(204)


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
