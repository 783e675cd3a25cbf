"""Handoffs at full capacity: the limit is reached and left again, and no query reads them all."""

import asyncio
import sqlite3
from datetime import timedelta

import pytest

from db import Statement, Work, execute
from db.sqlite import SqliteDatabase
from memory.agents.model import AgentLimits
from memory.agents.stores.handoffs import (
    ADD,
    OPEN_OF_AGENT,
    OPEN_OF_PERSON,
    HandoffReceiver,
    SqlHandoffs,
    _of,
    _params,
)
from tests.memory.agents.making import ADA, AT, BOB, EVE, agent, handoff
from tests.support.databases import Engine

LIMITS = AgentLimits()
WRITERS = 15


@pytest.mark.parametrize(
    ("statement", "receiver", "index"),
    [
        (OPEN_OF_AGENT, HandoffReceiver("t", "a1"), "agent_handoffs_open_agent"),
        (OPEN_OF_PERSON, HandoffReceiver("t", persons=(BOB,)), "agent_handoffs_open_person"),
    ],
)
async def test_open_handoffs_are_found_by_an_index(
    sqlite: SqliteDatabase, statement: Statement, receiver: HandoffReceiver, index: str
) -> None:
    params = statement.for_sqlite({**_of(receiver), "now": 0, "limit": 10})
    with sqlite3.connect(sqlite.path) as database:
        plan = database.execute(f"EXPLAIN QUERY PLAN {statement.sqlite}", params).fetchall()
    assert index in repr(plan)


@pytest.mark.nightly
@pytest.mark.timeout(300)
async def test_fifty_thousand_handoffs_are_stored_and_no_more(
    engine: Engine, second_engine: Engine
) -> None:
    store, source = SqlHandoffs(engine), agent(ADA)
    targets = [agent(BOB) for _ in range(600)]
    near = LIMITS.handoffs - WRITERS // 2

    def stored(begin: int) -> Work[None]:
        numbers = range(begin, min(begin + 1_000, near))
        yield from execute(ADD, *(_params(handoff(source, targets[n % 600])) for n in numbers))

    for begin in range(0, near, 1_000):
        await engine.run(lambda begin=begin: stored(begin))  # type: ignore[misc]  # bound at once
    stores, others = (store, SqlHandoffs(second_engine)), agent(EVE)
    outcomes = await asyncio.gather(
        *(stores[n % 2].add(handoff(others, targets[n]), LIMITS, AT) for n in range(WRITERS))
    )
    assert outcomes.count("stored") == WRITERS // 2
    assert outcomes.count("full") == WRITERS - WRITERS // 2
    later = AT + timedelta(hours=2)
    assert len(await store.expire(later)) == 100
    assert (await store.clean(later + timedelta(seconds=1))).total() == 100
    more = handoff(others, agent(BOB), created_at=later)
    assert await store.add(more, LIMITS, later) == "stored"
    assert await store.add(handoff(source, agent(ADA)), LIMITS, later) == "person_full"


@pytest.mark.nightly
async def test_a_hundred_handoffs_wait_for_one_target_and_no_more(engine: Engine) -> None:
    store, source, target = SqlHandoffs(engine), agent(ADA), agent(ADA)
    made = [handoff(source, target) for _ in range(LIMITS.pending_per_target + 1)]
    outcomes = [await store.add(one, LIMITS, AT) for one in made]
    assert outcomes == ["stored"] * 100 + ["target_full"]
    assert (await store.accept(HandoffReceiver("t", target.id), made[0].id, AT)).done
    assert await store.add(handoff(source, target), LIMITS, AT) == "stored"
