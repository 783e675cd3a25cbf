"""`parley pools list | show | delete`. Works beside a running program."""

import sys
from typing import Annotated, Final

import typer

from memory.agents.model import PoolInvitation, PoolMember, PoolSummary
from parley.cli.memory_access import OpenedAgents, operator_of, with_agents
from parley.cli.options import AsJson, Config, Tenant, Yes, confirmed
from parley.cli.terminal import plain, show, show_rows

NONE: Final = "There are no pools."
Page = tuple[PoolSummary, tuple[PoolMember, ...], tuple[PoolInvitation, ...]]
PoolId = Annotated[str, typer.Argument(metavar="ID", help="The id, or its first characters.")]


def show_all(tenant: Tenant = "", config: Config = None, as_json: AsJson = False) -> int:
    """Print the pools, with numbers only."""
    pools = with_agents(config, lambda opened: opened.pools(), tenant)
    names = ("id", "owner", "scope", "since", "members", "memories")
    show_rows(map(_values, pools), names, map(_row, pools), NONE, as_json=as_json)
    return 0


def show_one(pool: PoolId, config: Config = None, as_json: AsJson = False) -> int:
    """Print a pool with its members and those who are invited, without names and texts."""

    async def job(opened: OpenedAgents) -> Page:
        summary, pools = await opened.pool(pool), opened.services.pools
        owner = await opened.person(summary.pool.owner)
        members = await pools.members_of(owner, summary.pool.id)
        return summary, members, await pools.invited_to(owner, summary.pool.id)

    summary, members, invited = with_agents(config, job)
    listed = [{"agent": one.agent, "permission": one.permission.value} for one in members]
    waits = [{"agent": one.agent, "until": one.until} for one in invited]
    lines = ["  ".join(_row(summary))]
    lines += [
        f"agent {one.agent}: {one.permission.value}, since {one.joined_at.date()}"
        for one in members
    ]
    lines += [
        f"invited {one.agent}: {one.permission.value}, until {one.until.date()}" for one in invited
    ]
    show([{**_values(summary), "agents": listed, "invited": waits}], lines, as_json=as_json)
    return 0


def delete(pool: PoolId, yes: Yes = 0, config: Config = None) -> int:
    """Delete a pool after confirmation; its agents read nothing in it from then on."""

    async def job(opened: OpenedAgents) -> bool | None:
        summary = await opened.pool(pool)
        owner = plain(summary.pool.owner)
        question = (
            f"Delete pool {summary.pool.id} of {owner}, with {summary.members} members and "
            f"{summary.memories} shared memories?"
        )
        if not confirmed([question], yes):
            return None
        request = operator_of(summary.pool.tenant)
        return await opened.services.pools.delete_pool(request, summary.pool.id)

    gone = with_agents(config, job)
    if gone:
        sys.stdout.write("Deleted. The memories stay with the people who shared them.\n")
    return 0 if gone else 1


def _row(one: PoolSummary) -> tuple[str, ...]:
    pool = one.pool
    since = str(pool.created_at.date())
    scope = pool.scope.name.lower()
    return pool.id, plain(pool.owner), scope, since, str(one.members), str(one.memories)


def _values(one: PoolSummary) -> dict[str, object]:
    pool = one.pool
    return {
        "id": pool.id,
        "owner": pool.owner,
        "scope": pool.scope.name.lower(),
        "created_at": pool.created_at,
        "members": one.members,
        "memories": one.memories,
    }
