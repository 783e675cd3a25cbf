"""The queries of agents have the same results as `memory/model/scope.py`, for arbitrary records,
pools, members and shares."""

from dataclasses import dataclass
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db import Statement
from gateway.immutable import replace
from memory.agents.stores.pools import SqlPools
from memory.model.record import Record, Scope
from memory.model.scope import AccessScope, Share, may_change, sees, shows_shared
from memory.ports.memories import Filter, MemoryStore
from memory.stores.search import RecallStore
from memory.stores.shared_memories import audiences_of
from tests.memory.stores.test_isolation import (
    CONTROLLED,
    NUMBERS,
    PERSONS,
    PROJECTS,
    VECTOR,
    reaches,
    records,
    writer,
)
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.property_cases import cases

AGENTS: Final = ("agent-a", "agent-b", "agent-c")
POOLS: Final = ("pool-1", "pool-2")
TENANTS: Final = ("t", "t", "t", "t", "u")
JOIN: Final = Statement("""
    INSERT INTO pool_members (pool, agent, tenant, person, permission, granted, joined_at)
    VALUES (:pool, :agent, :tenant, :person, 'read', :granted, 0) RETURNING seq
""")
SHARE: Final = Statement("""
    INSERT INTO pool_memories (pool, memory, number, tenant, person, agent, member, writer, scope,
        project, audiences, shared_at, version)
    SELECT :pool, :memory, seq, :tenant, :person, :agent, :member, :member, :scope, :project,
        :audiences, 0, 1
    FROM memories WHERE id = :memory
""")


@dataclass(frozen=True)
class Drawn:
    """A share before it is stored; `record` is the place of the record in its list."""

    record: int
    pool: str
    share: Share


@st.composite
def shares(draw: st.DrawFn) -> Drawn:
    tenant = draw(st.sampled_from(TENANTS))
    share = Share(
        tenant,
        draw(st.sampled_from(AGENTS)),
        draw(st.sampled_from(PERSONS)),
        draw(st.integers(0, 4)),
        draw(st.sampled_from(PROJECTS)),
        frozenset(),
    )
    return Drawn(draw(st.integers(0, 5)), draw(st.sampled_from(POOLS)), share)


members = st.dictionaries(
    st.tuples(st.sampled_from(POOLS), st.sampled_from(AGENTS)),
    st.booleans(),
    min_size=3,
    max_size=6,
)
kept = st.builds(
    lambda record, tenant, agent, private: replace(
        record,
        tenant=tenant,
        agent_private=private and bool(agent) and record.scope is Scope.USER,
        provenance=replace(record.provenance, agent=agent),
    ),
    records(),
    st.sampled_from(TENANTS),
    st.sampled_from(("", *AGENTS)),
    st.booleans(),
)
asking = st.builds(
    lambda access, tenant, agent, widest, outside: replace(
        access, tenant=tenant, agent=agent, widest=widest, outside=outside
    ),
    reaches(),
    st.sampled_from(TENANTS),
    st.sampled_from(("", *AGENTS, *AGENTS)),
    st.sampled_from((0, 1, 2, 3, 4, 4, 4, 4)),
    st.booleans(),
)


@dataclass
class Stored:
    """The stored rows of an example."""

    records: list[Record]
    shares: dict[str, list[tuple[str, Share]]]


