"""Agents and their sessions. An agent belongs to one person, and acts only for that person."""

import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.errors import NotFound, UsageError
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.text import text, verbatim
from memory.agents.defences import cleaned_name
from memory.agents.model import (
    DEFAULT_CAPABILITIES,
    MAX_NAME,
    SESSION_IDLE,
    Agent,
    AgentLimits,
    AgentSession,
    AgentType,
    Capability,
    EventKind,
    RegistryCapacityError,
)
from memory.agents.stores.agents import SqlAgents
from memory.agents.stores.events import event_of
from memory.model.scope import RequestScope, access_scope_of
from memory.ports.audit import AuditAction
from memory.ports.memories import MemoryStore
from memory.stores.audit import Audit

MAX_LISTED: Final = 10_000
"""Agents of one person that are listed."""
KEEP_ENDED: Final = timedelta(days=1)
"""The time for which ended sessions stay stored."""
TAKEN_AT_ONCE: Final = 500
MAX_BATCHES: Final = 200
"""Batches of memories that one call takes back: 100,000 memories."""
EVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN: Final = text("No agent of yours has the id {id}. `get_agents_for_user` lists your agents.")
PERSON_FULL: Final = (
    "You have {limit:,} {what} already, the maximum of one person. {advice} An operator can raise"
    " `agents.{setting}_per_person`."
)
FULL: Final = (
    "There are {limit:,} {what} already, the maximum of this installation. {advice} An operator can"
    " raise `agents.{setting}`."
)


