"""Actions of people, their programs and their agents on pools, shares and invitations."""

from datetime import datetime
from typing import Annotated, Final, Literal, cast

from pydantic import Field, StringConstraints

from gateway.errors import BadInput, NotFound, UsageError
from gateway.ports.action import PROGRAMS, Effect, Empty, Nothing, Output, action
from gateway.ports.rights import NO_CAPABILITY, TOKENS
from gateway.text import text
from memory.actions.agents import OWNERS, Listing
from memory.actions.call import MAX_NUMBER, AgentCall, Id, Integral, OneId
from memory.agents.model import Capability, PoolInvitation, PoolSummary, SharedUpdate, UpdateOutcome
from memory.model.record import MAX_ARGUMENT
from memory.model.scope import RequestScope

NO_POOL: Final = text("You have no pool with this id.")
NOT_OWNER: Final = text(
    "No pool with this id is yours. You can take an agent of yours out of a pool of somebody else."
)
NOT_MEMBER: Final = text("None of your agents, and no agent in a pool of yours, has this id there.")
NO_INVITATION: Final = text("No invitation with this id waits for you.")
NOT_SHARED: Final = text("No memory with this id is shared there by you, or in a pool of yours.")
NAME_ONE: Final = text("This is the token of a person: name one of your agents as `agent`.")
NO_PERMISSION: Final = text(
    "This agent may not write in the pool. The owner of the pool gives the permission."
)
ScopeName = Literal["agent_private", "user", "project", "team", "global"]
CallingAgent = Annotated[
    Id | None,
    Field(
        description="An own agent. With the token of an agent it is that one, and may be left out."
    ),
]


class SharedUpdateInput(OneId):
    """The new text of a shared memory. `version` is the one that was read, `agent` the own agent
    that writes."""

    agent: CallingAgent = None
    memory: Id
    version: Annotated[int, Field(ge=1, le=MAX_NUMBER), Integral]
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ARGUMENT)]


class Unshare(OneId):
    """The memory that is no longer shared."""

    memory: Id


class Leave(OneId):
    """The agent that leaves the pool: an own one, or as the owner of the pool any, also one that is
    invited."""

    agent: CallingAgent = None


class SharedUpdateOut(Output):
    """The result of an update. `version` and `content` are the present ones in the pool,
    `own_content` is the text of the update. After a conflict, merge both texts and update
    `version`."""

    outcome: Literal["updated", "conflict", "review"]
    version: int
    content: str
    own_content: str
    message: str
    review_id: str | None

    @property
    def is_pending(self) -> bool:
        """True for a text that waits for review."""
        return self.outcome == "review"

    @property
    def is_conflict(self) -> bool:
        """True if another agent was faster."""
        return self.outcome == "conflict"


class PoolOut(Output):
    """A pool with the numbers of its members and shared memories; `name` is null for the pool of
    another person in the list of everybody's."""

    id: str
    name: str | None
    scope: ScopeName
    person: str | None
    yours: bool
    project: str | None
    created_at: datetime
    members: int
    memories: int


class InvitationOut(Output):
    """An invitation of an agent of yours into the pool of somebody else. `person` owns the pool and
    gave it its name."""

    id: str
    pool: str
    name: str
    scope: ScopeName
    person: str
    agent: str
    permission: Literal["read", "write"]
    made_at: datetime
    until: datetime


class InvitationsOut(Output):
    """Invitations that wait for your answer, the oldest first."""

    invitations: list[InvitationOut]


class InvitedOut(Output):
    """An agent that is invited into the pool and has not joined yet."""

    agent: str
    permission: Literal["read", "write"]
    until: datetime


class PoolsOut(Output):
    """Pools, the first created first."""

    pools: list[PoolOut]


class PoolMemberOut(Output):
    """A member of a pool."""

    agent: str
    permission: Literal["read", "write"]
    joined_at: datetime


class PoolPageOut(Output):
    """A pool with its members, the first joined first, and for its owner those who are invited."""

    pool: PoolOut
    members: list[PoolMemberOut]
    invited: list[InvitedOut]


@action("List pools that you own or have an agent in", by=OWNERS, effect=Effect.READS)
async def pools(call: AgentCall, given: Listing) -> PoolsOut:
    """Return the caller's pools, or for an operator those of everybody."""
    request, overview = call.handle.request, call.agents.overview
    every = given.of == "all"
    summaries = await (overview.all_pools(request) if every else overview.own_pools(request))
    return PoolsOut(pools=[_pool(request, one) for one in summaries])


