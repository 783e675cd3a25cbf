"""Agents and pools at full capacity, in SQLite and in PostgreSQL, as ratios to a bare SELECT.

    python -m benchmarks.agents                        10,000 agents and pools, 100,000 shares
    python -m benchmarks.agents --scale 100            a hundredth of that, for a look

The installation is full before the first measurement: 10,000 agents, 10,000 pools, one pool with
1,000 members and 100,000 shared memories, one with 100,000 shared memories of which the reader sees
none, and one with 100 shared memories and 100,000 later ones of an agent that left, before the
housekeeping. Each operation runs alone, one call after the other, and `writers` calls of
`share_memory` run at once. `sync` is a share and the first query of another agent that contains it.
The targets are those of the specification, in milliseconds at the 95th percentile. A line without a
target is for comparison. `loop_ms` is the longest time for which a call kept the event loop from
other work, while the processor worked for it. `first_query` is the first one over a new connection.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from db import Statement, Work, execute
from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience
from memory.agents.model import (
    Agent,
    AgentLimits,
    AgentType,
    Permission,
    Pool,
    RegistryCapacityError,
    SharedMemory,
    SharedScope,
)
from memory.model.record import (
    Evidence,
    Kind,
    Provenance,
    Record,
    Scope,
    SourceType,
    Tier,
    Trust,
)
from memory.model.scope import RequestScope, access_scope_of
from memory.ports.memories import Filter
from memory.stores.rows import INSERT, values_of
from memory.stores.shared_memories import audiences_of
from parley.wiring.agents import WiredAgents, wire_agents
from parley.wiring.storage import MemoryStores
from tests.memory.rig import Rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import migrated_database, postgres_database, sqlite_database
from tests.support.servers import postgres_server

Engine = SqliteDatabase | PostgresDatabase
Operation = Callable[[int], Awaitable[object]]
ROUNDS: Final = 100
WRITERS: Final = 16
AT_ONCE: Final = 1_000
FOUND: Final = 100
"""Results of a query, by default."""
HOME: Final = Place("test", "main", "", Audience.DIRECT)
NOW: Final = datetime(2026, 11, 21, tzinfo=UTC)
TEAM: Final = SharedScope.TEAM
TARGETS: Final = {
    "sync": 500.0,
    "get_agent": 50.0,
    "query_shared": 200.0,
    "query_shared_sees_none": 200.0,
    "query_shared_after_leaving": 200.0,
    "handoff": 2_000.0,
}
"""Source: the performance table of Memory as a Service."""
SELECT: Final = Statement("SELECT 1")
AGENT: Final = Statement("""
    INSERT INTO agents (id, tenant, person, type, capabilities, registered_at, name)
    VALUES (:id, 'default', :person, 'claude_code', '[]', 0, '')
""")
POOL: Final = Statement("""
    INSERT INTO pools (id, tenant, person, name, scope, project, created_at)
    VALUES (:id, 'default', :person, 'full', 3, '', 0)
""")
MEMBER: Final = Statement("""
    INSERT INTO pool_members (pool, agent, tenant, person, permission, granted, joined_at)
    VALUES (:pool, :agent, 'default', :person, 'read', true, 0)
""")
SHARE: Final = Statement("""
    INSERT INTO pool_memories (pool, memory, number, tenant, person, agent, member, writer, scope,
        project, audiences, shared_at, version)
    SELECT :pool, m.id, m.seq, m.tenant, m.person, r.agent, r.seq, r.seq, :scope, :project,
        :audiences, 0, 1
    FROM memories m, pool_members r
    WHERE m.id = :id AND r.pool = :pool AND r.agent = :agent
