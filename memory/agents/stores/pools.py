"""The store of pools. Writers of one pool wait for each other, so that its limits hold. Writers of
two pools wait only while the events are written."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from db import (
    FOR_UPDATE,
    SKIP_LOCKED,
    Database,
    Params,
    Row,
    Statement,
    Work,
    among,
    change,
    execute,
    fetch,
    fetch_first,
    together,
)
from db.statements import within
from db.transaction import Fetch
from db.values import micros, storable, time_of
from memory.agents.model import (
    Admission,
    AgentEvent,
    AgentLimits,
    Joining,
    Permission,
    Pool,
    PoolEntry,
    PoolMember,
    SharedMemory,
    SharedScope,
)
from memory.agents.stores.agents import admitted
from memory.agents.stores.events import EventSignal, EventWriter, add_events
from memory.model.scope import MAY_BE_SHARED, MAY_CHANGE, SHARES, SHOWS_SHARED, AccessScope
from memory.stores.filters import TRUE_NOW
from memory.stores.links import of_same_person
from memory.stores.rows import SELECTED, record_from
from memory.stores.shared_memories import (
    LAST,
    LATEST_SHARES,
    LATEST_SHARES_OF_MEMBERS,
    audiences_of,
    audiences_read,
)

Refused: TypeAlias = Literal["missing", "denied", "full"]
"""There is no such memory, pool or member; the member may not; a limit is reached."""


class ReplacedText(Struct, frozen=True):
    """The new text of a shared memory: the stored memory `record_id`, which `agent` wrote, in place
    of the version `expected`."""

    pool: str
    memory: str
    agent: str
    record_id: str
    expected: int


COLUMNS: Final = "id, tenant, person, name, scope, project, created_at"
COUNTED: Final = Statement(f"""
    SELECT (SELECT count(*) FROM pools),
        (SELECT count(*) FROM pools WHERE tenant = :tenant AND {of_same_person("person")})
""")
ADD: Final = Statement(f"""
    INSERT INTO pools ({COLUMNS})
    VALUES (:id, :tenant, :person, :name, :scope, :project, :created_at)
""")
GET: Final = Statement(f"SELECT {COLUMNS} FROM pools WHERE id = :id AND tenant = :tenant")
LISTED: Final = Statement(f"""
    SELECT {COLUMNS} FROM pools WHERE tenant = :tenant AND {among("person", "persons")}
    UNION SELECT {COLUMNS} FROM pools WHERE {
    within(
        "id",
        "SELECT r.pool FROM pool_members r WHERE r.tenant = :tenant AND "
        + among("r.person", "persons"),
    )
}
    ORDER BY created_at, id LIMIT :limit
""")
INCLUDES: Final = Statement(f"""
    SELECT 1 FROM pool_members WHERE pool = :pool AND tenant = :tenant
        AND {among("person", "persons")} LIMIT 1
""")
REMOVE: Final = Statement("DELETE FROM pools WHERE id = :id AND tenant = :tenant")
WITHDRAW_INVITATIONS: Final = Statement(
    "UPDATE pool_invitations SET state = 'withdrawn' WHERE pool = :id AND state = 'waiting'"
)
"""The rows stay, so that nobody evades the limits of invitations by deleting a pool."""
REMOVE_MEMBERS: Final = Statement("DELETE FROM pool_members WHERE pool = :id")
LOCK: Final = Statement(f"SELECT memories FROM pools WHERE id = :pool {FOR_UPDATE}")
MEMBER_COLUMNS: Final = "pool, agent, permission, joined_at, granted"
MEMBER: Final = Statement(
    f"SELECT {MEMBER_COLUMNS} FROM pool_members WHERE pool = :pool AND agent = :agent"
)
MEMBERS: Final = Statement(
    f"SELECT {MEMBER_COLUMNS} FROM pool_members WHERE pool = :pool ORDER BY seq LIMIT :limit"
)
COUNT_MEMBERS: Final = Statement("SELECT count(*) FROM pool_members WHERE pool = :pool")
COUNT_MEMBERSHIPS: Final = Statement(f"""
    SELECT (SELECT count(*) FROM pool_members WHERE pool = :pool),
        (SELECT count(*) FROM pool_members
            WHERE pool = :pool AND tenant = :tenant AND {of_same_person("person")}),
        (SELECT count(*) FROM pool_members
            WHERE tenant = :tenant AND {of_same_person("person")})