@action("Read a pool and its members", by=PROGRAMS, effect=Effect.READS)
async def page(call: AgentCall, given: OneId) -> PoolPageOut:
    """Return a pool with its members."""
    request = call.handle.request
    summary = await call.agents.overview.named_pool(request, given.id)
    if summary.pool.id != given.id:
        raise NotFound(NO_POOL)
    members = [
        PoolMemberOut(agent=one.agent, permission=one.permission.value, joined_at=one.joined_at)
        for one in await call.agents.pools.members_of(request, summary.pool.id)
    ]
    invited = [
        InvitedOut(agent=one.agent, permission=one.permission.value, until=one.until)
        for one in await call.agents.pools.invited_to(request, summary.pool.id)
    ]
    return PoolPageOut(pool=_pool(request, summary), members=members, invited=invited)


@action(
    "Delete a pool; the memories stay with the people who shared them",
    by=OWNERS,
    effect=Effect.WRITES,
)
async def delete(call: AgentCall, given: OneId) -> Empty:
    """Delete a pool of the caller; operators delete every pool of the tenant."""
    if not await call.agents.pools.delete_pool(call.handle.request, given.id):
        raise NotFound(NOT_OWNER)
    return Empty()


@action(
    "Give a shared memory a new text, if its version is still the one that was read",
    by=TOKENS,
    capability=Capability.MEMORY_WRITE,
    effect=Effect.WRITES,
)
async def update(call: AgentCall, given: SharedUpdateInput) -> SharedUpdateOut:
    """Update a shared memory as an agent of the caller."""
    made = await call.agents.pools.update_shared(
        *(call.handle.request, given.id, given.memory, _named(call, given.agent)),
        *(given.version, given.content),
    )
    if made is None:
        lacks = NO_CAPABILITY.format(name=Capability.MEMORY_WRITE)
        raise UsageError(lacks, code="missing_capability", where="body.agent")
    if made is False:
        raise BadInput(NO_PERMISSION, code="missing_permission", where="body.agent")
    match made.outcome:
        case UpdateOutcome.UPDATED:
            return _update(made, "updated")
        case UpdateOutcome.REVIEW:
            return _update(made, "review")
        case UpdateOutcome.CONFLICT:
            return _update(made, "conflict")
        case UpdateOutcome.REFUSED:
            raise BadInput(made.reason, where="body.content")


@action(
    "Stop sharing a memory of yours, or as the owner of the pool any",
    by=PROGRAMS,
    effect=Effect.WRITES,
)
async def unshare(call: AgentCall, given: Unshare) -> Empty:
    """End a share of the caller, or in a pool of the caller."""
    if not await call.agents.pools.unshare(call.handle.request, given.id, given.memory):
        raise NotFound(NOT_SHARED)
    return Empty()


@action(
    "Take an agent out of a pool, or withdraw its invitation",
    by=TOKENS,
    capability="",
    effect=Effect.WRITES,
)
async def leave(call: AgentCall, given: Leave) -> Empty:
    """End a membership of an agent of the caller, or in a pool of the caller."""
    agent = _named(call, given.agent)
    if not await call.agents.pools.leave_pool(call.handle.request, given.id, agent):
        raise NotFound(NOT_MEMBER)
    return Empty()


@action(
    "List invitations of your agents into pools of other people",
    by=PROGRAMS,
    effect=Effect.READS,
)
async def invitations(call: AgentCall, given: Nothing) -> InvitationsOut:
    """Return the invitations that wait for the caller."""
    waits = await call.agents.pools.invitations.waiting(call.handle.request)
    return InvitationsOut(invitations=[_invitation(one) for one in waits])


@action("Decline an invitation of an agent of yours", by=PROGRAMS, effect=Effect.WRITES)
async def decline(call: AgentCall, given: OneId) -> Empty:
    """Decline an invitation of an agent of the caller."""
    try:
        await call.agents.pools.invitations.decline(call.handle.request, given.id)
    except NotFound:
        raise NotFound(NO_INVITATION) from None
    return Empty()


def _named(call: AgentCall, given: str | None) -> str:
    """The agent that a request names, or whose token calls. Raises `NotFound` without one."""
    agent = given or call.handle.request.agent
    if not agent:
        raise NotFound(NAME_ONE)
    return agent


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
        message=update.reason.english,
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
