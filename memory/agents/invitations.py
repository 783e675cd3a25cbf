"""Invitations into pools: an agent joins the pool of somebody else only if its person agrees.

The owner of a pool invites, and the agent's person accepts or declines: in chat, in the console,
or over MCP, where an agent of theirs asks them. A pool that was declined, or got no answer, may
invite the same agent again after `RESTS`; what one owner may ask one person is limited however many
pools they create.
"""

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.text import Moment, text
from memory.agents.model import (
    Agent,
    AgentEvent,
    AgentLimits,
    EventKind,
    Joining,
    Permission,
    Pool,
    PoolInvitation,
    PoolMember,
    RegistryCapacityError,
    SharedScope,
)
from memory.agents.registry import capacity, own_capacity
from memory.agents.stores.events import event_of
from memory.agents.stores.invitations import Invited, Limit, Rests, SqlInvitations
from memory.model.scope import RequestScope
from memory.stores.audit import Audit

LASTS: Final = timedelta(days=7)
"""The time for which an invitation can be accepted."""
RESTS: Final = timedelta(days=30)
"""The time after which a pool may invite an agent again: since the invitation that nobody answered,
or since it was declined."""
WITHDRAWN_RESTS: Final = timedelta(days=1)
MAX_LISTED: Final = 100
UNKNOWN: Final = text(
    "No invitation with this id waits for you. It may have expired, been withdrawn, or been "
    "answered already."
)
OTHERWISE: Final = text(
    "permission: this agent is invited with another permission already. leave_pool withdraws that "
    "invitation; a day later you can invite again."
)
RESTING: Final = text(
    "This agent was invited into this pool lately. The pool can invite it again from "
    "{until} on. Its person can also join by themselves, if the pool is open "
    "to them."
)
LIMITS: Final[dict[Limit, str]] = {
    "full": "There are {0.invitations:,} invitations into pools, the maximum of this installation. "
    "Try again when some are answered or expired.",
    "pool_full": "{0.invitations_per_pool} invitations into this pool wait for an answer, the "
    "maximum. leave_pool withdraws one.",
    "inviter_full": "{0.invitations_per_inviter} invitations into your pools wait for an answer, "
    "the maximum. leave_pool withdraws one.",
    "person_full": "{0.invitations_to_person} invitations wait for the person of this agent, the "
    "maximum. Try again when some are answered or expired.",
    "pair_full": "You have invited agents of this person {0.invitations_to_person_from_one} times "
    "lately, the maximum. Ask the person to answer, or try again in some weeks.",
    "too_often": "The person of this agent gets at most {0.invitations_per_hour} invitations an "
    "hour. Try again later.",
}