""")
CHANGE_MEMBER: Final = Statement("""
    UPDATE pool_members SET permission = :permission, granted = :granted
    WHERE pool = :pool AND agent = :agent
""")
JOIN: Final = Statement(f"""
    INSERT INTO pool_members (pool, agent, tenant, person, permission, granted, joined_at)
    SELECT :pool, a.id, a.tenant, a.person, :permission, :granted, :now
    FROM agents a WHERE a.id = :agent AND a.tenant = :tenant {FOR_UPDATE}
""")
LEAVE: Final = Statement("DELETE FROM pool_members WHERE pool = :pool AND agent = :agent")
WRITER: Final = Statement(f"""
    SELECT seq, permission FROM pool_members
    WHERE pool = :pool AND agent = :for_agent {FOR_UPDATE}
""")
MEMORY: Final = Statement(f"""
    SELECT m.seq FROM memories m
    WHERE m.id = :memory AND {MAY_CHANGE} AND {MAY_BE_SHARED} AND m.role = ''
        AND {TRUE_NOW} {FOR_UPDATE}
""")
SHARED: Final = Statement("""
    SELECT s.version, EXISTS (SELECT 1 FROM pool_members o WHERE o.seq = s.member)
        AND EXISTS (SELECT 1 FROM pool_members w WHERE w.seq = s.writer)
    FROM pool_memories s WHERE s.pool = :pool AND s.memory = :memory
""")
DROP: Final = Statement("DELETE FROM pool_memories WHERE pool = :pool AND memory = :memory")
SHARE: Final = Statement("""
    INSERT INTO pool_memories (pool, memory, number, tenant, person, agent, member, writer, scope,
        project, audiences, shared_at, version)
    VALUES (:pool, :memory, :number, :for_tenant, :person, :for_agent, :member, :member, :scope,
        :project, :audiences, :now, 1)
""")
RESHARE: Final = Statement("""
    UPDATE pool_memories SET scope = :scope, project = :project, audiences = :audiences,
        person = :person, agent = :for_agent, member = :member, writer = :member
    WHERE pool = :pool AND memory = :memory
""")
UNSHARE: Final = Statement(f"""
    DELETE FROM pool_memories WHERE pool = :pool AND memory = :memory AND tenant = :tenant
        AND (:any OR {among("person", "persons")})
""")
ENTRIES: Final = f"""
    SELECT s.pool, s.memory, s.agent, s.scope, s.shared_at, s.version, {SELECTED}
    FROM {SHARES} JOIN memories m ON m.seq = s.number
    WHERE s.pool = :pool AND {SHOWS_SHARED} AND {TRUE_NOW}
"""
READER: Final = Statement("""
    SELECT granted, EXISTS (SELECT 1 FROM pool_members_left l WHERE l.pool = :pool)
    FROM pool_members WHERE pool = :pool AND agent = :for_agent
""")
"""The membership of a reader, and whether there may be shares of members that left."""
CANDIDATES: Final = Statement(f"{LATEST_SHARES} ORDER BY l.share DESC LIMIT :page")
CANDIDATES_OF_MEMBERS: Final = Statement(
    f"{LATEST_SHARES_OF_MEMBERS} ORDER BY l.share DESC LIMIT :page"
)
QUERY: Final = Statement(f"{ENTRIES} AND {among('s.seq', 'some')} ORDER BY s.seq DESC LIMIT :limit")
QUERY_ONE: Final = Statement(f"{ENTRIES} AND s.memory = :memory")
REPLACE: Final = Statement("""
    UPDATE pool_memories AS s SET version = s.version + 1, agent = :agent, writer = r.seq,
        shared_at = :now, number = m.seq
    FROM memories m, pool_members r
    WHERE s.pool = :pool AND s.memory = :memory AND s.tenant = :tenant AND s.version = :expected
        AND m.id = :record AND m.tenant = :tenant
        AND r.pool = :pool AND r.agent = :agent AND r.permission = 'write'
""")


MEMBERS_LEFT: Final = 100
"""Ended memberships of one step of the housekeeping."""
LEFT: Final = Statement(f"""
    SELECT seq FROM pool_members_left ORDER BY seq LIMIT {MEMBERS_LEFT} {SKIP_LOCKED}
""")
LEFT_POOL: Final = Statement(f"""
    SELECT seq FROM pool_members_left WHERE pool = :pool ORDER BY seq LIMIT {MEMBERS_LEFT}
