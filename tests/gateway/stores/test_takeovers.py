"""Takeovers on both databases."""

from datetime import timedelta

import pytest

from gateway.conversation import key_of
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience
from gateway.stores.break_glass import TextGrant, TextGrantStore
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.takeovers import Takeover, TakeoverStore
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT

HOUR = timedelta(hours=1)
ADA, OLGA, OTTO = "test:main:ada", "test:main:olga", "test:main:otto"
HERE = str(key_of("t", Place("test", "main", "D-ada", Audience.DIRECT)))
FIRST = Takeover("a", "t", HERE, OLGA, "Olga", ADA, AT, AT)


@pytest.fixture
def store(engine: Engine) -> TakeoverStore:
    return TakeoverStore(engine)


async def test_a_conversation_is_taken_once(store: TakeoverStore) -> None:
    assert await store.take(FIRST, AT - HOUR)
    assert not await store.take(replace(FIRST, id="b", operator=OTTO), AT - HOUR)
    assert await store.of(HERE) == FIRST
    assert await store.find("a") == FIRST
    assert await store.find("b") is None
    assert await store.of("other") is None


async def test_one_that_became_idle_is_replaced(store: TakeoverStore) -> None:
    await store.take(FIRST, AT - HOUR)
    await store.share("a")
    later = replace(FIRST, id="b", operator=OTTO, since=AT + HOUR, active=AT + HOUR)
    assert await store.take(later, AT + HOUR)
    assert await store.of(HERE) == later
    assert not await store.share("a")
    assert not await store.took_part("a", AT)


async def test_the_operator_takes_part_and_the_person_shares(store: TakeoverStore) -> None:
    await store.take(FIRST, AT - HOUR)
    assert await store.took_part("a", AT + HOUR)
    assert await store.share("a")
    assert await store.of(HERE) == replace(FIRST, active=AT + HOUR, shared=True)


async def test_a_conversation_is_given_back_once(store: TakeoverStore) -> None:
    await store.take(FIRST, AT - HOUR)
    assert [await store.end("a", AT), await store.end("a", AT)] == [True, False]
    assert await store.of(HERE) is None
    assert await store.take(replace(FIRST, id="b"), AT - HOUR)
    assert not await store.share("a")


async def test_takeovers_of_the_tenant_are_listed(store: TakeoverStore) -> None:
    await store.take(FIRST, AT - HOUR)
    await store.take(replace(FIRST, id="b", tenant="u", conversation="x"), AT - HOUR)
    assert await store.listed("t", AT, 10) == [FIRST]
    assert await store.listed("t", AT + HOUR, 10) == []


async def test_old_ones_are_deleted(store: TakeoverStore) -> None:
    await store.take(FIRST, AT - HOUR)
    assert await store.prune(AT) == 0
    assert await store.prune(AT + HOUR) == 1
    assert await store.of(HERE) is None


async def records(engine: Engine, person: str) -> list[dict[str, object]]:
    """The takeovers in the export of a person."""
    rows = await SqlPersonalData(engine, FakeClock()).export("t", [person])
    return [one for one in rows if one["table"] == "takeovers"]


@pytest.mark.parametrize("person", [ADA, OLGA])
async def test_the_takeover_of_an_erased_person_ends(
    store: TakeoverStore, engine: Engine, person: str
) -> None:
    personal = SqlPersonalData(engine, FakeClock())
    await store.take(FIRST, AT - HOUR)
    (row,) = await records(engine, person)
    assert (row["conversation"], row["active"]) == (HERE, AT.timestamp())
    assert await personal.export("u", [person]) == []
    await personal.erase("u", [person])
    assert await store.of(HERE) is not None
    await personal.erase("t", [person])
    assert await store.of(HERE) is None


async def test_the_record_of_a_takeover_stays_with_the_person_until_they_erase_it(
    store: TakeoverStore, engine: Engine
) -> None:
    personal, ended = SqlPersonalData(engine, FakeClock()), replace(FIRST, id="z")
    await store.take(ended, AT - HOUR)
    await store.end("z", AT)
    await store.take(FIRST, AT - HOUR)
    await personal.erase("t", [OLGA])
    kept = await records(engine, ADA)
    assert {(one["id"], one["operator"], one["name"]) for one in kept} == {
        ("a", OLGA, "Olga"),
        ("z", OLGA, "Olga"),
    }
    assert all(one["ended"] is not None for one in kept)
    assert await personal.erase("t", [OLGA]) == 0
    await personal.erase("t", [ADA])
    assert await records(engine, ADA) == await records(engine, OLGA) == []


async def test_the_takeover_of_a_room_is_erased_with_its_operator(
    store: TakeoverStore, engine: Engine
) -> None:
    await store.take(replace(FIRST, person=""), AT - HOUR)
    await SqlPersonalData(engine, FakeClock()).erase("t", [OLGA])
    assert await records(engine, OLGA) == []


async def test_the_record_of_a_reading_stays_with_the_person_until_they_erase_it(
    engine: Engine,
) -> None:
    grants, clock = TextGrantStore(engine), FakeClock()
    personal, now = SqlPersonalData(engine, clock), clock.now()
    grant = TextGrant("g", "t", OLGA, ADA, HERE, now - HOUR, now + HOUR, "an urgent case")
    await grants.add(grant)
    await grants.add(replace(grant, id="h", until=now + HOUR + HOUR))
    assert (await grants.of("t", OLGA, HERE, now)) == replace(grant, id="h", until=now + 2 * HOUR)
    await personal.erase("t", [OLGA])
    assert await grants.of("t", OLGA, HERE, now) is None
    assert await grants.count("t", OLGA, now) == 0
    rows = [one for one in await personal.export("t", [ADA]) if one["table"] == "text_grants"]
    assert {(one["id"], one["operator"], one["reason"]) for one in rows} == {
        ("g", OLGA, "an urgent case"),
        ("h", OLGA, "an urgent case"),
    }
    assert await personal.erase("t", [OLGA]) == 0
    assert await personal.erase("t", [ADA]) == 2
    assert await personal.export("t", [OLGA]) == []