async def stored(
    engine: Engine,
    memories: MemoryStore,
    some: list[Record],
    joined: dict[tuple[str, str], bool],
    shared: list[Drawn],
    example: str,
) -> Stored:
    own = [replace(one, tenant=f"{one.tenant}{example}") for one in some]
    there = []
    for one in own:
        by = replace(writer(one), agent=one.provenance.agent)
        if may_change(by, one):
            await memories.insert(by, one, threshold=1.0, quota=None)
            if await memories.get(by, one.id):
                there.append(one)
    numbers: dict[tuple[str, str], int] = {}
    for (pool, agent), granted in joined.items():
        values = {"pool": pool + example, "agent": agent + example, "granted": granted}
        values |= {"tenant": "t", "person": "p"}
        numbers[pool, agent] = (await engine.fetch(JOIN, values))[0][0]
    result = Stored(there, {})
    seen = set()
    for drawn in shared:
        if not there:
            break
        record, share = there[drawn.record % len(there)], drawn.share
        if (drawn.pool, record.id) in seen:
            continue
        seen.add((drawn.pool, record.id))
        member = numbers.get((drawn.pool, share.agent), 0)
        values = {"pool": drawn.pool + example, "memory": record.id, "member": member}
        values |= {"tenant": share.tenant + example, "person": share.person}
        values |= {"agent": share.agent + example, "scope": share.scope, "project": share.project}
        values["audiences"] = audiences_of(
            share.tenant + example,
            drawn.pool + example,
            share.scope,
            agent=share.agent + example,
            person=share.person,
            project=share.project,
        )
        await engine.change(SHARE, values)
        readers = {
            (agent + example, granted)
            for (pool, agent), granted in joined.items()
            if pool == drawn.pool and member
        }
        whole = replace(
            share,
            tenant=share.tenant + example,
            agent=share.agent + example,
            readers=frozenset(readers),
        )
        result.shares.setdefault(record.id, []).append((drawn.pool + example, whole))
    return result


@pytest.mark.parametrize("text", ["", "tea"])
@settings(CONTROLLED, max_examples=cases(40))
@given(
    some=st.lists(kept, min_size=1, max_size=6),
    joined=members,
    shared=st.lists(shares(), min_size=2, max_size=8),
    asks=st.lists(asking, min_size=2, max_size=6),
)
async def test_agents_find_only_what_the_rule_shows_them(
    engine: Engine,
    memories: MemoryStore,
    recall: RecallStore,
    clock: FakeClock,
    text: str,
    some: list[Record],
    joined: dict[tuple[str, str], bool],
    shared: list[Drawn],
    asks: list[AccessScope],
) -> None:
    example = f"-{next(NUMBERS)}"
    some = [
        replace(one, provenance=replace(one.provenance, agent=_of(one, example))) for one in some
    ]
    world = await stored(engine, memories, some, joined, shared, example)
    for ask in asks:
        agent = ask.agent and ask.agent + example
        by = replace(ask, tenant=f"{ask.tenant}{example}", agent=agent)
        visible = {one.id for one in world.records if sees(by, one, _shares(world, one))}
        searched = {
            one.id
            for one in world.records
            if one.id in visible and (not one.agent_private or one.provenance.agent == by.agent)
        }
        matches = await memories.find(by, Filter(text=text, limit=100))
        assert {match.record.id for match in matches} == searched
        assert {one.id for one in world.records if await memories.get(by, one.id)} == visible
        assert await memories.visible(by, [one.id for one in world.records]) == visible
        words = await recall.lexical(by, "tea", Filter(), 100)
        assert {hit.id for hit in words} == searched
        assert {hit.id for hit in await recall.nearest(by, VECTOR, Filter(), 100)} == searched
        await _queried(engine, clock, world, by, example)


async def _queried(
    engine: Engine, clock: FakeClock, world: Stored, by: AccessScope, example: str
) -> None:
    """A query of a pool has the same results too."""
    for pool in POOLS:
        entries = await SqlPools(engine).query(by, pool + example, clock.now(), 100)
        assert {entry.record.id for entry in entries} == {
            one.id
            for one in world.records
            for name, share in world.shares.get(one.id, ())
            if name == pool + example and shows_shared(by, one, share)
        }


def _of(record: Record, example: str) -> str:
    return record.provenance.agent and record.provenance.agent + example


def _shares(world: Stored, record: Record) -> list[Share]:
    return [share for _, share in world.shares.get(record.id, ())]