""")
ENDED: Final = f"""
    SELECT s.seq FROM pool_memories s WHERE {among("s.member", "left")}
    UNION ALL SELECT s.seq FROM pool_memories s
        WHERE {among("s.writer", "left")} AND NOT {among("s.member", "left")}
    LIMIT :most
"""
PRUNE: Final = Statement(f"DELETE FROM pool_memories WHERE {within('seq', ENDED)}")
FORGET_LEFT: Final = Statement(f"DELETE FROM pool_members_left WHERE {among('seq', 'left')}")
AT_ONCE: Final = 200
"""Shares that a writer deletes when a pool is full."""
PAGE: Final = 500
"""Shares that one step of a query reads: some milliseconds in SQLite."""
LARGE_PAGE: Final = 2_000
"""Shares that each further step reads. It is needed for many shares whose memories are no longer
true, until the housekeeping has deleted them."""
SPARE: Final = 20
"""Shares that the first step reads beyond the limit, because the memories of some of the latest may
no longer be true."""
MAX_PAGES: Final = 1_000


class SqlPools:
    """The pools. Every method raises `StoreUnavailable`; the limits hold for concurrent writers. An
    `event` is stored with the change that it tells of; without a change there is none.
    """

    def __init__(self, database: Database, signal: EventSignal | None = None) -> None:
        self._database = database
        self._writer = EventWriter(database, signal)

    async def add(self, pool: Pool, limits: AgentLimits, event: AgentEvent) -> Admission:
        """Store a pool, unless there are `pools` in all tenants together, or `pools_per_person` of
        its owner."""
        params = {
            "id": pool.id,
            "tenant": storable(pool.tenant),
            "person": storable(pool.owner),
            "name": storable(pool.name),
            "scope": pool.scope.value,
            "project": storable(pool.project),
            "created_at": micros(pool.created_at),
        }

        def work() -> Work[Admission]:
            ((all_, own),) = yield from fetch(COUNTED, params)
            admission = admitted(all_, own, limits.pools, limits.pools_per_person)
            if admission == "stored":
                yield from _noted(change(ADD, params), event)
            return admission

        return await self._writer.run(work, "pools")

    async def get(self, tenant: str, pool_id: str) -> Pool | None:
        """Return a pool of the tenant."""
        params = {"id": storable(pool_id), "tenant": storable(tenant)}
        rows = await self._database.fetch(GET, params)
        return pool_of(rows[0]) if rows else None

    async def of_persons(self, tenant: str, persons: Sequence[str], limit: int) -> list[Pool]:
        """Return the pools that these persons own, and those with one of their agents."""
        params = {"tenant": storable(tenant), "persons": _all(persons), "limit": limit}
        return [pool_of(row) for row in await self._database.fetch(LISTED, params)]

    async def includes(self, pool: Pool, persons: Sequence[str]) -> bool:
        """True if an agent of these persons is a member of the pool."""
        params = {"pool": pool.id, "tenant": storable(pool.tenant), "persons": _all(persons)}
        return bool(await self._database.fetch(INCLUDES, params))

    async def remove(self, pool: Pool, event: AgentEvent) -> bool:
        """Delete a pool and its memberships. `prune` deletes its shares, which nobody can read
        any more."""
        params = {"id": pool.id, "tenant": pool.tenant}

        def work() -> Work[bool]:
            if not (yield from change(REMOVE, params)):
                return False
            yield from execute(REMOVE_MEMBERS, params)
            yield from execute(WITHDRAW_INVITATIONS, params)
            yield from add_events([event])
            return True

        return await self._writer.run(work, writing(pool.id))

    async def member(self, pool_id: str, agent_id: str) -> PoolMember | None:
        """Return the membership of an agent."""
        params = {"pool": storable(pool_id), "agent": storable(agent_id)}
        rows = await self._database.fetch(MEMBER, params)
        return _member(rows[0]) if rows else None

    async def members(self, pool_id: str, limit: int) -> list[PoolMember]:
        """Return the members, first joined first."""
        params = {"pool": storable(pool_id), "limit": limit}
        return [_member(row) for row in await self._database.fetch(MEMBERS, params)]

    async def join(
        self,
        pool: Pool,
        member: PoolMember,
        owner: str,
        limits: AgentLimits,
        event: AgentEvent,
        *,
        replaces: bool,
        new: bool,
    ) -> Joining:
        """Add an agent of the person `owner` to a pool, within `pool_members`,
        `pool_members_per_person` and `memberships_per_person`. A present membership stays, unless
        the new one `replaces` it. Unless it may be `new`, only a present one is changed."""
        params = {"pool": storable(pool.id)}

        def work() -> Work[Joining]:
            if (yield from fetch_first(LOCK, params)) is None:
                return "missing"
            before = yield from fetch(MEMBER, {**params, "agent": storable(member.agent)})
            if not (before or new):
                return "not_member"
            outcome = yield from admit(pool.tenant, member, owner, limits, replaces=replaces)
            if outcome == "joined" and (replaces or not before):
                yield from add_events([event])
            return outcome

        return await self._writer.run(work, *joining_locks(pool.id, pool.tenant))

    async def leave(self, pool_id: str, agent_id: str, event: AgentEvent) -> bool:
        """End a membership; the agent's shares cannot be read any more."""
        params = {"pool": storable(pool_id), "agent": storable(agent_id)}
        return await self._writer.run(
            lambda: _noted(change(LEAVE, params), event), writing(pool_id)
        )

    async def share(
        self,
        access: AccessScope,
        shared: SharedMemory,
        project: str,
        limit: int,
        event: AgentEvent,
    ) -> SharedMemory | Refused:
        """Share a changeable current memory of this access with a pool of which its agent is a
        member with WRITE permission; a memory that is shared already gets the new scope. Return it
        with the number of members."""
        params = access.parameters() | {
            "pool": storable(shared.pool),
            "memory": storable(shared.memory),
            "scope": shared.scope.value,
            "project": storable(project),
            "audiences": audiences_of(
                access.tenant,
                shared.pool,
                shared.scope.value,
                agent=access.agent,
                person=access.person,
                project=project,
            ),
            "person": storable(access.person),
            "now": micros(event.at),
            "limit": limit,
            "most": AT_ONCE,
        }
        result = await self._writer.run(lambda: _share(params, limit, event), writing(shared.pool))
        if isinstance(result, str):
            return result
        version, members = result
        return SharedMemory(
            shared.pool, shared.memory, access.agent, shared.scope, event.at, version, members
        )

    async def unshare(
        self,
        tenant: str,
        persons: Sequence[str],
        pool_id: str,
        memory_id: str,
        event: AgentEvent,
        *,
        any_: bool,
    ) -> bool:
        """Delete a share of these persons, with `any_` anybody's."""
        params = {
            "tenant": storable(tenant),
            "persons": _all(persons),
            "pool": storable(pool_id),
            "memory": storable(memory_id),
            "any": any_,
        }
        return await self._writer.run(
            lambda: _noted(change(UNSHARE, params), event), writing(pool_id)
        )

    async def query(
        self,
        access: AccessScope,
        pool_id: str,
        now: datetime,
        limit: int,
        memory_id: str = "",
    ) -> list[PoolEntry]:
        """Return what this agent may read in a pool, latest share first."""
        params = access.parameters() | {
            "pool": storable(pool_id),
            "memory": storable(memory_id),
            "now": micros(now),
            "limit": limit,
        }
        if memory_id:
            return [_entry(row) for row in await self._database.fetch(QUERY_ONE, params)]
        memberships = await self._database.fetch(READER, params)
        names = audiences_read(access, [(pool_id, bool(granted)) for granted, _ in memberships])
        left = any(some_left for _, some_left in memberships)
        candidates = CANDIDATES_OF_MEMBERS if left else CANDIDATES
        found: list[PoolEntry] = []
        before, page = LAST, min(PAGE, limit + SPARE)
        for _ in range(MAX_PAGES):
            some = {"names": names, "before": before, "page": page, "limit": limit - len(found)}
            step = partial(_page, candidates, params | some, page)
            rows, before, more = await self._database.run(step)
            page = LARGE_PAGE
            found += [_entry(row) for row in rows]
            if not more or len(found) >= limit:
                break
        return found

    async def replace_text(self, tenant: str, new: ReplacedText, event: AgentEvent) -> bool:
        """Give a shared memory its next version if its version is the expected one, and the agent
        a member with WRITE permission."""
        params = {
            "tenant": storable(tenant),
            "pool": storable(new.pool),
            "memory": storable(new.memory),
            "agent": storable(new.agent),
            "for_agent": storable(new.agent),
            "record": storable(new.record_id),
            "expected": new.expected,
            "now": micros(event.at),
        }

        def work() -> Work[bool]:
            yield from fetch(WRITER, params)
            return (yield from _noted(change(REPLACE, params), event))

        return await self._writer.run(work, writing(new.pool))

    async def prune(self, limit: int) -> int:
        """Delete a batch of shares whose membership or pool ended; return their number."""

        def work() -> Work[int]:
            left = [int(seq) for (seq,) in (yield from fetch(LEFT))]
            if not left:
                return 0
            ended = yield from change(PRUNE, {"left": left, "most": limit})
            if ended < limit:
                yield from execute(FORGET_LEFT, {"left": left})
            return ended

        return await self._database.run(work)


