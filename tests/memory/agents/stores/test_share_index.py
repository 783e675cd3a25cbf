"""The indexes of shares follow what is shared: words, vectors and readers come and go with it."""

from itertools import count
from pathlib import Path

import pytest

from db import Params, Row, Statement, Work, execute, fetch
from db.migrations import Schema
from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from db.transaction import NO_PARAMS
from memory.agents import pools as pool_service
from memory.agents.model import Agent, Permission, Pool, SharedScope
from memory.agents.stores import pools as pool_store
from memory.model.record import Embedding
from memory.ports.memories import Filter, TextVector
from memory.stores.shared_memories import LAST
from parley.wiring.storage import SCHEMAS
from tests.memory.agents.conftest import Agents
from tests.support.databases import (
    Engine,
    new_database,
    postgres_database,
    sqlite_database,
)

GLOBAL, TEAM, USER = SharedScope.GLOBAL, SharedScope.TEAM, SharedScope.USER
NEAR, FAR = Embedding("m", (1.0, 0.0)), Embedding("m", (0.0, 1.0))
COUNTED = Statement("SELECT memories FROM pools")
LEFT = Statement("SELECT seq FROM pool_members_left")
VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, shares_text, 'row')"


CANDIDATES = {pool_store.CANDIDATES, pool_store.CANDIDATES_OF_MEMBERS}
MEMBER = Statement("""
    INSERT INTO pool_members (pool, agent, tenant, person, permission, granted, joined_at)
    VALUES ('p', :agent, 't', 'ada', 'write', true, 0)
""")
SHARE = Statement("""
    INSERT INTO pool_memories (pool, memory, number, tenant, person, agent, member, writer, scope,
        project, audiences, shared_at, version)
    VALUES ('p', :memory, 1, 't', 'ada', 'a', :member, :writer, 3, '', 'x y', 0, 1)
""")
LEAVES = Statement("DELETE FROM pool_members WHERE agent = :agent")


async def shared(agents: Agents, pool: Pool, agent: Agent, text: str, scope: SharedScope) -> str:
    """Share a new memory of ada; its id."""
    memory = await agents.remember("ada", text)
    request = await agents.request("ada")
    assert await agents.wired.pools.share_memory(request, pool.id, memory, agent.id, scope)
    return memory


async def indexed(agents: Agents) -> list[int]:
    """The numbers of rows in the indexes of shares, and in SQLite also of the indexed terms."""
    tables = ["pool_readers"]
    if isinstance(agents.engine, SqliteDatabase):
        tables += ["share_vectors"]
        await agents.engine.run_job(
            lambda db: db.execute(VOCABULARY.replace("TABLE", "TABLE IF NOT EXISTS"))
        )
        tables += ["vocabulary"]
    rows = [await agents.engine.fetch(Statement(f"SELECT count(*) FROM {one}")) for one in tables]
    return [int(row[0][0]) for row in rows]


async def by_words(agents: Agents, agent: Agent, words: str) -> list[str]:
    """The texts that the agent of ben finds."""
    handle = await agents.handle("ben", agent=agent.id)
    return [one.record.content for one in await handle.read.search(Filter(text=words))]


async def by_likeness(agents: Agents, agent: Agent, query: Embedding = NEAR) -> list[str]:
    """The ids that the agent of ben finds, the most alike first."""
    access = (await agents.handle("ben", agent=agent.id)).access
    hits = await agents.rig.stores.recall.nearest(access, query, Filter(), 10)
    return [hit.id for hit in hits]


@pytest.fixture
async def writer(agents: Agents) -> Agent:
    return await agents.agent("ada")


@pytest.fixture
async def reader(agents: Agents) -> Agent:
    return await agents.agent("ben")


@pytest.fixture
async def joint(agents: Agents, writer: Agent, reader: Agent) -> Pool:
    return await agents.pool("ada", writer, reader)


