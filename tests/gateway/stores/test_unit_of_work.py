"""Completion of a turn over two databases, also if its person was erased while it ran."""

from datetime import timedelta

import pytest

from db import Statement
from db.sqlite import SqliteDatabase
from gateway.conversation import ConversationKey
from gateway.errors import TakenOver
from gateway.immutable import replace
from gateway.message import send_key
from gateway.observe.correlation import correlation_id
from gateway.ports import Usage
from gateway.ports.adapter import AdapterStates
from gateway.ports.conversations import StoredTurn
from gateway.ports.memory import WaitingTurn
from gateway.ports.queues import Inbox, InboxEntry
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import ERASED_TURNS, CompletedTurn
from gateway.ports.usage import UsageRow
from gateway.stores.personal_data import HotPersonalData
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.sqlite.queues import SqliteOutbox
from gateway.stores.takeovers import Takeover, TakeoverStore
from gateway.stores.unit_of_work import Doubts, LongLivedTurns, TwoStepUnitOfWork
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT, outbound, received

ADA = "test:main:ada"
KEY = ConversationKey("t", "test", "main", "", "C1")
EVENT = "test:main:message:m1"
ID = correlation_id(EVENT)


@pytest.fixture
def moving(
    hot: SqliteDatabase | RedisHotState,
    inbox: Inbox,
    states: AdapterStates,
    clock: FakeClock,
) -> HotPersonalData:
    outbox = SqliteOutbox(hot, clock) if isinstance(hot, SqliteDatabase) else hot.outbox
    return HotPersonalData(inbox, outbox, states)


@pytest.fixture
def unit(
    keeper: LongLivedTurns, inbox: Inbox, states: AdapterStates, clock: FakeClock
) -> TwoStepUnitOfWork:
    return TwoStepUnitOfWork(keeper, inbox, states.of(*ERASED_TURNS), Doubts(clock))


def done() -> CompletedTurn:
    reply = (
        StoredTurn("m1", "user", "my dog is Luna", AT, ADA, "Ada"),
        StoredTurn("m1", "assistant", "Luna, then", AT),
    )
    cost = UsageRow("t", ADA, "W1", "model", Usage(10, 5), 7, AT)
    trace = Trace(ID, "m1", "test", "main", str(KEY), "message", AT, (), "answered", 1.0)
    waiting = WaitingTurn(ID, "t", ADA, "", "test:main:C1", ("m1",), AT, "{}")
    sends = (outbound(send_key(ID, 0)),)
    return CompletedTurn(KEY, reply, (cost,), (), trace, (EVENT,), sends, waiting)


async def accept(inbox: Inbox) -> None:
    await inbox.add(
        InboxEntry(EVENT, str(KEY), received("my dog is Luna", message_id="m1"), AT),
        timedelta(days=1),
    )


async def rows(engine: Engine) -> str:
    """Everything that is stored about the turn."""
    every = [
        await engine.fetch(Statement(f"SELECT * FROM {table}"))
        for table in ("turns", "waiting_turns", "usage", "traces")
    ]
    return str(every)


async def test_a_turn_of_a_person_erased_meanwhile_stores_its_cost_only(
    engine: Engine, inbox: Inbox, unit: TwoStepUnitOfWork, moving: HotPersonalData
) -> None:
    await accept(inbox)
    assert await moving.erase("t", (ADA,)) == 1
    assert not await unit.complete(done())
    left = await rows(engine)
    for word in ("Luna", ADA, "m1", "C1"):
        assert word not in left, word
    assert "model" in left


async def test_a_turn_is_not_stored_if_an_operator_answers_meanwhile(
    engine: Engine, inbox: Inbox, unit: TwoStepUnitOfWork
) -> None:
    await accept(inbox)
    takeover = Takeover("a", "t", str(KEY), "test:main:olga", "Olga", ADA, AT, AT)
    await TakeoverStore(engine).take(takeover, AT - timedelta(hours=8))
    with pytest.raises(TakenOver):
        await unit.complete(replace(done(), silent_since=AT - timedelta(microseconds=1)))
    assert await rows(engine) == "[[], [], [], []]"
    assert await unit.complete(replace(done(), silent_since=AT))
    assert "Luna" in await rows(engine)


async def test_a_turn_completed_by_another_worker_keeps_its_rows(
    engine: Engine, inbox: Inbox, unit: TwoStepUnitOfWork
) -> None:
    await accept(inbox)
    assert await unit.complete(done())
    assert not await unit.complete(replace(done(), outbound=(outbound("other:0"),)))
    assert "Luna" in await rows(engine)
