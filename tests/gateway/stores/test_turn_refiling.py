"""Turns that an earlier version stored are filed again under the words of this one."""

import pytest

from db import Statement, Work, execute
from db.errors import StoreUnavailable
from gateway.conversation import key_of
from gateway.immutable import replace
from gateway.people import Audience
from gateway.ports.conversations import StoredTurn
from gateway.stores import turn_refiling
from gateway.stores.conversation_views import ConversationViews
from gateway.stores.conversations import Conversations
from gateway.stores.turn_index import plain_words
from gateway.stores.turn_refiling import TURNS, refile_some
from parley.wiring.storage import TURN_WORDS
from tests.gateway.stores.test_conversation_views import (
    ADA,
    ADAS,
    AS_ADA,
    AS_BOB,
    BOB,
    OPERATOR,
    ROOM,
    found,
)
from tests.support.databases import Engine
from tests.support.messages import AT

BEFORE = replace(TURN_WORDS, of_text=plain_words)
"""The words of an earlier version, which kept strokes and knew no pictographs."""
TEXTS = [f"House {number} is in Łódź, ring 079 123 45 6{number} 🐈" for number in range(7)]


@pytest.fixture
async def old(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_refiling, "AT_ONCE", 3)
    store = Conversations(engine, BEFORE)
    for number, text in enumerate(TEXTS):
        turns = [StoredTurn(f"m{number}", "user", text, AT, ADA)]
        if number == 0:
            turns.append(StoredTurn("m0", "assistant", "Łódź is in Poland.", AT))
        await store.append(key_of("t", ADAS), turns)
    room = [StoredTurn("r1", "user", "Bob lives in Łódź.", AT, BOB)]
    room.append(StoredTurn("r1", "assistant", "I noted Łódź.", AT))
    await store.append(key_of("t", ROOM), room, Audience.PRIVATE_ROOM)
    await mark(engine)


async def mark(engine: Engine) -> None:
    for statement in TURNS.again:
        await engine.change(Statement(statement))


def views_of(engine: Engine) -> ConversationViews:
    return ConversationViews(engine, TURN_WORDS)


async def refile_all(engine: Engine) -> list[int]:
    read = []
    while some := await refile_some(engine, TURN_WORDS):
        read.append(some)
    return read


async def test_an_older_turn_is_found_by_its_words_of_today(engine: Engine, old: None) -> None:
    views = views_of(engine)
    assert await found(views, AS_ADA, "lodz") == []
    assert await refile_all(engine) == [3, 3, 3, 1]
    assert sorted(await found(views, AS_ADA, "lodz")) == sorted([*TEXTS, "Łódź is in Poland."])
    for words in ("Łódź house 3", "0791234563", "079 123 45 63", "🐈 3"):
        assert await found(views, AS_ADA, words) == [TEXTS[3]]
    assert await refile_some(engine, TURN_WORDS) == 0


async def test_each_word_stays_with_the_readers_of_its_exchange(engine: Engine, old: None) -> None:
    await refile_all(engine)
    views, room = views_of(engine), ["Bob lives in Łódź.", "I noted Łódź."]
    assert sorted(await found(views, AS_BOB, "lodz")) == room
    assert sorted(await found(views, OPERATOR, "lodz")) == room
    assert await found(views, replace(OPERATOR, tenant="u"), "lodz") == []


async def test_a_turn_may_go_or_change_before_and_after_it_is_filed_again(
    engine: Engine, old: None
) -> None:
    store, views = Conversations(engine, TURN_WORDS), views_of(engine)
    await store.delete("t", ADAS, ("m6",))
    await refile_some(engine, TURN_WORDS)
    await views.index()
    assert await store.edit("t", ADAS, "m1", "House 1 is in Gdańsk.")
    await store.delete("t", ADAS, ("m5", "m0"))
    await refile_all(engine)
    assert sorted(await found(views, AS_ADA, "lodz")) == TEXTS[2:5]
    assert await found(views, AS_ADA, "gdansk") == ["House 1 is in Gdańsk."]
    if engine.engine == "sqlite":
        check = "INSERT INTO turns_text (turns_text) VALUES ('integrity-check')"
        await engine.change(Statement(check))


async def test_work_that_is_broken_off_goes_on_where_it_stopped(engine: Engine, old: None) -> None:
    await refile_some(engine, TURN_WORDS)

    def stopped() -> Work[int]:
        yield from TURNS.step(lambda rows: turn_refiling._refile(rows, TURN_WORDS), 3)
        raise StoreUnavailable("stopped before the commit")

    with pytest.raises(StoreUnavailable):
        await engine.run(stopped)
    views = views_of(engine)
    assert sorted(await found(views, AS_ADA, "lodz")) == TEXTS[6:]
    assert await refile_all(engine) == [3, 3, 1]
    assert len(await found(views, AS_ADA, "lodz")) == len(TEXTS) + 1


async def test_a_process_takes_nothing_back_that_another_one_has_read(
    engine: Engine, old: None
) -> None:
    read_by_another = Statement("UPDATE turn_refiling SET upto = 0")
    await engine.run(lambda: TURNS.step(lambda _: execute(read_by_another, {}), 3))
    assert await refile_some(engine, TURN_WORDS) == 0


async def test_new_turns_are_not_read_again_and_the_index_is_kept_in_the_background(
    engine: Engine, old: None
) -> None:
    await Conversations(engine, TURN_WORDS).append(
        key_of("t", ADAS), [StoredTurn("n1", "user", "Gdańsk", AT, ADA)]
    )
    views, steps = views_of(engine), 0
    while await views.maintain():
        steps += 1
    assert steps >= 4
    assert len(await found(views, AS_ADA, "lodz")) == len(TEXTS) + 1
    assert await found(views, AS_ADA, "gdansk") == ["Gdańsk"]
