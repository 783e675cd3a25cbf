"""Kept messages of places, in both databases."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.conversation import key_of
from gateway.stores import catchup
from gateway.stores.catchup import CatchUpStore, KeptMessage, digest
from tests.support.databases import Engine, sqlite_database
from tests.support.messages import AT, place

ADA, BEN = "test:main:ada", "test:main:ben"
ROOM, OTHER = (str(key_of("t", place(name))) for name in ("C1", "C2"))
CHANNEL = "test:main:C1"
END = AT + timedelta(days=1)


@pytest.fixture
def store(engine: Engine) -> CatchUpStore:
    return CatchUpStore(engine)


def message(number: int, person: str = ADA, at: datetime = AT, text: str = "hello") -> KeptMessage:
    name = person.rpartition(":")[2].title()
    link = f"https://example.org/m{number}"
    return KeptMessage(f"m{number}", person, name, at + timedelta(seconds=number), text, link)


async def switched_on(store: CatchUpStore, room: str = ROOM, channel: str = CHANNEL) -> None:
    assert await store.switch_on(room, "t", channel, BEN, AT)


async def keep(store: CatchUpStore, *messages: KeptMessage, room: str = ROOM) -> list[bool]:
    return [await store.keep(room, "t", one, (one.person,)) for one in messages]


async def ids(store: CatchUpStore, room: str = ROOM) -> list[str]:
    return [one.message_id for one in await store.read(room, AT, END, 100)]


async def test_messages_are_kept_once_and_only_where_it_is_on(store: CatchUpStore) -> None:
    assert await keep(store, message(1)) == [False]
    await switched_on(store)
    assert await keep(store, message(1), message(1), message(2, BEN)) == [True, False, True]
    assert await keep(store, message(3), room=OTHER) == [False]
    assert await store.read(ROOM, AT, END, 9) == [message(2, BEN), message(1)]
    assert await store.read(ROOM, AT, AT + timedelta(seconds=2), 9) == [message(1)]
    assert await store.read(ROOM, AT, END, 1) == [message(2, BEN)]
    assert await store.places() == {ROOM}


async def test_a_place_is_switched_on_once_and_off_deletes_everything(store: CatchUpStore) -> None:
    await switched_on(store)
    assert await store.switch_on(ROOM, "t", CHANNEL, ADA, AT) is False
    await keep(store, message(1))
    assert await store.switch_off(ROOM)
    assert not await store.switch_off(ROOM)
    await switched_on(store)
    assert await ids(store) == []


async def test_the_number_of_places_is_bounded(
    store: CatchUpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catchup, "MAX_PLACES", 1)
    await switched_on(store)
    assert await store.switch_on(OTHER, "t", "test:main:C2", BEN, AT) is None
    assert await store.switch_on(ROOM, "t", CHANNEL, BEN, AT) is False


async def test_an_opt_out_deletes_at_once_and_lasts(store: CatchUpStore) -> None:
    await switched_on(store)
    await keep(store, message(1), message(2, BEN))
    assert await store.opt_out("t", (ADA, "test:main:old-ada"), AT) == 1
    assert await ids(store) == ["m2"]
    assert await keep(store, message(3)) == [False]
    assert not await store.keep(ROOM, "t", message(4, BEN), (BEN, "test:main:old-ada"))
    assert await store.opted_out("t", (ADA,))
    assert not await store.opted_out("u", (ADA,))
    assert await store.opt_in("t", (ADA, "test:main:old-ada"))
    assert not await store.opt_in("t", (ADA,))
    assert await keep(store, message(5)) == [True]


async def test_edits_and_deletions_are_followed(store: CatchUpStore) -> None:
    await switched_on(store)
    await keep(store, message(1), message(2))
    assert await store.edit("t", CHANNEL, "m1", (ADA,), "now this")
    assert not await store.edit("t", CHANNEL, "m1", (BEN,), "not mine")
    assert not await store.edit("t", "test:main:C2", "m1", (ADA,), "elsewhere")
    assert [one.text for one in await store.read(ROOM, AT, END, 9)] == ["hello", "now this"]
    assert await store.delete("test:main:C2", ("m1",)) == 0
    assert await store.delete(CHANNEL, ("m1", "m2", "m9")) == 2


async def test_the_oldest_are_deleted_beyond_a_number_and_a_time(store: CatchUpStore) -> None:
    await switched_on(store)
    await keep(store, *(message(number) for number in range(10)))
    assert await store.trim(ROOM, 4) == 6
    assert await store.trim(ROOM, 4) == 0
    assert await ids(store) == ["m9", "m8", "m7", "m6"]
    assert await store.prune(AT + timedelta(seconds=8)) == 2
    assert await store.prune(AT + timedelta(seconds=8)) == 0
    assert await ids(store) == ["m9", "m8"]


async def test_messages_are_exported_and_erased_with_their_author(
    store: CatchUpStore, engine: Engine
) -> None:
    await switched_on(store)
    await keep(store, message(1), message(2, BEN))
    (row,) = await store.export("t", (ADA,))
    assert (row["table"], row["text"], row["at"]) == (
        "catchup_messages",
        "hello",
        (AT + timedelta(seconds=1)).timestamp(),
    )
    assert await store.export("u", (ADA,)) == []
    assert await store.count("t", (ADA, BEN)) == [("catchup_messages", 2)]
    assert await store.erase("t", (ADA,)) == 1
    assert await store.count("t", (ADA,)) == []
    assert await ids(store) == ["m2"]


async def test_an_opt_out_outlives_an_erasure_and_names_nobody(store: CatchUpStore) -> None:
    await switched_on(store)
    await store.opt_out("t", (ADA,), AT)
    await store.erase("t", (ADA,))
    assert await keep(store, message(1)) == [False]
    assert "ada" not in digest("t", ADA)
    assert digest("t", ADA) != digest("u", ADA)


PEOPLE = ("ada", "ben", "cleo")
ACTIONS = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(PEOPLE)),
    st.tuples(st.just("out"), st.sampled_from(PEOPLE)),
    st.tuples(st.just("in"), st.sampled_from(PEOPLE)),
    st.tuples(st.sampled_from(("on", "off")), st.just("")),
)


@given(st.lists(ACTIONS, max_size=25))
async def test_nothing_of_a_person_who_opted_out_is_ever_read(
    actions: list[tuple[str, str]],
) -> None:
    database = sqlite_database(":memory:")
    await database.start()
    store = CatchUpStore(database)
    out: set[str] = set()
    expected: list[tuple[str, str]] = []
    on = False
    for number, (what, name) in enumerate(actions):
        person = f"test:main:{name}"
        match what:
            case "say":
                done = await store.keep(ROOM, "t", message(number, person), (person,))
                assert done == (on and name not in out)
                expected += [(f"m{number}", name)] if done else []
            case "out":
                await store.opt_out("t", (person,), AT)
                out.add(name)
                expected = [one for one in expected if one[1] != name]
            case "in":
                await store.opt_in("t", (person,))
                out.discard(name)
            case "on":
                await store.switch_on(ROOM, "t", CHANNEL, BEN, AT)
                on = True
            case "off":
                await store.switch_off(ROOM)
                on, expected = False, []
        assert await ids(store) == [one for one, _ in reversed(expected)]
    await database.stop()