async def test_what_is_alike_is_found_wherever_its_vector_came_from(
    agents: Agents, writer: Agent, reader: Agent, joint: Pool
) -> None:
    stores = agents.rig.stores
    first = await shared(agents, joint, writer, "The mug is green", TEAM)
    assert await by_likeness(agents, reader) == []
    await stores.memories.embed([TextVector(first, "The mug is green", NEAR)])
    assert await by_likeness(agents, reader) == [first], "the vector came after the share"
    second = await agents.remember("ada", "The jar is blue")
    await stores.memories.embed([TextVector(second, "The jar is blue", FAR)])
    request = await agents.request("ada")
    assert await by_likeness(agents, reader) == [first]
    assert await agents.wired.pools.share_memory(request, joint.id, second, writer.id, TEAM)
    assert await by_likeness(agents, reader) == [first, second], "the share came after the vector"
    await stores.memories.embed([TextVector(first, "The mug is green", FAR)])
    await stores.memories.embed([TextVector(second, "The jar is blue", NEAR)])
    assert await by_likeness(agents, reader) == [second, first], "both vectors changed"
    assert await agents.wired.pools.unshare(request, joint.id, second)
    assert await by_likeness(agents, reader) == [first]
    assert await agents.wired.pools.share_memory(request, joint.id, first, writer.id, USER)
    assert await by_likeness(agents, reader) == [], "the scope became narrower"


async def test_a_share_is_found_by_its_present_text(
    agents: Agents, writer: Agent, reader: Agent, joint: Pool
) -> None:
    memory = await shared(agents, joint, writer, "The mug is green", TEAM)
    assert await by_words(agents, reader, "mug green") == ["The mug is green"]
    agents.rig.verifier.known.add("ADR-003")
    done = await agents.wired.pools.update_shared(
        await agents.request("ada"), joint.id, memory, writer.id, 1, "Per ADR-003, the mug is blue"
    )
    assert done
    assert await by_words(agents, reader, "blue") == ["Per ADR-003, the mug is blue"]
    assert await by_words(agents, reader, "green") == []


async def test_nothing_stays_in_the_indexes(
    agents: Agents, writer: Agent, reader: Agent, joint: Pool
) -> None:
    pools, request = agents.wired.pools, await agents.request("ada")
    empty = await indexed(agents)
    assert not any(empty)
    words = ("mug", "jar", "pan", "cup")
    memories = [await shared(agents, joint, writer, f"The {word} is green", TEAM) for word in words]
    for memory, word in zip(memories, words, strict=True):
        vector = TextVector(memory, f"The {word} is green", NEAR)
        await agents.rig.stores.memories.embed([vector])
    assert all(await indexed(agents))
    assert await agents.engine.fetch(COUNTED) == [(4,)]
    agents.rig.verifier.known.add("ADR-003")
    done = await pools.update_shared(
        request, joint.id, memories[0], writer.id, 1, "Per ADR-003, the mug is blue"
    )
    assert done
    assert await pools.share_memory(request, joint.id, memories[1], writer.id, USER)
    assert await pools.unshare(request, joint.id, memories[1])
    handle = await agents.handle("ada")
    assert await handle.erasure.delete([memories[2]])
    assert await handle.erasure.delete([memories[0]])
    assert await pools.leave_pool(request, joint.id, writer.id)
    assert await pools.prune() == 1
    assert await indexed(agents) == empty
    assert await agents.engine.fetch(LEFT) == []
    assert await agents.engine.fetch(COUNTED) == [(0,)]


async def test_ended_shares_are_deleted_in_steps_however_their_membership_ended(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_service, "PRUNED_AT_ONCE", 2)
    pools, request = agents.wired.pools, await agents.request("ada")
    writers = [await agents.agent("ada") for _ in range(4)]
    joint, other = await agents.pool("ada", *writers[:3]), await agents.pool("ada", writers[3])
    for number, writer in enumerate(writers):
        pool = other if writer is writers[3] else joint
        await shared(agents, pool, writer, f"The mug {number} is green", TEAM)
    assert await pools.prune() == 0
    assert await pools.leave_pool(request, joint.id, writers[0].id)
    assert await agents.wired.registry.unregister_agent(request, writers[1].id)
    assert await pools.delete_pool(request, other.id)
    assert [await pools.prune() for _ in range(3)] == [2, 1, 0]
    entries = await agents.entries("ada", joint, writers[2])
    assert [entry.record.content for entry in entries] == ["The mug 2 is green"]
    assert await agents.engine.fetch(LEFT) == []