class PoolInvitations(Struct, frozen=True):
    """Invites agents, and answers for their persons. Every method raises `StoreUnavailable`."""

    store: SqlInvitations
    audit: Audit
    clock: Clock
    limits: AgentLimits
    make_id: Callable[[], str] = lambda: secrets.token_hex(16)

    async def invite(
        self, request: RequestScope, pool: Pool, agent: Agent, permission: Permission
    ) -> PoolInvitation:
        """Invite the agent of somebody else into a pool of the caller. The same invitation again
        changes nothing. Raises `RegistryCapacityError` at a limit, `BadInput` during the time of
        rest, `NotFound` if pool or agent no longer exist."""
        now = self.clock.now()
        invitation = PoolInvitation(
            *(self.make_id(), pool.tenant, pool.id, pool.name, pool.scope, agent.id, ""),
            *(agent.owner, pool.owner, permission, now, now + LASTS),
        )
        event = _event(request, EventKind.POOL_INVITED, invitation, self.clock)
        outcome = await self.store.add(invitation, now + RESTS, self.limits, event)
        if isinstance(outcome, Invited):
            if outcome.new:
                await self._note(request, "invite", invitation)
            return replace(invitation, id=outcome.id, until=outcome.until)
        await self._note(request, "invite", invitation, denied=True)
        if isinstance(outcome, Rests):
            raise BadInput(RESTING.of(until=Moment(outcome.until)))
        if outcome == "otherwise":
            raise BadInput(OTHERWISE)
        if outcome == "missing":
            raise NotFound(text("The pool or the agent no longer exists."))
        raise RegistryCapacityError(LIMITS[outcome].format(self.limits))

    async def waiting(self, request: RequestScope) -> tuple[PoolInvitation, ...]:
        """Return the invitations that wait for the caller, for an agent its own, oldest first."""
        found = await self.store.listed(
            request.principal.tenant, request.persons, self.clock.now(), MAX_LISTED, request.agent
        )
        return tuple(found)

    async def of_pool(self, pool: Pool) -> tuple[PoolInvitation, ...]:
        """Return the invitations into a pool that wait, oldest first."""
        now = self.clock.now()
        return tuple(await self.store.of_pool(pool.tenant, pool.id, now, MAX_LISTED))

    async def named(self, request: RequestScope, invitation_id: str) -> PoolInvitation:
        """Return an invitation that waits for the caller. Raises `NotFound`."""
        tenant, persons = request.principal.tenant, request.persons
        now, agent = self.clock.now(), request.agent
        found = await self.store.find(tenant, persons, invitation_id, now, agent)
        if found is None:
            raise NotFound(UNKNOWN)
        return found

    async def accept(self, request: RequestScope, invitation_id: str) -> PoolInvitation:
        """Let the agent join. Raises `NotFound`, and `RegistryCapacityError` at a limit, where the
        invitation stays."""
        found = await self.named(request, invitation_id)
        now = self.clock.now()
        member = PoolMember(found.pool, found.agent, found.permission, now, granted=True)
        event = _event(request, EventKind.POOL_JOINED, found, self.clock)
        joined = await self.store.accept(
            found, request.persons, request.agent, member, self.limits, event
        )
        if joined != "joined":
            await self._note(request, "join", found, denied=True)
            raise refused_joining(joined, self.limits)
        await self._note(request, "join", found)
        return found

    async def decline(self, request: RequestScope, invitation_id: str) -> PoolInvitation:
        """Decline an invitation. Raises `NotFound`."""
        found = await self.named(request, invitation_id)
        event = _event(request, EventKind.POOL_DECLINED, found, self.clock)
        declined = await self.store.decline(
            *(found.tenant, request.persons, found.id, request.agent),
            *(event.at + RESTS, event),
        )
        if not declined:
            raise NotFound(UNKNOWN)
        await self._note(request, "decline", found)
        return found

    async def withdraw(self, request: RequestScope, pool: Pool, agent_id: str) -> bool:
        """End an invitation into a pool of the caller; False if none waits."""
        now = self.clock.now()
        gone = await self.store.withdraw(pool.id, agent_id, now, now + WITHDRAWN_RESTS)
        if gone:
            await self.audit.note(
                "pool_operation", request, operation="withdraw", pool=pool.id, agent=agent_id
            )
        return gone

    async def prune(self) -> int:
        """Delete a batch of invitations whose time of rest ended; return their number."""
        return await self.store.prune(self.clock.now())

    async def _note(
        self,
        request: RequestScope,
        operation: str,
        invitation: PoolInvitation,
        *,
        denied: bool = False,
    ) -> None:
        await self.audit.note(
            "permission_denied" if denied else "pool_operation",
            request,
            operation=operation,
            pool=invitation.pool,
            agent=invitation.agent,
            permission=invitation.permission.value,
        )


def refused_joining(
    outcome: Joining, limits: AgentLimits, scope: SharedScope = SharedScope.GLOBAL
) -> Exception:
    """Return the error of a membership that was not stored."""
    match outcome:
        case "full":
            most = 1 if scope is SharedScope.AGENT_PRIVATE else limits.pool_members
            return capacity("pool_members", "members in this pool", most, "Remove one first.")
        case "person_full_here":
            most, what = limits.pool_members_per_person, "agents in this pool"
            return own_capacity("pool_members", what, most, "Let one leave it first.")
        case "person_full":
            most, what = limits.memberships_per_person, "memberships in pools"
            return own_capacity("memberships", what, most, "Leave a pool first.")
        case _:
            return NotFound(UNKNOWN)


def _event(
    request: RequestScope, kind: EventKind, invitation: PoolInvitation, clock: Clock
) -> AgentEvent:
    other = invitation.person if kind is EventKind.POOL_INVITED else invitation.inviter
    made = event_of(request, kind, clock.now(), agent=invitation.agent, pool=invitation.pool)
    return AgentEvent(
        made.kind, made.tenant, made.at, made.agent, made.pool, person=made.person, other=other
    )
