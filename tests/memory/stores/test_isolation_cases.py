"""The queries of both databases answer the cases of the rule as `memory/model/scope.py` does."""

from db import Statement
from gateway.immutable import replace
from memory.agents.stores.pools import SqlPools
from memory.model.record import Record
from memory.model.scope import MAY_CHANGE, Share
from memory.ports.memories import Filter, MemoryStore
from memory.stores.rows import INSERT, values_of
from memory.stores.shared_memories import audiences_of
from tests.memory.model.scope_cases import ADA, BEN, MAY, SEEN, SHOWN, of
from tests.memory.stores.test_isolation_pools import JOIN, SHARE
from tests.support.clock import FakeClock
from tests.support.databases import Engine

CHANGEABLE = Statement(f"SELECT m.id FROM memories m WHERE m.id = :id AND {MAY_CHANGE}")


async def put(engine: Engine, one: Record) -> Record:
    """Store a record past all rules, under an id of its own."""
    await engine.change(INSERT, values_of(one))
    return one


async def test_a_memory_is_seen_and_found(engine: Engine, memories: MemoryStore) -> None:
    for number, (access, of_whom, seen) in enumerate(SEEN):
        stored = await put(engine, replace(of_whom, id=f"mem-{number}"))
        assert bool(await memories.visible(access, [stored.id])) is seen, (access, stored)
        assert (await memories.get(access, stored.id) is not None) is seen, (access, stored)
        for text in ("", "tea"):
            matches = await memories.find(access, Filter(text=text, limit=100))
            kept_by_another = stored.agent_private and access.agent != stored.provenance.agent
            listed = stored.id in {match.record.id for match in matches}
            assert listed is (seen and not kept_by_another), (text, access, stored)


async def test_a_memory_may_be_changed(engine: Engine) -> None:
    for number, (access, of_whom, may) in enumerate(MAY):
        stored = await put(engine, replace(of_whom, id=f"mem-{number}"))
        params = access.parameters() | {"id": stored.id}
        assert bool(await engine.fetch(CHANGEABLE, params)) is may, (access, stored)


async def test_a_share_is_shown(engine: Engine, memories: MemoryStore, clock: FakeClock) -> None:
    for number, (access, share, shown) in enumerate(SHOWN):
        pool = f"pool-{number}"
        stored = await put(engine, replace(of(BEN), id=f"mem-{number}"))
        private = replace(of(BEN, "own"), id=f"private-{number}", agent_private=True)
        restricted = replace(of(BEN, from_repository=True), id=f"restricted-{number}")
        for one in (private, restricted):
            await put(engine, one)
        member = {"pool": pool, "tenant": "t"}
        for agent, granted in {("theirs", True), *share.readers}:
            values = {"agent": agent, "granted": granted, "person": ADA}
            seq = (await engine.fetch(JOIN, member | values))[0][0]
            if agent == "theirs":
                sharer = seq
        for one in (stored, private, restricted):
            await share_with(engine, pool, one, share, sharer)
        assert bool(await memories.visible(access, [stored.id])) is shown, (access, share)
        assert not await memories.visible(access, [restricted.id]), (access, share)
        by_id = await memories.get(access, stored.id)
        assert (by_id is not None) is shown, (access, share)
        entries = await SqlPools(engine).query(access, pool, clock.now(), 10)
        assert [entry.record.id for entry in entries] == [stored.id] * shown, (access, share)
        elsewhere = await SqlPools(engine).query(access, "pool-x", clock.now(), 10)
        assert elsewhere == []
        assert not await memories.visible(replace(access, agent="stranger"), [stored.id])


async def share_with(engine: Engine, pool: str, stored: Record, share: Share, member: int) -> None:
    values = {"pool": pool, "memory": stored.id, "member": member, "tenant": share.tenant}
    values |= {"person": share.person, "agent": share.agent, "scope": share.scope}
    audiences = audiences_of(
        *(share.tenant, pool, share.scope),
        agent=share.agent,
        person=share.person,
        project=share.project,
    )
    await engine.change(SHARE, values | {"project": share.project, "audiences": audiences})


def test_the_cases_are_answered_in_both_ways() -> None:
    for cases in (SEEN, SHOWN, MAY):
        assert {answer for *_, answer in cases} == {True, False}