async def test_shares_that_ended_do_not_hide_earlier_ones(
    agents: Agents, writer: Agent, reader: Agent, joint: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_store, "PAGE", 2)
    monkeypatch.setattr(pool_store, "LARGE_PAGE", 2)
    second = await agents.agent("ada")
    request, pools = await agents.request("ada"), agents.wired.pools
    assert await pools.join_pool(request, joint.id, second.id, Permission.WRITE)
    texts = [f"The mug {word} is green" for word in ("one", "two", "three")]
    for text in texts:
        await shared(agents, joint, writer, text, TEAM)
    for word in ("four", "five", "six", "seven", "eight"):
        await shared(agents, joint, second, f"The jar {word} is green", TEAM)
    await pools.leave_pool(request, joint.id, second.id)
    entries = await agents.entries("ben", joint, reader)
    assert [entry.record.content for entry in entries] == texts[::-1]
    result = await pools.query_shared(await agents.request("ben"), joint.id, reader.id, GLOBAL, 2)
    assert isinstance(result, tuple)
    assert [entry.record.content for entry in result] == texts[:0:-1]


async def test_a_query_reads_no_shares_of_members_that_left(
    agents: Agents, writer: Agent, reader: Agent, joint: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def noted(statement: Statement, params: Params = NO_PARAMS) -> Work[list[Row]]:
        rows = yield from fetch(statement, params)
        if statement in CANDIDATES:
            read.extend(int(row[0]) for row in rows)
        return rows

    monkeypatch.setattr(pool_store, "fetch", noted)
    second, third = await agents.agent("ada"), await agents.agent("ada")
    request, pools = await agents.request("ada"), agents.wired.pools
    for agent in (second, third):
        assert await pools.join_pool(request, joint.id, agent.id, Permission.WRITE)
    agents.rig.verifier.known.add("ADR-003")
    numbers = count()

    async def share(agent: Agent, *, rewritten_by: Agent | None = None) -> None:
        text = f"The mug {next(numbers)} is green"
        memory = await shared(agents, joint, agent, text, TEAM)
        if rewritten_by is not None:
            text = f"Per ADR-003, the jar {next(numbers)} is blue"
            done = pools.update_shared(request, joint.id, memory, rewritten_by.id, 1, text)
            assert await done

    for by, rewritten_by in (
        *((writer, None), (second, None), (third, second), (writer, third), (third, writer)),
        *((second, None), (writer, second), (third, None), (writer, None), (second, third)),
    ):
        await share(by, rewritten_by=rewritten_by)
    await pools.leave_pool(request, joint.id, second.id)
    entries = await agents.entries("ben", joint, reader)
    texts = [entry.record.content for entry in entries]
    assert len(texts) == len(read) == 5
    read.clear()
    result = await pools.query_shared(await agents.request("ben"), joint.id, reader.id, GLOBAL, 2)
    assert isinstance(result, tuple)
    assert [entry.record.content for entry in result] == texts[:2]
    await pools.leave_pool(request, joint.id, third.id)
    read.clear()
    assert len(await agents.entries("ben", joint, reader)) == len(read) == 2


@pytest.fixture(params=["sqlite", "postgres"])
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Engine, Engine]:
    """A new database without and with the last step of memory."""
    memory = next(schema for schema in SCHEMAS if schema.name == "memory")
    first = (Schema("memory", memory.steps[:2]),)
    if request.param == "sqlite":
        path = tmp_path / "earlier.db"
        return SqliteDatabase(path, first), sqlite_database(path)
    url = new_database(request.getfixturevalue("postgres"))
    return PostgresDatabase(url, first), postgres_database(url)


async def test_shares_from_before_the_memberships_were_indexed_are_found(
    earlier: tuple[Engine, Engine],
) -> None:
    def written() -> Work[None]:
        yield from execute(MEMBER, {"agent": "a"}, {"agent": "b"})
        pairs = ((1, 1), (2, 2), (1, 2), (1, 1))
        rows = [
            {"memory": f"m{n}", "member": pair[0], "writer": pair[1]}
            for n, pair in enumerate(pairs)
        ]
        yield from execute(SHARE, *rows)
        yield from execute(LEAVES, {"agent": "b"})

    old, new = earlier
    await old.start()
    await old.run(written)
    await old.stop()
    await new.start()
    params = {"names": ["x"], "before": LAST, "page": 10}
    rows = await new.fetch(pool_store.CANDIDATES_OF_MEMBERS, params)
    assert [share for (share,) in rows] == [4, 1]
    await new.stop()
