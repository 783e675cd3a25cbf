"""Events: their order, their readers, their number; the contract on both engines."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from db import Statement
from gateway.immutable import replace
from memory.agents.model import (
    AgentEvent,
    AgentLimits,
    EventKind,
    Permission,
    PoolMember,
    SharedScope,
)
from memory.agents.model import Pool as PoolValue
from memory.agents.stores.agents import SqlAgents
from memory.agents.stores.events import WINDOW, EventReader, SqlAgentEvents
from memory.agents.stores.handoffs import SqlHandoffs
from memory.agents.stores.pools import SqlPools
from tests.memory.agents.making import ADA, AT, BOB, EVE, agent, handoff
from tests.support.databases import Engine

OF_ADA, OF_BOB, OF_EVE = (EventReader("t", (person,)) for person in (ADA, BOB, EVE))


@pytest.fixture
def events(engine: Engine) -> SqlAgentEvents:
    return SqlAgentEvents(engine)


def event(
    person: str = ADA, kind: EventKind = EventKind.AGENT_REGISTERED, **rest: Any
) -> AgentEvent:
    return AgentEvent(kind, "t", AT, person=person, **rest)


async def kinds(events: SqlAgentEvents, reader: EventReader, after: int = 0) -> list[str]:
    return [one.kind.value for one in (await events.after(reader, after, 100)).events]


async def test_events_come_in_order_after_a_number(events: SqlAgentEvents) -> None:
    assert await events.newest() == 0
    assert (await events.after(OF_ADA, 0, 10)).last == 0
    made = [event(memory=f"m{number}") for number in range(5)]
    await events.add(made)
    page = await events.after(OF_ADA, 0, 3)
    assert [one.memory for one in page.events] == ["m0", "m1", "m2"]
    assert page.more
    rest = await events.after(OF_ADA, page.last, 3)
    assert [one.memory for one in rest.events] == ["m3", "m4"]
    assert rest.last == await events.newest()
    assert not rest.more
    assert replace(rest.events[0], number=0) == made[3]
    assert await events.after(OF_ADA, rest.last, 3) == replace(rest, events=())


async def test_a_reader_sees_own_events_and_those_of_own_handoffs(
    engine: Engine, events: SqlAgentEvents
) -> None:
    source, target = agent(ADA), agent(BOB)
    made = handoff(source, target)
    await SqlHandoffs(engine).add(made, AgentLimits(), AT)
    await events.add([event(EVE)])
    assert await kinds(events, OF_ADA) == ["handoff.initiated"]
    assert await kinds(events, OF_BOB) == ["handoff.initiated"]
    assert await kinds(events, OF_EVE) == ["agent.registered"]
    assert await kinds(events, replace(OF_ADA, tenant="u")) == []
    assert await kinds(events, replace(OF_BOB, agent=target.id)) == ["handoff.initiated"]
    assert await kinds(events, replace(OF_ADA, agent=agent(ADA).id)) == []
    page = await events.after(OF_EVE, 0, 10)
    assert page.last == 2, "the number goes on past the events of others"


async def test_members_see_the_events_of_a_pool_until_they_leave(
    engine: Engine, events: SqlAgentEvents
) -> None:
    agents, pools = SqlAgents(engine), SqlPools(engine)
    member = agent(BOB)
    await agents.add(member, AgentLimits(), event(EVE))
    pool = PoolValue("p" * 32, "t", "pool", ADA, SharedScope.TEAM, AT)
    await pools.add(pool, AgentLimits(), event(EVE))
    await events.add([event(EVE, EventKind.POOL_SHARED, pool=pool.id)])
    assert await kinds(events, OF_ADA) == ["pool.shared"], "the owner of the pool"
    assert await kinds(events, OF_BOB) == []
    joins = PoolMember(pool.id, member.id, Permission.READ, AT)
    limits = AgentLimits()
    await pools.join(pool, joins, BOB, limits, event(EVE), replaces=False, new=True)
    assert await kinds(events, OF_BOB) == ["pool.shared"]
    assert await kinds(events, replace(OF_BOB, agent=member.id)) == ["pool.shared"]
    assert await kinds(events, replace(OF_BOB, agent=agent(BOB).id)) == []
    await pools.leave(pool.id, member.id, event(EVE))
    assert await kinds(events, OF_BOB) == []


async def test_one_call_reads_a_bounded_part_of_the_table(events: SqlAgentEvents) -> None:
    await events.add([event(EVE)] * (WINDOW + 10))
    await events.add([event(ADA)])
    page = await events.after(OF_ADA, 0, 10)
    assert page.events == ()
    assert page.more
    rest = await events.after(OF_ADA, page.last, 10)
    assert len(rest.events) == 1
    assert not rest.more


async def test_concurrent_writers_of_two_processes_leave_no_gap_for_a_reader(
    engine: Engine, second_engine: Engine
) -> None:
    stores = (SqlAgentEvents(engine), SqlAgentEvents(second_engine))
    seen: list[int] = []
    done = asyncio.Event()

    async def read() -> None:
        last = 0
        while True:
            ended = done.is_set()
            page = await stores[0].after(OF_ADA, last, 50)
            seen.extend(one.number for one in page.events)
            last = page.last
            if ended and not page.more:
                return
            await asyncio.sleep(0)

    reading = asyncio.create_task(read())
    await asyncio.gather(*(stores[n % 2].add([event()] * 3) for n in range(40)))
    done.set()
    await reading
    assert len(seen) == 120
    assert seen == sorted(set(seen))


async def test_old_events_and_those_beyond_the_number_are_deleted(events: SqlAgentEvents) -> None:
    await events.add([event() for _ in range(10)])
    assert await events.prune(AT, 100) == 0
    assert await events.prune(AT, 4) == 6
    assert len((await events.after(OF_ADA, 0, 100)).events) == 4
    assert await events.prune(AT + timedelta(seconds=1), 100) == 4
    await events.add([event()])
    assert (await events.after(OF_ADA, 0, 100)).events[0].number == 11, "no number is used twice"


async def test_no_event_has_content(engine: Engine, events: SqlAgentEvents) -> None:
    made = handoff(agent(ADA), agent(BOB))
    await SqlHandoffs(engine).add(made, AgentLimits(), AT)
    rows = await engine.fetch(Statement("SELECT * FROM agent_events"))
    assert made.context.task_description not in repr(rows)
    assert len(await events.of_tenant("t", 0, 10)) == 1
    assert await events.of_tenant("u", 0, 10) == []