""")


@dataclass(frozen=True, slots=True)
class Sizes:
    """The numbers of what is there, within the limits."""

    agents: int
    pools: int
    members: int
    shares: int

    @property
    def limits(self) -> AgentLimits:
        """Limits that are reached after `ROUNDS` more of each."""
        more = 4 * ROUNDS
        return AgentLimits(
            agents=self.agents + more,
            agents_per_person=self.agents + more,
            pools=self.pools + more,
            pools_per_person=self.pools + more,
            sessions_per_person=AgentLimits().sessions,
            handoffs_per_person=AgentLimits().handoffs,
            pool_members=self.members + more,
            pool_members_per_person=self.members + more,
            memberships_per_person=self.members + more,
            pool_memories=self.shares + 2 * more,
        )


@dataclass
class Stage:
    """A full installation: two agents in the full pool, and their people."""

    engine: Engine
    rig: Rig
    wired: WiredAgents
    writer: Agent
    reader: Agent
    pool: Pool
    by_writer: RequestScope
    by_reader: RequestScope
    hidden: Pool
    """A full pool whose shares are of a project that is not the reader's."""
    left: Pool
    """A pool with 100 shares, and a full number of later ones whose agent left."""
    own: list[str]
    """Memories of the writer's person that are not shared yet."""