def _page(candidates: Statement, params: Params, size: int) -> Work[tuple[list[Row], int, bool]]:
    """Return the readable entries of one page of shares, the last number read, and whether there
    are more shares."""
    some = [int(share) for (share,) in (yield from fetch(candidates, params))]
    if not some:
        return [], 0, False
    rows = yield from fetch(QUERY, {**params, "some": some})
    return rows, some[-1], len(some) == size


def writing(pool_id: str) -> str:
    """Return the lock of the writers of a pool."""
    return f"pool {pool_id}"


def joining_locks(pool_id: str, tenant: str) -> tuple[str, ...]:
    """Return the locks of a membership: of the pool, and of all memberships of the tenant, so that
    the limits hold, also for a person with several accounts."""
    return writing(pool_id), f"memberships {tenant}"


def admit(
    tenant: str, member: PoolMember, person: str, limits: AgentLimits, *, replaces: bool
) -> Work[Joining]:
    """Add an agent of this person to a pool, or change its membership if it `replaces`. The caller
    holds `joining_locks`, and knows that the pool is there and who agreed."""
    params = {
        "pool": storable(member.pool),
        "tenant": storable(tenant),
        "person": storable(person),
        "agent": storable(member.agent),
        "permission": member.permission.value,
        "granted": member.granted,
        "now": micros(member.joined_at),
    }
    if (yield from fetch(MEMBER, params)):
        if replaces:
            yield from change(CHANGE_MEMBER, params)
        return "joined"
    ((of_pool, here, everywhere),) = yield from fetch(COUNT_MEMBERSHIPS, params)
    if of_pool >= limits.pool_members:
        return "full"
    if here >= limits.pool_members_per_person:
        return "person_full_here"
    if everywhere >= limits.memberships_per_person:
        return "person_full"
    return "joined" if (yield from change(JOIN, params)) else "missing"


