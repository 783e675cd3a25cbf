"""Pools: agents share memories in them. `memory/model/scope.py` has the rule of who reads a share.

The owner of a pool adds own agents, and invites agents of other people of the tenant
(`invitations.py`). Everybody else adds own agents with READ permission, where the pool's scope
covers them. Only the owner of a memory shares it.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, Literal

from msgspec import Struct

from gateway.errors import BadInput, NotFound, UsageError
from gateway.immutable import replace
from gateway.people import Role
from gateway.ports import Clock
from gateway.text import text, verbatim
from memory.agents.invitations import PoolInvitations, refused_joining
from memory.agents.model import (
    MAX_RESULTS,
    Agent,
    AgentEvent,
    AgentLimits,
    Capability,
    EventKind,
    Joining,
    Permission,
    Pool,
    PoolEntry,
    PoolInvitation,
    PoolMember,
    SharedMemory,
    SharedScope,
    SharedUpdate,
    ShareWaits,
    UpdateOutcome,
)
from memory.agents.registry import AgentRegistry, capacity, named, own_capacity
from memory.agents.share_reviews import ShareReviews
from memory.agents.shared_updates import SharedUpdates
from memory.agents.stores.agents import SqlAgents
from memory.agents.stores.events import event_of
from memory.agents.stores.pools import SqlPools
from memory.model.record import Record
from memory.model.scope import (
    AccessScope,
    RequestScope,
    access_scope_of,
    may_be_shared,
    may_change,
)
from memory.ports.audit import AuditAction
from memory.ports.memories import MemoryStore
from memory.recall.selection import AT_ONCE, as_of_others, shown_to
from memory.stores.audit import Audit

MAX_LISTED: Final = 10_000
NAMED_BY: Final = 4
"""Characters of an id that name a pool."""
PRUNED_AT_ONCE: Final = 200
"""Shares: each leaves three indexes, which takes some milliseconds for all of them in SQLite."""
NO_POOL: Final = text(
    "There is no pool {id} that you can use. Ask the owner of the pool for its id."
)
NO_MEMORY: Final = text(
    "There is no memory {id} of yours that can be shared. What an agent keeps for itself, turns"
    " and replaced memories are not shared."
)
NOT_SHARED: Final = text("No memory {id} is shared in this pool. `query_shared` lists them.")
NO_PROJECT: Final = text(
    "A pool or a share of scope PROJECT needs a project. The person chooses one with `/project`."
)
OPERATORS_ONLY: Final = text("scope: only operators create pools of scope GLOBAL")
TOO_WIDE: Final = text("scope: the pool {name} is of scope {pool}; {scope} is wider")
FROM_REPOSITORY: Final = text(
    "What a client wrote is not shared: it may have read a repository that not everybody may read. "
    "The person stores the text in a chat, and that memory can be shared."
)
CHANGES_BEHAVIOUR: Final = text(
    "A preference, instruction or correction changes how the assistant works for others. Store the "
    "new text as a memory of its own and share that: an operator then decides about it."
)


Reaches = Callable[[RequestScope, str], Awaitable[bool]]
"""True if the person of a request belongs to a project."""


class PoolRegistry(Struct, frozen=True):
    """Manages pools. Every method raises `StoreUnavailable`, and `NotFound` for a pool, an agent or
    a memory that the caller cannot see."""

    store: SqlPools
    agents: SqlAgents
    registry: AgentRegistry
    memories: MemoryStore
    audit: Audit
    clock: Clock
    reaches: Reaches
    updates: SharedUpdates
    reviews: ShareReviews
    invitations: PoolInvitations
    limits: AgentLimits
    make_id: Callable[[], str] = lambda: secrets.token_hex(16)

    async def create_pool(self, request: RequestScope, name: str, scope: SharedScope) -> Pool:
        """Create a pool of the caller. A pool of scope PROJECT belongs to the request's project.
        Where others would read possible text of a restricted repository, the id names the pool.

        Raises `RegistryCapacityError` at the limit, `BadInput` for a wrong name or scope.
        """
        safe = named(name, "name")
        if not safe:
            raise UsageError("name: a pool needs a name")
        if scope is SharedScope.GLOBAL and not _operates(request):
            await self._denied(request, "create")
            raise BadInput(OPERATORS_ONLY)
        if scope is SharedScope.TEAM and request.principal.outside:
            await self._denied(request, "create")
            raise UsageError("scope: people of other companies cannot create pools of scope TEAM")
        project = request.project if scope is SharedScope.PROJECT else ""
        if scope is SharedScope.PROJECT and not project:
            raise BadInput(NO_PROJECT, code="no_project")
        tenant, owner, id_ = request.principal.tenant, str(request.principal.person), self.make_id()
        if request.from_repository and not SharedScope.USER.includes(scope):
            safe = f"pool {id_[:NAMED_BY]}"
        pool = Pool(id_, tenant, safe, owner, scope, self.clock.now(), project)
        event = event_of(request, EventKind.POOL_CREATED, pool.created_at, pool=pool.id)
        admission = await self.store.add(pool, self.limits, event)
        if admission != "stored":
            await self._denied(request, "create")
            advice = "Delete one first."
            if admission == "person_full":
                raise own_capacity("pools", "pools", self.limits.pools_per_person, advice)
            raise capacity("pools", "pools", self.limits.pools, advice)
        await self._note("pool_operation", request, "create", pool=pool.id, scope=scope.name)
        return pool

    async def pools_of(self, request: RequestScope) -> tuple[Pool, ...]:
        """Return the pools that the caller owns or has an agent in, first created first."""
        found = await self.store.of_persons(request.principal.tenant, request.persons, MAX_LISTED)
        return tuple(found)

    async def invited_to(self, request: RequestScope, pool_id: str) -> tuple[PoolInvitation, ...]:
        """Return the invitations that wait into a pool of the caller; none for a member."""
        pool = await self.store.get(request.principal.tenant, pool_id)
        if pool is None or pool.owner not in request.persons:
            return ()
        return await self.invitations.of_pool(pool)

    async def members_of(self, request: RequestScope, pool_id: str) -> tuple[PoolMember, ...]:
        """Return the members of a pool that the caller owns or has an agent in."""
        pool = await self.store.get(request.principal.tenant, pool_id)
        if pool is not None and (
            pool.owner in request.persons or await self.store.includes(pool, request.persons)
        ):
            return tuple(await self.store.members(pool_id, self.limits.pool_members))
        raise NotFound(NO_POOL.of(id=verbatim(repr(pool_id[:64]))))

    async def delete_pool(self, request: RequestScope, pool_id: str) -> bool:
        """Delete a pool of the caller; operators delete every pool of the tenant. The memories
        stay. False if the caller has no such pool."""
        pool = await self.store.get(request.principal.tenant, pool_id)
        if pool is None or not (pool.owner in request.persons or _operates(request)):
            return False
        event = event_of(request, EventKind.POOL_DELETED, self.clock.now(), pool=pool.id)
        gone = await self.store.remove(pool, event)
        if gone:
            await self._note("pool_operation", request, "delete", pool=pool.id)
        return gone

    async def join_pool(
        self, request: RequestScope, pool_id: str, agent_id: str, permission: Permission
    ) -> bool | PoolInvitation | None:
        """Add an agent to a pool, or invite an agent of somebody else: the result is then the
        invitation. None if it lacks MEMORY_READ, or MEMORY_WRITE for WRITE; False if the caller may
        not give this permission. Raises `RegistryCapacityError` at a limit, and what `invite`
        raises."""
        pool = await self._pool(request, pool_id)
        owned = pool.owner in request.persons
        agent = await self._joining(request, pool, agent_id, owned=owned)
        needed = {Capability.MEMORY_READ}
        if permission is Permission.WRITE:
            needed.add(Capability.MEMORY_WRITE)
        if not needed <= agent.capabilities:
            await self._denied(request, "join", pool=pool.id, agent=agent.id)
            return None
        if not owned and permission is Permission.WRITE:
            await self._denied(request, "join", pool=pool.id, agent=agent.id)
            return False
        joined = await self._joined(request, pool, agent, permission, owned=owned)
        if joined == "not_member":
            return await self.invitations.invite(request, pool, agent, permission)
        if joined == "missing":
            raise NotFound(NO_POOL.of(id=verbatim(repr(pool_id[:64]))))
        if joined != "joined":
            await self._denied(request, "join", pool=pool.id, agent=agent.id)
            raise refused_joining(joined, self.limits, pool.scope)
        await self._note(
            "pool_operation",
            request,
            "join",
            pool=pool.id,
            agent=agent.id,
            permission=permission.value,
        )
        return True

    async def _joined(
        self,
        request: RequestScope,
        pool: Pool,
        agent: Agent,
        permission: Permission,
        *,
        owned: bool,
    ) -> Joining:
        """Store a membership of an own agent, or change that of a member."""
        limits = self.limits
        if pool.scope is SharedScope.AGENT_PRIVATE:
            limits = replace(limits, pool_members=1)
        member = PoolMember(pool.id, agent.id, permission, self.clock.now(), granted=owned)
        event = self._event(request, EventKind.POOL_JOINED, pool, agent.id)
        own = agent.owner in request.persons
        return await self.store.join(
            pool, member, agent.owner, limits, event, replaces=owned, new=own
        )

    async def leave_pool(self, request: RequestScope, pool_id: str, agent_id: str) -> bool:
        """End the membership of an own agent, or as the pool's owner of any agent. It reads the
        pool no longer, and what it shared leaves the pool with it. The pool's owner also withdraws
        an invitation so. False if there is neither."""
        pool = await self.store.get(request.principal.tenant, pool_id)
        if pool is None:
            return False
        owned = pool.owner in request.persons
        if not owned or request.agent:
            agent = await self.agents.get(request.principal.tenant, agent_id)
            if agent is None or agent.owner not in request.persons:
                return False
            if request.agent not in {"", agent_id}:
                return False
        event = self._event(request, EventKind.POOL_LEFT, pool, agent_id)
        if await self.store.leave(pool.id, agent_id, event):
            await self._note("pool_operation", request, "leave", pool=pool.id, agent=agent_id)
            return True
        return owned and await self.invitations.withdraw(request, pool, agent_id)

    async def share_memory(
        self,
        request: RequestScope,
        pool_id: str,
        memory_id: str,
        agent_id: str,
        scope: SharedScope,
    ) -> SharedMemory | ShareWaits | Literal[False] | None:
        """Share an own memory with a pool; the result says with how many members. What changes
        behaviour at a scope wider than USER waits for an operator, unless one shares it.

        None if the agent lacks MEMORY_WRITE, False if it lacks WRITE permission in the pool, or if
        another text took the place of the memory there. Raises `BadInput` for a scope that is wider
        than the pool's, for a full review queue and for possible text of a restricted repository;
        `RegistryCapacityError` at the limit.
        """
        agent = await self.registry.own(request, agent_id)
        pool = await self._pool(request, pool_id)
        if not agent.may(Capability.MEMORY_WRITE):
            await self._denied(request, "share", pool=pool.id, agent=agent.id)
            return None
        project = pool.project or request.project
        _check_scope(pool, scope, project)
        access = access_scope_of(replace(request, agent=agent.id))
        record = await self._own_memory(request, access, pool, memory_id)
        wide = not SharedScope.USER.includes(scope)
        if record.behavioral and wide and not access.operates:
            return await self._proposed(request, access, pool, record, scope, project)
        event = self._event(request, EventKind.POOL_SHARED, pool, agent.id, memory_id)
        share = SharedMemory(pool.id, memory_id, agent.id, scope, event.at)
        return await self._stored_share(request, access, share, project, event)

    async def unshare(self, request: RequestScope, pool_id: str, memory_id: str) -> bool:
        """Stop sharing an own memory, or as the pool's owner any; False if it is not shared."""
        pool = await self.store.get(request.principal.tenant, pool_id)
        if pool is None:
            return False
        owned = pool.owner in request.persons
        event = self._event(request, EventKind.POOL_UNSHARED, pool, memory=memory_id)
        gone = await self.store.unshare(
            pool.tenant, request.persons, pool.id, memory_id, event, any_=owned
        )
        if gone:
            await self._note("pool_operation", request, "unshare", pool=pool.id, memory=memory_id)
        return gone

    async def query_shared(
        self,
        request: RequestScope,
        pool_id: str,
        agent_id: str,
        max_scope: SharedScope,
        max_results: int | None = None,
    ) -> tuple[PoolEntry, ...] | Literal[False] | None:
        """Return what an own agent may read in a pool at this scope or narrower, latest first.

        None if the agent lacks MEMORY_READ, False if it is no member. Raises `BadInput` unless
        `max_results` is 1 to 1,000; without it there are at most 100.
        """
        most = self.limits.query_results if max_results is None else max_results
        if not 1 <= most <= MAX_RESULTS:
            raise UsageError(f"max_results: 1 to {MAX_RESULTS:,}, not {most}")
        agent = await self.registry.own(request, agent_id)
        pool = await self._pool(request, pool_id)
        if not agent.may(Capability.MEMORY_READ):
            await self._denied(request, "query", pool=pool.id, agent=agent.id)
            return None
        if await self.store.member(pool.id, agent.id) is None:
            await self._denied(request, "query", pool=pool.id, agent=agent.id)
            return False
        access = replace(await self._reading(request, pool, agent), widest=max_scope.value)
        found = await self.store.query(access, pool.id, self.clock.now(), most)
        others = sum(entry.shared.agent != agent.id for entry in found)
        if others:
            await self._note(
                "cross_agent_read", request, "query", pool=pool.id, agent=agent.id, results=others
            )
        # Each text is searched for secrets, which takes up to 5 us per character.
        aside = sum(len(entry.record.content) for entry in found) > AT_ONCE
        show = partial(_shown, access, found, others=pool.owner not in request.persons)
        return await asyncio.to_thread(show) if aside else show()

    async def update_shared(
        self,
        request: RequestScope,
        pool_id: str,
        memory_id: str,
        agent_id: str,
        expected_version: int,
        text: str,
    ) -> SharedUpdate | Literal[False] | None:
        """Give a shared memory a new text, if its version is still the expected one.

        None if the agent lacks MEMORY_WRITE, False if it lacks WRITE permission in the pool. Raises
        `BadInput` for what changes behaviour, as `share_memory` does, and for possible text of a
        restricted repository.
        """
        if request.from_repository:
            await self._denied(request, "update", agent=agent_id[:64])
            raise BadInput(FROM_REPOSITORY)
        agent = await self.registry.own(request, agent_id)
        pool = await self._pool(request, pool_id)
        if not agent.may(Capability.MEMORY_WRITE):
            await self._denied(request, "update", pool=pool.id, agent=agent.id)
            return None
        member = await self.store.member(pool.id, agent.id)
        if member is None or member.permission is not Permission.WRITE:
            await self._denied(request, "update", pool=pool.id, agent=agent.id)
            return False
        access = await self._reading(request, pool, agent)
        found = await self.store.query(access, pool.id, self.clock.now(), 1, memory_id)
        if not found:
            raise NotFound(NOT_SHARED.of(id=verbatim(repr(memory_id[:64]))))
        entry = found[0]
        wide = not SharedScope.USER.includes(entry.shared.scope)
        if entry.record.behavioral and wide and not access.operates:
            raise BadInput(CHANGES_BEHAVIOUR)
        acting = replace(request, agent=agent.id, project=access.project)
        update = await self.updates.update(acting, access, entry, expected_version, text)
        done = update.outcome is UpdateOutcome.UPDATED
        await self._note(
            "pool_operation",
            request,
            "update" if done else f"update_{update.outcome.value}",
            pool=pool.id,
            agent=agent.id,
            memory=memory_id,
            version=update.version,
        )
        return update

    async def prune(self) -> int:
        """Delete a batch of shares whose memberships ended, and of invitations whose time is over;
        return their number."""
        return await self.store.prune(PRUNED_AT_ONCE) + await self.invitations.prune()

    async def _own_memory(
        self, request: RequestScope, access: AccessScope, pool: Pool, memory_id: str
    ) -> Record:
        """Return a memory of the caller. Raises `BadInput` for possible text of a restricted
        repository."""
        record = await self.memories.get(access, memory_id)
        if record is None:
            raise NotFound(NO_MEMORY.of(id=verbatim(repr(memory_id[:64]))))
        if record.provenance.from_repository:
            await self._denied(request, "share", pool=pool.id, agent=access.agent)
            raise BadInput(FROM_REPOSITORY)
        return record

    async def _stored_share(
        self,
        request: RequestScope,
        access: AccessScope,
        share: SharedMemory,
        project: str,
        event: AgentEvent,
    ) -> SharedMemory | Literal[False]:
        """Store a share. False where the store refuses it. Raises `RegistryCapacityError` at the
        limit."""
        of_project = project if share.scope is SharedScope.PROJECT else ""
        limit = self.limits.pool_memories
        shared = await self.store.share(access, share, of_project, limit, event)
        if isinstance(shared, SharedMemory):
            await self._note(
                "pool_operation",
                request,
                "share",
                pool=share.pool,
                agent=share.agent,
                memory=share.memory,
                scope=share.scope.name,
                members=shared.members,
            )
            return shared
        await self._denied(request, "share", pool=share.pool, agent=share.agent)
        if shared == "missing":
            raise NotFound(NO_MEMORY.of(id=verbatim(repr(share.memory[:64]))))
        if shared == "full":
            advice = "Stop sharing one first."
            raise capacity("pool_memories", "shared memories in this pool", limit, advice)
        return False

    async def _proposed(
        self,
        request: RequestScope,
        access: AccessScope,
        pool: Pool,
        record: Record,
        scope: SharedScope,
        project: str,
    ) -> ShareWaits | Literal[False]:
        """Let an operator decide about a share. False without WRITE permission in the pool."""
        if not may_change(access, record) or not may_be_shared(record) or not record.current:
            raise NotFound(NO_MEMORY.of(id=verbatim(repr(record.id[:64]))))
        member = await self.store.member(pool.id, access.agent)
        if member is None or member.permission is not Permission.WRITE:
            await self._denied(request, "share", pool=pool.id, agent=access.agent)
            return False
        return await self.reviews.propose(request, access, pool, record, scope, project)

    # --- helpers --------------------------------------------------------------------------------

    async def _pool(self, request: RequestScope, pool_id: str) -> Pool:
        """Return a pool of the tenant that covers the caller, or in which they have an agent."""
        pool = await self.store.get(request.principal.tenant, pool_id)
        if pool is not None and await self._covers(request, pool):
            return pool
        await self._denied(request, "pool")
        raise NotFound(NO_POOL.of(id=verbatim(repr(pool_id[:64]))))

    async def _covers(self, request: RequestScope, pool: Pool) -> bool:
        if pool.owner in request.persons or pool.scope is SharedScope.GLOBAL:
            return True
        if pool.scope is SharedScope.TEAM and not request.principal.outside:
            return True
        if pool.scope is SharedScope.PROJECT and await self._in_project(request, pool.project):
            return True
        return await self.store.includes(pool, request.persons)

    async def _in_project(self, request: RequestScope, project: str) -> bool:
        return request.project == project or await self.reaches(request, project)

    async def _joining(
        self, request: RequestScope, pool: Pool, agent_id: str, *, owned: bool
    ) -> Agent:
        """Return an own agent; for the owner of a pool of scope PROJECT or wider any agent of the
        tenant."""
        if not owned or SharedScope.USER.includes(pool.scope) or request.agent == agent_id:
            return await self.registry.own(request, agent_id)
        agent = await self.agents.get(pool.tenant, agent_id)
        if agent is None:
            return await self.registry.own(request, agent_id)
        return agent

    async def _reading(self, request: RequestScope, pool: Pool, agent: Agent) -> AccessScope:
        """Return the access of an agent, in the project of the pool if its person is in it."""
        project = request.project
        if pool.project and await self._in_project(request, pool.project):
            project = pool.project
        return access_scope_of(replace(request, agent=agent.id, project=project))

    def _event(
        self, request: RequestScope, kind: EventKind, pool: Pool, agent: str = "", memory: str = ""
    ) -> AgentEvent:
        now = self.clock.now()
        return event_of(request, kind, now, agent=agent, pool=pool.id, memory=memory)

    async def _denied(self, request: RequestScope, operation: str, **details: str | int) -> None:
        await self._note("permission_denied", request, operation, **details)

    async def _note(
        self, action: AuditAction, request: RequestScope, operation: str, **details: str | int
    ) -> None:
        await self.audit.note(action, request, operation=operation, **details)