async def filled(engine: Engine, hot: SqliteDatabase, sizes: Sizes) -> Stage:
    """Fill an empty database."""
    clock = FakeClock()
    rig = rig_on(MemoryStores(engine, clock), hot, clock)
    wired = wire_agents(rig.stores, rig.people, rig.path, clock, sizes.limits)
    by_writer = (await rig.handle("ada", at=HOME)).request
    by_reader = (await rig.handle("ben", at=HOME)).request
    writer = await wired.registry.register_agent(by_writer, AgentType.CLAUDE_CODE)
    reader = await wired.registry.register_agent(by_reader, AgentType.CLAUDE_CODE)
    pool = await wired.pools.create_pool(by_writer, "full", TEAM)
    hidden = await wired.pools.create_pool(by_writer, "hidden", TEAM)
    left = await wired.pools.create_pool(by_writer, "left", TEAM)
    leaving = await wired.registry.register_agent(by_writer, AgentType.CLAUDE_CODE)
    for agent in (writer, leaving):
        await wired.pools.join_pool(by_writer, left.id, agent.id, Permission.WRITE)
    await wired.pools.join_pool(by_writer, pool.id, writer.id, Permission.WRITE)
    for joint in (left, pool):
        await wired.pools.join_pool(by_writer, joint.id, reader.id, Permission.WRITE)
        for invitation in await wired.pools.invitations.waiting(by_reader):
            await wired.pools.invitations.accept(by_reader, invitation.id)
    await wired.pools.join_pool(by_writer, hidden.id, writer.id, Permission.WRITE)
    await wired.pools.join_pool(by_reader, hidden.id, reader.id, Permission.READ)
    others = [f"test:main:p{number}" for number in range(sizes.agents // 10 + 1)]

    def rows(count: int, kind: str) -> Iterator[dict[str, object]]:
        for number in range(count):
            yield {"id": f"{kind}{number}", "person": others[number % len(others)]}

    await put(engine, AGENT, list(rows(sizes.agents - 2, "agent")))
    await put(engine, POOL, list(rows(sizes.pools - 2, "pool")))
    some = [
        {"pool": pool.id, "agent": f"agent{number}", "person": others[number % len(others)]}
        for number in range(sizes.members - 2)
    ]
    await put(engine, MEMBER, some)
    records = [record(number, writer.owner) for number in range(sizes.shares + 8 * ROUNDS)]
    for begin in range(0, len(records), AT_ONCE):
        await put(engine, INSERT, [values_of(one) for one in records[begin : begin + AT_ONCE]])
    present = records[: sizes.shares]
    await put_shares(engine, pool, writer, present)
    await put_shares(engine, hidden, writer, present, SharedScope.PROJECT, "elsewhere")
    await put_shares(engine, left, writer, present[:FOUND])
    await put_shares(engine, left, leaving, present[FOUND:])
    await wired.pools.leave_pool(by_writer, left.id, leaving.id)
    if isinstance(engine, PostgresDatabase):
        await engine.without_limit(lambda connection: connection.execute("ANALYZE"))
    own = [one.id for one in records[sizes.shares :]]
    return Stage(engine, rig, wired, writer, reader, pool, by_writer, by_reader, hidden, left, own)


async def put_shares(
    engine: Engine,
    pool: Pool,
    agent: Agent,
    records: Sequence[Record],
    scope: SharedScope = TEAM,
    project: str = "",
) -> None:
    """Share memories of an agent's person in a pool."""
    shared: dict[str, object] = {
        "pool": pool.id,
        "agent": agent.id,
        "scope": scope.value,
        "project": project,
        "audiences": audiences_of(
            *(pool.tenant, pool.id, scope.value),
            agent=agent.id,
            person=agent.owner,
            project=project,
        ),
    }
    await put(engine, SHARE, [shared | {"id": one.id} for one in records])


def record(number: int, person: str) -> Record:
    """A memory with words of its own."""
    text = f"service{number % 997} answers with code{number} since node{number % 89} moved"
    provenance = Provenance(SourceType.USER_MESSAGE, Trust.HIGH, person, NOW)
    return Record(
        *(f"mem-{number}", "default", Scope.USER, Tier.SEMANTIC, Kind.FACT, text),
        provenance,
        Evidence(text, NOW, 0.9),
    )


async def put(engine: Engine, statement: Statement, items: Sequence[Mapping[str, object]]) -> None:
    """Insert many rows in portions."""
    for begin in range(0, len(items), AT_ONCE):
        some = items[begin : begin + AT_ONCE]

        def work(some: Sequence[Mapping[str, object]] = some) -> Work[None]:
            yield from execute(statement, *some)

        await engine.run(work)


def operations(stage: Stage) -> dict[str, Operation]:
    """The measured operations by name, in the order in which they run."""
    registry, pools = stage.wired.registry, stage.wired.pools
    writer, reader, pool = stage.writer, stage.reader, stage.pool
    by_writer, by_reader = stage.by_writer, stage.by_reader
    made: list[Agent] = []
    opened: list[Pool] = []
    sessions: list[str] = []

    async def register(_: int) -> None:
        made.append(await registry.register_agent(by_writer, AgentType.GPT_AGENT))

    async def session(_: int) -> None:
        sessions.append((await registry.start_session(by_writer, writer.id)).id)

    async def create(number: int) -> None:
        opened.append(await pools.create_pool(by_writer, f"pool {number}", TEAM))

    async def share(number: int) -> None:
        shared = await pools.share_memory(by_writer, pool.id, stage.own[number], writer.id, TEAM)
        if not isinstance(shared, SharedMemory):
            raise TypeError(f"not shared: {shared}")

    async def sync(number: int) -> None:
        await share(ROUNDS + number)
        result = await pools.query_shared(by_reader, pool.id, reader.id, TEAM, 1)
        if not isinstance(result, tuple) or result[0].shared.memory != stage.own[ROUNDS + number]:
            raise TypeError("the share is not the latest one")

    async def update(number: int) -> None:
        stage.rig.verifier.known.add("ADR-003")
        await pools.update_shared(
            by_reader, pool.id, f"mem-{number}", reader.id, 1, f"Per ADR-003 host{number} moved"
        )

    return {
        "select": lambda _: stage.engine.fetch(SELECT),
        "register_agent": register,
        "get_agent": lambda n: registry.get_agent(by_writer, made[n].id),
        "agents_of": lambda _: registry.agents_of(by_reader),
        "start_session": session,
        "use_session": lambda n: registry.use_session(by_writer, sessions[n]),
        "end_session": lambda n: registry.end_session(by_writer, sessions[n]),
        "create_pool": create,
        "join_pool": lambda n: pools.join_pool(by_writer, pool.id, made[n].id, Permission.READ),
        "share_memory": share,
        "sync": sync,
        **reading(stage),
        "update_shared": update,
        "leave_pool": lambda n: pools.leave_pool(by_writer, pool.id, made[n].id),
        "unregister_agent": lambda n: registry.unregister_agent(by_writer, made[n].id),
        "handoff": handing_over(stage),
        "unshare": lambda n: pools.unshare(by_writer, pool.id, stage.own[n]),
        "delete_pool": lambda n: pools.delete_pool(by_writer, opened[n].id),
    }


def reading(stage: Stage) -> dict[str, Operation]:
    """The queries and searches of an agent, and the search of a person."""
    pools, memories, recall = stage.wired.pools, stage.rig.stores.memories, stage.rig.stores.recall
    by_reader, pool, reader = stage.by_reader, stage.pool, stage.reader

    async def query(one: Pool) -> None:
        results = await pools.query_shared(by_reader, one.id, reader.id, TEAM)
        if not isinstance(results, tuple) or len(results) != FOUND:
            raise TypeError(f"not {FOUND} results: {results!r:.100}")

    async def query_hidden(_: int) -> None:
        results = await pools.query_shared(by_reader, stage.hidden.id, reader.id, TEAM)
        if results != ():
            raise TypeError(f"results: {results!r:.100}")

    by_agent = replace(by_reader, agent=reader.id)
    as_agent = access_scope_of(by_agent)
    as_person = access_scope_of(by_reader)

    async def search(number: int) -> None:
        await memories.find(as_agent, Filter(text=f"service{number} node1"))

    return {
        "query_shared": lambda _: query(pool),
        "query_shared_sees_none": query_hidden,
        "query_shared_after_leaving": lambda _: query(stage.left),
        "search_of_agent": search,
        "recall_of_agent": lambda n: recall.lexical(as_agent, f"service{n} node1", Filter(), 60),
        "search_of_person": lambda n: memories.find(as_person, Filter(text=f"service{n} node1")),
    }


def handing_over(stage: Stage) -> Operation:
    """A whole handoff."""
    handoffs, writer, reader = stage.wired.handoffs, stage.writer, stage.reader
    by_writer, by_reader = stage.by_writer, stage.by_reader
    task = {"task_description": "Write the form", "current_state": {"step": 2}}

    async def hand_over(number: int) -> None:
        """Hand a task to another agent, which finds, accepts and completes it."""
        handoff = await handoffs.initiate_handoff(by_writer, writer.id, reader.id, task)
        (pending,) = await handoffs.get_pending_handoffs(by_reader, reader.id) or ()
        if handoff is None or pending.id != handoff.id:
            raise TypeError("the handoff is not there")
        await handoffs.accept_handoff(by_reader, pending.id, reader.id)
        done = await handoffs.complete_handoff(by_reader, pending.id, reader.id, {"n": number})
        if done is None or not done.done:
            raise TypeError(f"not completed: {done}")

    return hand_over


class Held:
    """The longest time for which the event loop worked without a pause, in milliseconds of the
    processor, to a millisecond."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._began = 0.0
        self._next: asyncio.Handle | None = None

    def __enter__(self) -> Self:
        self._began = time.thread_time()
        self._look()
        return self

    def __exit__(self, *_: object) -> None:
        if self._next is not None:
            self._next.cancel()
        self._measure()

    def _measure(self) -> None:
        now = time.thread_time()
        self.longest = max(self.longest, (now - self._began) * 1000)
        self._began = now

    def _look(self) -> None:
        self._measure()
        self._next = asyncio.get_running_loop().call_later(0.001, self._look)


async def timed(operation: Operation, number: int) -> tuple[float, float]:
    """The milliseconds of one call, and those for which it held the event loop."""
    with Held() as held:
        began = time.perf_counter()
        await operation(number)
        took = (time.perf_counter() - began) * 1000
    return took, held.longest


def share_of(times: Sequence[float], share: float) -> float:
    """The time below which this share of calls stays."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


async def measure(stage: Stage) -> list[dict[str, object]]:
    """Measure every operation; the first line is the bare SELECT."""
    bare, lines = 0.0, []
    for name, operation in operations(stage).items():
        calls = [await timed(operation, number) for number in range(ROUNDS)]
        times = [took for took, _ in calls]
        bare = bare or share_of(times, 0.5)
        held = {"loop_ms": round(max(one for _, one in calls), 1)}
        lines.append(line(name, times, bare) | held)
    lines.append(await at_once(stage, bare))
    return lines


async def at_once(stage: Stage, bare: float) -> dict[str, object]:
    """Share with many writers at once; nothing may be lost."""
    free = iter(stage.own[2 * ROUNDS : 6 * ROUNDS])
    times: list[float] = []

    async def share(memory: str) -> None:
        shared = await stage.wired.pools.share_memory(
            stage.by_writer, stage.pool.id, memory, stage.writer.id, TEAM
        )
        if not isinstance(shared, SharedMemory):
            raise TypeError(f"not shared: {shared}")

    async def writer() -> None:
        for memory in free:
            began = time.perf_counter()
            await share(memory)
            times.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    await asyncio.gather(*(writer() for _ in range(WRITERS)))
    seconds = time.perf_counter() - began
    made = line("share_memory_at_once", times, bare)
    return made | {"writers": WRITERS, "per_second": round(len(times) / seconds)}


def line(name: str, times: Sequence[float], bare: float) -> dict[str, object]:
    """The figures of an operation."""
    made: dict[str, object] = {
        "operation": name,
        "p50_ms": round(share_of(times, 0.5), 3),
        "p95_ms": round(share_of(times, 0.95), 3),
        "ratio_p50": round(share_of(times, 0.5) / bare, 1),
    }
    if name in TARGETS:
        made |= {"target_ms": TARGETS[name], "met": share_of(times, 0.95) < TARGETS[name]}
    return made


async def first_queries(stage: Stage) -> list[dict[str, object]]:
    """The first query of each pool after the database is opened again."""
    lines: list[dict[str, object]] = []
    for name in ("query_shared", "query_shared_sees_none", "query_shared_after_leaving"):
        await stage.engine.stop()
        await stage.engine.start()
        took, held = await timed(reading(stage)[name], 0)
        first: dict[str, object] = {
            "first_query": name,
            "ms": round(took, 1),
            "loop_ms": round(held, 1),
        }
        lines.append(first | {"met": took < TARGETS[name]})
    return lines


async def reached(stage: Stage) -> dict[str, object]:
    """Register until the limit refuses, and leave the limit again."""
    registry, made = stage.wired.registry, []
    try:
        while True:
            made.append(await registry.register_agent(stage.by_writer, AgentType.GPT_AGENT))
    except RegistryCapacityError as error:
        refused = str(error)
    await registry.unregister_agent(stage.by_writer, made[-1].id)
    again = await registry.register_agent(stage.by_writer, AgentType.GPT_AGENT)
    return {"operation": "limit_of_agents", "refused": refused[:40], "left_again": bool(again.id)}


async def run(name: str, engine: Engine, sizes: Sizes) -> bool:
    """Print the figures of one engine; True if all targets are met."""
    hot = sqlite_database(":memory:")
    await hot.start()
    await engine.start()
    try:
        began = time.monotonic()
        stage = await filled(engine, hot, sizes)
        print(json.dumps({"engine": name, "filled_s": round(time.monotonic() - began)}), flush=True)
        lines = [*(await first_queries(stage)), *(await measure(stage)), await reached(stage)]
        for made in lines:
            print(json.dumps({"engine": name} | made), flush=True)
        return all(made.get("met", True) for made in lines)
    finally:
        await engine.stop()
        await hot.stop()


async def main(scale: int) -> int:
    """Measure both engines."""
    sizes = Sizes(10_000 // scale, 10_000 // scale, max(20, 1_000 // scale), 100_000 // scale)
    with tempfile.TemporaryDirectory() as folder:
        met = await run("sqlite", sqlite_database(Path(folder) / "agents.db"), sizes)
    with postgres_server(fsync=True) as server:
        engine = postgres_database(migrated_database(server))
        met = await run("postgres", engine, sizes) and met
    return 0 if met else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=1)
    sys.exit(asyncio.run(main(parser.parse_args().scale)))