class AgentRegistry(Struct, frozen=True):
    """Registers agents and their sessions. Every method raises `StoreUnavailable`."""

    store: SqlAgents
    memories: MemoryStore
    audit: Audit
    clock: Clock
    limits: AgentLimits
    make_id: Callable[[], str] = lambda: secrets.token_hex(16)

    async def register_agent(
        self,
        request: RequestScope,
        agent_type: AgentType,
        *,
        name: str = "",
        capabilities: Iterable[Capability] | None = None,
    ) -> Agent:
        """Register an agent of the caller, with the type's capabilities or fewer.

        Raises `RegistryCapacityError` at the limit, `BadInput` for a name that is too long or a
        capability that the type does not have.
        """
        allowed = DEFAULT_CAPABILITIES[agent_type]
        requested = allowed if capabilities is None else frozenset(capabilities)
        if not requested <= allowed:
            more = ", ".join(sorted(requested - allowed))
            raise UsageError(f"capabilities: agents of type {agent_type} cannot have {more}")
        agent = Agent(
            self.make_id(),
            request.principal.tenant,
            agent_type,
            str(request.principal.person),
            requested,
            self.clock.now(),
            named(name, "name"),
        )
        event = event_of(request, EventKind.AGENT_REGISTERED, agent.registered_at, agent=agent.id)
        admission = await self.store.add(agent, self.limits, event)
        if admission != "stored":
            await self._note("permission_denied", request, operation="register", reason="full")
            advice = "Unregister one first."
            if admission == "person_full":
                raise own_capacity("agents", "agents", self.limits.agents_per_person, advice)
            raise capacity("agents", "agents", self.limits.agents, advice)
        await self._note("agent_auth", request, operation="register", agent=agent.id)
        return agent

    async def get_agent(self, request: RequestScope, agent_id: str) -> Agent | None:
        """Return an agent of the caller, or one with which the caller's agents share a pool,
        without its owner and name. None for every other id; an agent finds itself alone."""
        if request.agent not in {"", agent_id}:
            return None
        found = await self.store.known(request.principal.tenant, request.persons, agent_id)
        if found is None or found.owner in request.persons:
            return found
        return replace(found, owner="", name="")

    async def receiver(self, request: RequestScope, source: Agent, agent_id: str) -> Agent | None:
        """Return an agent, with its person, to which the caller's agent `source` may hand tasks:
        one of the caller, or a member of a pool that the caller owns or whose owner let `source`
        in. Who joined an open pool without its owner hands nothing to others there."""
        tenant, persons = request.principal.tenant, request.persons
        return await self.store.receives(tenant, persons, source.id, agent_id)

    async def agents_of(self, request: RequestScope) -> tuple[Agent, ...]:
        """Return the agents of the caller's identities, first registered first."""
        tenant = request.principal.tenant
        return tuple(await self.store.of_persons(tenant, request.persons, MAX_LISTED))

    async def own(self, request: RequestScope, agent_id: str) -> Agent:
        """Return an agent of the caller. Raises `NotFound` for every other id; an agent has no
        access to other agents of its person."""
        found = None
        if request.agent in {"", agent_id}:
            found = await self.store.get(request.principal.tenant, agent_id)
        if found is None or found.owner not in request.persons:
            await self._note("permission_denied", request, operation="agent")
            raise NotFound(UNKNOWN.of(id=verbatim(repr(agent_id[:64]))))
        return found

    async def acting(self, request: RequestScope, agent_id: str) -> RequestScope:
        """Return the request as that of the caller's agent. Raises `NotFound`."""
        return replace(request, agent=(await self.own(request, agent_id)).id)

    async def unregister_agent(self, request: RequestScope, agent_id: str) -> bool:
        """Delete an agent with its sessions, memberships and shares; what it wrote stays. False
        if the caller has no such agent."""
        if request.agent not in {"", agent_id}:
            return False
        kind, now = EventKind.AGENT_UNREGISTERED, self.clock.now()
        event = event_of(request, kind, now, agent=agent_id)
        tenant = request.principal.tenant
        gone = await self.store.remove(tenant, request.persons, agent_id, event)
        if gone:
            await self._note("agent_auth", request, operation="unregister", agent=agent_id)
        return gone

    async def take_back(self, request: RequestScope, agent_id: str, since: datetime = EVER) -> int:
        """Delete what an agent wrote since then, as far as the caller may delete it, as if it had
        never been stored; return the number of memories. The agent may be unregistered already."""
        access = access_scope_of(replace(request, agent=""))
        count = 0
        for _ in range(MAX_BATCHES):
            ids = await self.store.memories_of(access, agent_id, since, TAKEN_AT_ONCE)
            taken = await self.memories.take_back(access, ids) if ids else []
            count += len(taken)
            if not taken:
                break
        if count:
            await self._note(
                "memory_delete", request, reason="agent", agent=agent_id, deleted=count
            )
        return count

    async def start_session(self, request: RequestScope, agent_id: str) -> AgentSession:
        """Start a session of an own agent. Raises `NotFound`, `RegistryCapacityError`."""
        agent, now = await self.own(request, agent_id), self.clock.now()
        session = AgentSession(self.make_id(), agent.id, now)
        limits, advice = self.limits, "End one first."
        admission = await self.store.add_session(agent, session, now - SESSION_IDLE, limits)
        if admission == "missing":
            raise NotFound(UNKNOWN.of(id=verbatim(repr(agent_id[:64]))))
        if admission != "stored":
            await self._note("permission_denied", request, operation="session", reason="full")
            if admission == "person_full":
                own = limits.sessions_per_person
                raise own_capacity("sessions", "open sessions", own, advice)
            raise capacity("sessions", "open sessions", limits.sessions, advice)
        await self._note("agent_auth", request, operation="session", agent=agent.id)
        return session

    async def use_session(self, request: RequestScope, session_id: str) -> AgentSession:
        """Return an open session of the caller, and note its use. Raises `NotFound` if it ended,
        also after 30 minutes without use."""
        now, tenant = self.clock.now(), request.principal.tenant
        session = await self.store.use_session(
            tenant, request.persons, request.agent, session_id, now, now - SESSION_IDLE
        )
        if session is None:
            raise NotFound(
                text("The session has ended, or there is none with this id. Start a new one.")
            )
        return session

    async def end_session(self, request: RequestScope, session_id: str) -> bool:
        """End an open session of the caller; False if there is none."""
        now, tenant = self.clock.now(), request.principal.tenant
        ended = await self.store.end_session(
            tenant, request.persons, request.agent, session_id, now
        )
        if ended:
            await self._note("agent_auth", request, operation="session_end")
        return ended

    async def prune(self) -> int:
        """End idle sessions, delete ended ones after a day; return the number of a batch."""
        now = self.clock.now()
        return await self.store.prune(now - SESSION_IDLE, now - KEEP_ENDED)

    async def _note(self, action: AuditAction, request: RequestScope, **details: str | int) -> None:
        await self.audit.note(action, request, **details)


def named(name: str, place: str) -> str:
    """Return a safe name in one line. Raises `BadInput` for more than 100 characters."""
    if len(name) > MAX_NAME:
        raise UsageError(f"{place}: at most {MAX_NAME} characters, not {len(name)}")
    return " ".join(cleaned_name(name).split())[:MAX_NAME]


def capacity(setting: str, what: str, limit: int, advice: str) -> RegistryCapacityError:
    """Return the error of a limit that is reached."""
    text = FULL.format(limit=limit, what=what, setting=setting, advice=advice)
    return RegistryCapacityError(text)


def own_capacity(setting: str, what: str, limit: int, advice: str) -> RegistryCapacityError:
    """Return the error of a limit of one person that is reached."""
    text = PERSON_FULL.format(limit=limit, what=what, setting=setting, advice=advice)
    return RegistryCapacityError(text)
