"""Turns that wait: the contract on both engines."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.errors import BadInput
from gateway.remembering import WaitingTurn
from gateway.storage.postgres.waiting_turns import PUT_WAITING, waiting_parameters
from gateway.storage.sqlite.database import Database
from gateway.storage.sqlite.waiting_turns import insert_waiting_turn
from memory.record import Record, Tier
from memory.store.ports import MemoryStore, TakenUp, WaitingTurns
from memory.store.postgres.waiting import PostgresWaitingTurns
from memory.store.sqlite.waiting import SqliteWaitingTurns
from tests.memory.store.conftest import Engine
from tests.memory.store.records import ADA, AT, BOB, CHANNEL, reach, record, texts
from tests.support.clock import FakeClock


@pytest.fixture
def waiting(engine: Engine, clock: FakeClock) -> WaitingTurns:
    if isinstance(engine, Database):
        return SqliteWaitingTurns(engine)
    return PostgresWaitingTurns(engine, clock)


async def put(engine: Engine, *turns: WaitingTurn) -> None:
    for turn in turns:
        if isinstance(engine, Database):
            await engine.run(lambda db, turn=turn: insert_waiting_turn(db, turn))  # type: ignore[misc] # default
        else:
            await engine.change(PUT_WAITING, waiting_parameters(turn))


def turn(number: int, person: str = ADA, room: str = "", tenant: str = "t") -> WaitingTurn:
    at = AT + timedelta(seconds=number)
    said = (f"m{number}", f"n{number}")
    return WaitingTurn(
        f"turn-{number}", tenant, person, room, ":".join(CHANNEL), said, at, f'"{number} \u2713"'
    )


def said(content: str) -> Record:
    return replace(record(content), tier=Tier.EPISODIC, role="user")


def ids(turns: Sequence[WaitingTurn]) -> list[str]:
    return [one.id for one in turns]


async def test_the_oldest_come_first_and_come_back_as_they_were(
    waiting: WaitingTurns, engine: Engine
) -> None:
    first, second, third = turn(1), turn(2, BOB, "r"), turn(3)
    await put(engine, first, second, third)
    assert await waiting.oldest(2) == [first, second]
    assert await waiting.count() == 3


async def test_the_same_turn_waits_once(waiting: WaitingTurns, engine: Engine) -> None:
    await put(engine, turn(1), replace(turn(1), body='"again"'))
    (only,) = await waiting.oldest(9)
    assert only.body == '"again"'


async def test_a_reach_finds_its_persons_and_its_rooms(
    waiting: WaitingTurns, engine: Engine
) -> None:
    await put(
        engine, turn(1), turn(2, BOB), turn(3, BOB, "r"), turn(4, room="r"), turn(5, tenant="u")
    )
    assert ids(await waiting.within(reach(), 9)) == ["turn-1", "turn-4"]
    assert ids(await waiting.within(reach(ADA, BOB), 9)) == ["turn-1", "turn-2", "turn-3", "turn-4"]
    assert ids(await waiting.within(reach(room="r"), 9)) == ["turn-1", "turn-3", "turn-4"]
    assert ids(await waiting.within(reach("x", room="r"), 1)) == ["turn-3"]
    assert await waiting.within(reach("x"), 9) == []


async def test_a_message_finds_its_turn_within_its_channel(
    waiting: WaitingTurns, engine: Engine
) -> None:
    await put(engine, turn(1), turn(2))
    assert ids(await waiting.saying("t", CHANNEL, ["n2", "x"], 9)) == ["turn-2"]
    assert await waiting.saying("u", CHANNEL, ["n2"], 9) == []
    assert await waiting.saying("t", ("test", "main", "C2"), ["n2"], 9) == []
    assert await waiting.saying("t", CHANNEL, [], 9) == []


async def test_what_is_taken_up_waits_no_more_and_is_kept(
    waiting: WaitingTurns, memories: MemoryStore, engine: Engine
) -> None:
    await put(engine, turn(1), turn(2))
    taken = [TakenUp(turn(1), reach(), (said("hello"),)), TakenUp(turn(2), reach(), ())]
    assert await waiting.take_up(taken) == {"turn-1", "turn-2"}
    assert await waiting.count() == 0
    assert await texts(memories) == ["hello"]
    assert await waiting.take_up(taken) == set()
    assert await texts(memories) == ["hello"]


async def test_what_waits_no_more_or_says_something_else_is_not_kept(
    waiting: WaitingTurns, memories: MemoryStore, engine: Engine
) -> None:
    await put(engine, replace(turn(2), body='"said again"'))
    taken = [TakenUp(turn(n), reach(), (said(f"hello {n}"),)) for n in (1, 2)]
    assert await waiting.take_up(taken) == set()
    assert await texts(memories) == []
    assert await waiting.count() == 1


async def test_nothing_is_kept_on_behalf_of_somebody_else(
    waiting: WaitingTurns, engine: Engine
) -> None:
    await put(engine, turn(1))
    with pytest.raises(BadInput):
        await waiting.take_up([TakenUp(turn(1), reach(BOB), (said("hello"),))])
    assert await waiting.count() == 1