def _shown(
    access: AccessScope, entries: Sequence[PoolEntry], *, others: bool
) -> tuple[PoolEntry, ...]:
    """Return entries as their reader sees them: without secrets, and another person's without
    person, place and messages. Only own text in an own pool can have high trust: what other people
    share, or change, proves nothing. `others`: the pool is of somebody else."""
    return tuple(_readable(access, entry, others=others) for entry in entries)


def _readable(access: AccessScope, entry: PoolEntry, *, others: bool) -> PoolEntry:
    record = entry.record
    shown = shown_to(access, record)
    if others or record.provenance.person not in access.persons:
        shown = as_of_others(shown)
    return PoolEntry(entry.shared, shown)


def _check_scope(pool: Pool, scope: SharedScope, project: str) -> None:
    """Raises `BadInput` for a scope that is wider than the pool's, or that needs a project."""
    if not pool.scope.includes(scope):
        raise BadInput(
            TOO_WIDE.of(
                name=verbatim(repr(pool.name)),
                pool=verbatim(pool.scope.name),
                scope=verbatim(scope.name),
            )
        )
    if scope is SharedScope.PROJECT and not project:
        raise BadInput(NO_PROJECT, code="no_project")


def _operates(request: RequestScope) -> bool:
    return request.principal.role.at_least(Role.OPERATOR)
