"""Hands tasks from an agent to another agent or to a person.

PENDING becomes ACCEPTED and then COMPLETED, or REJECTED, or EXPIRED. A pending handoff expires at
the end of its time; an accepted one has the same time again.
"""

import secrets
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Protocol

from gateway.errors import NotFound, UsageError
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.text import text, verbatim
from memory.agents.handoff_text import read_context, read_reason, read_result
from memory.agents.model import (
    Agent,
    AgentLimits,
    Capability,
    Handoff,
    HandoffContext,
    HandoffStatus,
    HandoffStep,
    RegistryCapacityError,
)
from memory.agents.stores.direct_places import IsServed, SqlDirectPlaces
from memory.agents.stores.handoffs import HandoffReceiver, SqlHandoffs
from memory.model.scope import RequestScope
from memory.stores.audit import Audit

KEEP_ENDED: Final = timedelta(days=7)
"""The time for which the housekeeping keeps ended handoffs, so that both sides can read them."""
MAX_LISTED: Final = 100
MAX_STEPS: Final = 1_000
"""Batches that one clean-up deletes."""
MAX_TARGET: Final = 300
PERSON_SIGN: Final = ":"
"""The separator in the id of a person, which the id of an agent never contains."""

NO_TARGET: Final = text(
    "target: no agent {id} is yours, or in a pool that you own or whose owner invited your agent"
)
OFF: Final = (
    "This person has turned memory off, so agents cannot write to them. Hand the task to an agent, "
    "or ask the person in another way."
)
NO_PLACE: Final = (
    "This person has no direct conversation with the assistant, so the task cannot be delivered. "
    "They have to write to the assistant once, in a direct message."
)
NOT_SERVED: Final = "This person may not use the assistant, so agents cannot write to them."
NOT_TO_OTHERS: Final = (
    "Your client may have read a repository that not everybody may read, so it hands tasks only to "
    "you and to your agents."
)
WITHOUT_TEXT: Final = (
    "Your client may have read a repository that not everybody may read, so it writes no text to "
    "another person's agent. Leave this empty; the person gives the text in a chat."
)
OUTSIDE: Final = (
    "You are not a full member of the workspace, so your agents can hand tasks only to yourself "
    "and to agents that you share a pool with."
)


class AgentDirectory(Protocol):
    """Finds agents. Implemented by the registry."""

    async def own(self, request: RequestScope, agent_id: str) -> Agent:
        """Return an agent of the caller. Raises `NotFound`."""
        ...

    async def receiver(self, request: RequestScope, source: Agent, agent_id: str) -> Agent | None:
        """Return an agent, with its person, to which the caller's agent `source` may hand tasks."""
        ...