def _noted(changing: Work[int], event: AgentEvent) -> Work[bool]:
    """Change a row and add the event of it; False if no row changed."""
    if not (yield from changing):
        return False
    yield from add_events([event])
    return True


def _share(params: Params, limit: int, event: AgentEvent) -> Work[tuple[int, int] | Refused]:
    """Return the version and the number of members."""
    memories, pools, writers, ((members,),), shares = yield from together(
        Fetch(MEMORY, params),
        Fetch(LOCK, params),
        Fetch(WRITER, params),
        Fetch(COUNT_MEMBERS, params),
        Fetch(SHARED, params),
    )
    if not (memories and pools and writers):
        return "missing"
    ((member, permission),) = writers
    if permission != Permission.WRITE:
        return "denied"
    values = {**params, "number": memories[0][0], "member": member}
    version, alive = shares[0] if shares else (0, False)
    if alive and version > 1:
        return "denied"
    if alive:
        yield from _noted(change(RESHARE, values), event)
        return 1, int(members)
    if version:
        yield from change(DROP, params)
    if pools[0][0] - (1 if version else 0) >= limit:
        left = [int(seq) for (seq,) in (yield from fetch(LEFT_POOL, params))]
        if not (left and (yield from change(PRUNE, {**params, "left": left}))):
            return "full"
    yield from _noted(change(SHARE, values), event)
    return 1, int(members)


def _all(persons: Sequence[str]) -> list[str]:
    return [storable(person) for person in persons if person]


def pool_of(row: Row) -> Pool:
    id_, tenant, person, name, scope, project, created_at = row
    return Pool(id_, tenant, name, person, SharedScope(scope), time_of(created_at), project)


def _member(row: Row) -> PoolMember:
    pool, agent, permission, joined_at, granted = row
    return PoolMember(pool, agent, Permission(permission), time_of(joined_at), bool(granted))


def _entry(row: Row) -> PoolEntry:
    pool, memory, agent, scope, shared_at, version, *columns = row
    shared = SharedMemory(pool, memory, agent, SharedScope(scope), time_of(shared_at), version)
    return PoolEntry(shared, record_from(tuple(columns)))
