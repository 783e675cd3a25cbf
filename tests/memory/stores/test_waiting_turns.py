"""Turns that wait: the contract on both engines."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import timedelta
from functools import partial

import pytest

from db import Statement
from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports.memory import WaitingTurn
from gateway.ports.work_guard import Quarantined, WorkOwner
from gateway.stores.quarantine import QuarantineStore
from gateway.stores.unit_of_work import put_waiting_turn
from gateway.text import verbatim
from memory.model.record import Record, Tier
from memory.model.scope import RequestScope
from memory.ports.memories import MemoryStore
from memory.stores.personal_data import SqlMemoryPersonalData
from memory.stores.waiting_turns import ConsolidatedTurn, WaitingTurns
from memory.write.consolidation import StoredRequest, TurnText, waiting_turn
from tests.memory.stores.records import ADA, AT, BOB, CHANNEL, access, record, texts
from tests.support.databases import Engine

WHO = Principal("t", PersonId("test", "main", "ada"), Role.MEMBER)
PLACE = Place("test", "main", "C1", Audience.DIRECT)


@pytest.fixture
def waiting(engine: Engine) -> WaitingTurns:
    return WaitingTurns(engine)


async def put(engine: Engine, *turns: WaitingTurn) -> None:
    for turn in turns:
        await engine.run(partial(put_waiting_turn, turn))


def turn(number: int, person: str = ADA, room: str = "", tenant: str = "t") -> WaitingTurn:
    at = AT + timedelta(seconds=number)
    reply = (f"m{number}", f"n{number}")
    return WaitingTurn(
        f"turn-{number}", tenant, person, room, ":".join(CHANNEL), reply, at, f'"{number} \u2713"'
    )


def record_of(content: str) -> Record:
    return replace(record(content), tier=Tier.EPISODIC, role="user")


def ids(turns: Sequence[WaitingTurn]) -> list[str]:
    return [one.id for one in turns]


async def test_the_oldest_turns_are_first_and_returned_unchanged(
    waiting: WaitingTurns, engine: Engine
) -> None:
    first, second, third = turn(1), turn(2, BOB, "r"), turn(3)
    await put(engine, first, second, third)
    assert await waiting.oldest(2) == [first, second]
    assert await waiting.count() == 3


async def test_the_row_contains_text_of_the_person_only_in_the_message(
    engine: Engine,
) -> None:
    request = RequestScope(
        *(WHO, (ADA,), PLACE, AT),
        *("the project", "the conversation", "ses-1", ("m1",)),
        words=("WORDS",),
        shows_private=True,
        notice=verbatim("NOTICE"),
    )
    text = TurnText(request, "the message", "the answer", True, "the material")
    await put(engine, waiting_turn("turn-1", text, access()))
    (row,) = await engine.fetch(Statement("SELECT * FROM waiting_turns"))
    columns = "\n".join(map(str, row))
    assert "WORDS" not in columns
    assert "NOTICE" not in columns
    for value in ("the message", "the answer", "the material", "the project", "ses-1", "m1"):
        assert value in columns


def test_the_text_the_notice_and_the_program_of_a_request_are_not_stored() -> None:
    left_out = set(RequestScope.__struct_fields__)
    missing = left_out - {field.name for field in fields(StoredRequest)}
    assert missing == {"words", "notice", "agent", "from_repository", "zone", "languages"}, (
        "only people have turns"
    )
    assert {field.name for field in fields(StoredRequest)} < left_out


async def test_the_same_turn_is_stored_once(waiting: WaitingTurns, engine: Engine) -> None:
    await put(engine, turn(1), replace(turn(1), body='"again"'))
    (only,) = await waiting.oldest(9)
    assert only.body == '"again"'


async def test_turns_are_found_by_their_people_and_rooms(
    waiting: WaitingTurns, engine: Engine
) -> None:
    await put(
        engine, turn(1), turn(2, BOB), turn(3, BOB, "r"), turn(4, room="r"), turn(5, tenant="u")
    )
    assert ids(await waiting.within(access(), 9)) == ["turn-1", "turn-4"]
    assert ids(await waiting.within(access(ADA, BOB), 9)) == [
        "turn-1",
        "turn-2",
        "turn-3",
        "turn-4",
    ]
    assert ids(await waiting.within(access(room="r"), 9)) == ["turn-1", "turn-3", "turn-4"]
    assert ids(await waiting.within(access("x", room="r"), 1)) == ["turn-3"]
    assert await waiting.within(access("x"), 9) == []


async def test_a_message_finds_its_turn_in_its_channel_only(
    waiting: WaitingTurns, engine: Engine
) -> None:
    await put(engine, turn(1), turn(2))
    assert ids(await waiting.saying("t", CHANNEL, ["n2", "x"], 9)) == ["turn-2"]
    assert await waiting.saying("u", CHANNEL, ["n2"], 9) == []
    assert await waiting.saying("t", ("test", "main", "C2"), ["n2"], 9) == []
    assert await waiting.saying("t", CHANNEL, [], 9) == []


async def test_a_consolidated_turn_is_a_memory_and_no_longer_waits(
    waiting: WaitingTurns, memories: MemoryStore, engine: Engine
) -> None:
    await put(engine, turn(1), turn(2))
    taken = [
        ConsolidatedTurn(turn(1), access(), (record_of("hello"),)),
        ConsolidatedTurn(turn(2), access(), ()),
    ]
    assert await waiting.take_up(taken) == {"turn-1", "turn-2"}
    assert await waiting.count() == 0
    assert await texts(memories) == ["hello"]
    assert await waiting.take_up(taken) == set()
    assert await texts(memories) == ["hello"]


async def test_a_turn_that_was_removed_or_changed_is_not_stored(
    waiting: WaitingTurns, memories: MemoryStore, engine: Engine
) -> None:
    await put(engine, replace(turn(2), body='"said again"'))
    taken = [ConsolidatedTurn(turn(n), access(), (record_of(f"hello {n}"),)) for n in (1, 2)]
    assert await waiting.take_up(taken) == set()
    assert await texts(memories) == []
    assert await waiting.count() == 1


async def test_turns_of_other_people_are_not_stored(waiting: WaitingTurns, engine: Engine) -> None:
    await put(engine, turn(1))
    with pytest.raises(BadInput):
        await waiting.take_up([ConsolidatedTurn(turn(1), access(BOB), (record_of("hello"),))])
    assert await waiting.count() == 1


@pytest.fixture
def quarantine(engine: Engine) -> QuarantineStore:
    return QuarantineStore(engine)


async def test_a_quarantined_turn_waits_for_an_operator(
    waiting: WaitingTurns, engine: Engine, quarantine: QuarantineStore
) -> None:
    turns = [turn(1), turn(2), turn(3)]
    await put(engine, *turns)
    for one in turns[:2]:
        owner = WorkOwner(one.tenant, one.person, one.channel)
        await quarantine.add(Quarantined("waiting_turn", one.id, owner, 8, AT))
    await quarantine.add(Quarantined("message", "turn-3", WorkOwner(), 8, AT))
    messages = [id_ for one in turns for id_ in one.message_ids]
    assert await waiting.oldest(10) == turns[2:]
    assert await waiting.within(access(), 10) == turns[2:]
    assert await waiting.saying("t", CHANNEL, messages, 10) == turns[2:]
    assert await quarantine.remove("waiting_turn", "turn-1", discard=False)
    assert await waiting.oldest(10) == [turns[0], turns[2]]
    assert await quarantine.remove("waiting_turn", "turn-2", discard=True)
    assert await waiting.count() == 2


async def test_a_quarantined_turn_is_deleted_with_its_message_by_age_and_with_its_person(
    waiting: WaitingTurns, engine: Engine, quarantine: QuarantineStore
) -> None:
    turns = [turn(1), turn(2), turn(3), turn(4, BOB)]
    await put(engine, *turns)
    for one in turns:
        owner = WorkOwner(one.tenant, one.person, one.channel)
        await quarantine.add(Quarantined("waiting_turn", one.id, owner, 8, one.at))
    assert await waiting.discard_quarantined("t", CHANNEL, ("m1", "unknown")) == 1
    assert await waiting.discard_quarantined("other", CHANNEL, ("m2",)) == 0
    assert await quarantine.prune(turns[2].at, AT, (), 100) == 1
    assert [one.id for one in await quarantine.listed(10)] == ["turn-4", "turn-3"]
    assert await waiting.count() == 2
    personal = SqlMemoryPersonalData(engine)
    assert {row["table"] for row in await personal.export("t", [ADA])} >= {"quarantine"}
    await personal.erase("t", [ADA])
    assert [one.id for one in await quarantine.listed(10)] == ["turn-4"]
    assert await waiting.count() == 1