class HandoffManager:
    """Handoffs of an installation. Every method raises `StoreUnavailable`; those with a `request`
    and an agent raise `NotFound` for an agent that is not the caller's, and return None for one
    without the needed capability."""

    def __init__(
        self,
        store: SqlHandoffs,
        agents: AgentDirectory,
        places: SqlDirectPlaces,
        is_served: IsServed,
        audit: Audit,
        clock: Clock,
        limits: AgentLimits | None = None,
    ) -> None:
        self._store = store
        self._agents = agents
        self._places = places
        self._is_served = is_served
        self._audit = audit
        self._clock = clock
        self._limits = limits or AgentLimits()

    async def initiate_handoff(
        self,
        request: RequestScope,
        source_agent_id: str,
        target: str,
        context: HandoffContext | Mapping[str, object],
        ttl_seconds: int | None = None,
    ) -> Handoff | None:
        """Hand a task to an agent, or to a person by their `str(PersonId)`.

        `ttl_seconds` is the time of the offer, and then again of the work; without it, the
        configured one. An open handoff with the same content to the same target is returned
        instead of a second one. The memories that the context names do not become readable by
        that. Raises `BadInput` for wrong arguments, a person who cannot be written to, and possible
        text of a restricted repository to somebody else, `NotFound` for an unknown target,
        `RegistryCapacityError` at a limit.
        """
        source = await self._agents.own(request, source_agent_id)
        if not await self._capable(request, source, Capability.HANDOFF_INITIATE):
            return None
        read, ttl = read_context(context), self._ttl(ttl_seconds)
        agent, person, owner, linked = await self._target(request, source, target)
        if owner not in _own(request):
            await self._refuse_repository(request, "target", NOT_TO_OTHERS)
        now = self._clock.now()
        handoff = Handoff(
            id=secrets.token_hex(16),
            tenant=request.principal.tenant,
            source=source.id,
            target=agent,
            target_person=person,
            context=read,
            status=HandoffStatus.PENDING,
            created_at=now,
            until=now + timedelta(seconds=ttl),
            ttl_seconds=ttl,
            source_owner=source.owner,
            target_owner=owner,
            source_name=source.name,
        )
        stored = await self._store.add(handoff, self._limits, now, linked)
        if isinstance(stored, Handoff):
            return shown(stored, request, now)
        self._check(stored)
        await self._note(request, "initiated", handoff, source.id)
        return shown(handoff, request, now)

    async def accept_handoff(
        self, request: RequestScope, handoff_id: str, agent_id: str
    ) -> HandoffStep | None:
        """Accept a pending handoff. Of two callers at once, one has `done`."""
        receiver = await self._receiver(request, agent_id)
        if receiver is None:
            return None
        return await self.accept_as(request, receiver, handoff_id)

    async def reject_handoff(
        self, request: RequestScope, handoff_id: str, agent_id: str, reason: str = ""
    ) -> HandoffStep | None:
        """Reject a pending handoff; the source agent reads the reason."""
        receiver = await self._receiver(request, agent_id)
        if receiver is None:
            return None
        return await self.reject_as(request, receiver, handoff_id, reason)

    async def complete_handoff(
        self, request: RequestScope, handoff_id: str, agent_id: str, result: object
    ) -> HandoffStep | None:
        """Complete an accepted handoff with a JSON object."""
        receiver = await self._receiver(request, agent_id)
        if receiver is None:
            return None
        return await self.complete_as(request, receiver, handoff_id, result)

    async def get_pending_handoffs(
        self, request: RequestScope, agent_id: str
    ) -> tuple[Handoff, ...] | None:
        """Return the pending handoffs to an agent, oldest first, 100 at most."""
        open_ = await self.open_handoffs(request, agent_id)
        if open_ is None:
            return None
        return tuple(one for one in open_ if one.status is HandoffStatus.PENDING)[:MAX_LISTED]

    async def open_handoffs(
        self, request: RequestScope, agent_id: str
    ) -> tuple[Handoff, ...] | None:
        """Return the pending and the accepted handoffs to an agent, oldest first."""
        receiver = await self._receiver(request, agent_id)
        if receiver is None:
            return None
        return await self.open_to(request, receiver)

    async def get_handoff(self, request: RequestScope, handoff_id: str) -> Handoff | None:
        """Return a handoff between agents of which at least one is the caller's, or to them; for an
        agent, only one from or to itself."""
        found = await self._store.find(request.principal.tenant, handoff_id)
        own = {str(request.principal.person), *request.persons}
        if found is None or own.isdisjoint((found.source_owner, found.target_owner)):
            return None
        if request.agent and request.agent not in {found.source, found.target}:
            return None
        return shown(found, request, self._clock.now())

    async def open_of(self, request: RequestScope) -> tuple[Handoff, ...]:
        """Return the pending and accepted handoffs to the caller and to the caller's agents, oldest
        first. An agent has none: it asks for those to itself."""
        if request.agent:
            return ()
        now, tenant = self._clock.now(), request.principal.tenant
        open_ = await self._store.open_of(tenant, request.persons, now, MAX_LISTED)
        return tuple(shown(one, request, now) for one in open_)

    async def reject_own(
        self, request: RequestScope, handoff_id: str, reason: str = ""
    ) -> HandoffStep:
        """Reject a pending handoff to the caller or to one of the caller's agents. An agent rejects
        with `reject_handoff`."""
        found = None if request.agent else await self.get_handoff(request, handoff_id)
        if found is None or found.target_owner not in request.persons:
            return HandoffStep("unknown")
        tenant, target = request.principal.tenant, found.target
        receiver = (
            HandoffReceiver(tenant, target)
            if target
            else HandoffReceiver(tenant, "", request.persons)
        )
        return await self.reject_as(request, receiver, found.id, reason)

    async def cleanup_terminal_handoffs(self, older_than: timedelta = timedelta()) -> int:
        """Delete completed, rejected and expired handoffs; return their number. Those whose time is
        over become expired first."""
        return (await self._delete_ended(older_than)).total()

    async def delete_ended(self, by: str, older_than: timedelta = timedelta()) -> Counter[str]:
        """Do `cleanup_terminal_handoffs` because the person `by` asked for it; return the numbers
        by status. Each tenant has an entry with its numbers in the audit."""
        deleted = await self._delete_ended(older_than)
        days = str(older_than.days)
        for tenant in sorted({tenant for tenant, _ in deleted}):
            numbers = {state: str(count) for (of, state), count in deleted.items() if of == tenant}
            await self._audit.append(
                "handoff", tenant, by, what="deleted", older_than_days=days, **numbers
            )
        return sum((Counter({state: count}) for (_, state), count in deleted.items()), Counter())

    async def _delete_ended(self, older_than: timedelta) -> Counter[tuple[str, str]]:
        now, deleted = self._clock.now(), Counter[tuple[str, str]]()
        await self.expire()
        for _ in range(MAX_STEPS):
            step = await self._store.clean(now - older_than + timedelta(microseconds=1))
            if not step:
                break
            deleted += step
        return deleted

    async def expire(self) -> int:
        """End the handoffs whose time is over; return their number."""
        ended = 0
        for _ in range(MAX_STEPS):
            step = await self._store.expire(self._clock.now())
            for one in step:
                await self._audit.append(
                    "handoff", one.tenant, "", what="expired", handoff=one.id, agent=one.source
                )
            if not step:
                break
            ended += len(step)
        return ended

    async def accept_as(
        self, request: RequestScope, receiver: HandoffReceiver, handoff_id: str
    ) -> HandoffStep:
        """Accept as this receiver, who was authenticated."""
        step = await self._store.accept(receiver, handoff_id, self._clock.now())
        return await self._noted(request, "accepted", receiver, handoff_id, step)

    async def reject_as(
        self, request: RequestScope, receiver: HandoffReceiver, handoff_id: str, reason: str
    ) -> HandoffStep:
        """Reject as this receiver, who was authenticated."""
        clean = read_reason(reason)
        if clean:
            await self._check_source(request, receiver, handoff_id, "reason")
        step = await self._store.reject(receiver, handoff_id, clean, self._clock.now())
        return await self._noted(request, "rejected", receiver, handoff_id, step)

    async def complete_as(
        self, request: RequestScope, receiver: HandoffReceiver, handoff_id: str, result: object
    ) -> HandoffStep:
        """Complete as this receiver, who was authenticated."""
        clean = read_result(result)
        if clean:
            await self._check_source(request, receiver, handoff_id, "result")
        step = await self._store.complete(receiver, handoff_id, clean, self._clock.now())
        return await self._noted(request, "completed", receiver, handoff_id, step)

    async def open_to(
        self, request: RequestScope, receiver: HandoffReceiver
    ) -> tuple[Handoff, ...]:
        """Return the pending and accepted handoffs to this receiver, who was authenticated."""
        now = self._clock.now()
        open_ = await self._store.open(receiver, now, 2 * MAX_LISTED)
        return tuple(shown(one, request, now) for one in open_)

    async def _check_source(
        self, request: RequestScope, receiver: HandoffReceiver, handoff_id: str, place: str
    ) -> None:
        """Raise `BadInput` for possible text of a restricted repository to somebody else."""
        if not request.from_repository:
            return
        found = await self._store.find(receiver.tenant, handoff_id)
        if found is not None and found.source_owner not in _own(request):
            await self._refuse_repository(request, place, WITHOUT_TEXT)

    async def _refuse_repository(self, request: RequestScope, place: str, problem: str) -> None:
        if request.from_repository:
            await self._audit.note("permission_denied", request, what="text_of_repository")
            raise UsageError(f"{place}: {problem}")

    async def _receiver(self, request: RequestScope, agent_id: str) -> HandoffReceiver | None:
        agent = await self._agents.own(request, agent_id)
        if not await self._capable(request, agent, Capability.HANDOFF_RECEIVE):
            return None
        return HandoffReceiver(agent.tenant, agent.id)

    async def _capable(self, request: RequestScope, agent: Agent, needed: Capability) -> bool:
        if agent.may(needed):
            return True
        await self._audit.note("permission_denied", request, what=needed.value, agent=agent.id)
        return False

    async def _target(
        self, request: RequestScope, source: Agent, target: str
    ) -> tuple[str, str, str, tuple[str, ...]]:
        """Return the target's agent id or person, the person for whom it acts, and a person's
        linked identities."""
        if not 0 < len(target) <= MAX_TARGET:
            raise UsageError("target: must be the id of an agent, or of a person")
        if PERSON_SIGN in target:
            return "", target, target, await self._reached(request, target)
        if target == source.id:
            raise UsageError("target: an agent cannot hand a task to itself")
        agent = await self._agents.receiver(request, source, target)
        if agent is None:
            raise NotFound(NO_TARGET.of(id=verbatim(repr(target[:40]))))
        if not agent.may(Capability.HANDOFF_RECEIVE):
            raise UsageError("target: this agent lacks the capability handoff_receive")
        return agent.id, "", agent.owner, ()

    async def _reached(self, request: RequestScope, person: str) -> tuple[str, ...]:
        """Return the linked identities of a person. Raises `BadInput` for one who cannot be written
        to."""
        tenant = request.principal.tenant
        own = {str(request.principal.person), *request.persons}
        if request.principal.outside and person not in own:
            raise UsageError(f"target: {OUTSIDE}")
        contact = await self._places.contact(tenant, person)
        problem = ""
        if contact.memory_off:
            problem = OFF
        elif contact.place is None:
            problem = NO_PLACE
        elif not await self._is_served(tenant, person, contact.place):
            problem = NOT_SERVED
        if problem:
            await self._audit.note(
                "permission_denied", request, what="handoff_to_person", to_person=person
            )
            raise UsageError(f"target: {problem}")
        return contact.persons

    def _ttl(self, seconds: int | None) -> int:
        if seconds is None:
            return self._limits.handoff_seconds
        least, most = self._limits.handoff_seconds_least, self._limits.handoff_seconds_most
        if type(seconds) is not int or not least <= seconds <= most:
            raise UsageError(f"ttl_seconds: must be a whole number from {least} to {most:,}")
        return seconds

    def _check(self, outcome: str) -> None:
        limits = self._limits
        if outcome == "full":
            raise RegistryCapacityError(
                f"There are {limits.handoffs:,} handoffs, the maximum. Ended ones are deleted "
                f"after {KEEP_ENDED.days} days."
            )
        if outcome == "person_full":
            raise RegistryCapacityError(
                f"There are {limits.handoffs_per_person:,} handoffs from your agents, the maximum "
                f"of one person. Ended ones are deleted after {KEEP_ENDED.days} days."
            )
        if outcome == "target_full_of_yours":
            raise RegistryCapacityError(
                f"target: {limits.pending_from_person} handoffs from your agents wait for this "
                "receiver, the maximum for another person's agents. Try again when some are "
                "accepted, rejected or expired."
            )
        if outcome == "target_full":
            raise RegistryCapacityError(
                f"target: {limits.pending_per_target} handoffs wait for this receiver, the "
                "maximum. Try again when some are accepted, rejected or expired."
            )
        if outcome == "too_often":
            raise RegistryCapacityError(
                f"target: a person receives at most {limits.person_per_hour} handoffs an hour from "
                f"your agents, and {limits.person_per_hour_all} in all. Try again later."
            )

    async def _noted(
        self,
        request: RequestScope,
        what: str,
        receiver: HandoffReceiver,
        id_: str,
        step: HandoffStep,
    ) -> HandoffStep:
        if step.done and step.handoff is not None:
            await self._note(request, what, step.handoff, receiver.agent)
        if step.handoff is not None:
            seen = shown(step.handoff, request, self._clock.now())
            return replace(step, handoff=seen)
        if step.outcome == "unknown":
            await self._audit.note(
                "permission_denied", request, what=what, handoff=id_[:64], agent=receiver.agent
            )
        return step

    async def _note(self, request: RequestScope, what: str, handoff: Handoff, agent: str) -> None:
        details = {"what": what, "handoff": handoff.id, "agent": agent, "to": handoff.target}
        if handoff.target_person:
            details["to_person"] = handoff.target_person
        await self._audit.note("handoff", request, **details)


def _own(request: RequestScope) -> frozenset[str]:
    return frozenset((str(request.principal.person), *request.persons))


def shown(handoff: Handoff, request: RequestScope, now: datetime) -> Handoff:
    """Return a handoff as this caller sees it: without the person of the other side's agent, and
    expired if its time is over and no housekeeping has run since."""
    own = {str(request.principal.person), *request.persons}
    over = not handoff.status.terminal and handoff.until <= now
    to_person = bool(handoff.target_person)
    return replace(
        handoff,
        source_owner=handoff.source_owner if to_person or handoff.source_owner in own else "",
        target_owner=handoff.target_owner if to_person or handoff.target_owner in own else "",
        status=HandoffStatus.EXPIRED if over else handoff.status,
    )
