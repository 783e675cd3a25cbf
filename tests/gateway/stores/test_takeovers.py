"""Takeovers on both databases."""

from datetime import timedelta

import pytest

from gateway.conversation import key_of
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience
from gateway.ports.takeovers import Takeover
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.takeovers import TakeoverStore
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
    assert [await store.end("a"), await store.end("a")] == [True, False]
    assert await store.of(HERE) is None


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


@pytest.mark.parametrize("person", [ADA, OLGA])
async def test_the_takeover_of_an_erased_person_ends(
    store: TakeoverStore, engine: Engine, person: str
) -> None:
    personal = SqlPersonalData(engine, FakeClock())
    await store.take(FIRST, AT - HOUR)
    (row,) = [one for one in await personal.export("t", [person]) if one["table"] == "takeovers"]
    assert (row["conversation"], row["active"]) == (HERE, AT.timestamp())
    assert await personal.export("u", [person]) == []
    await personal.erase("u", [person])
    assert await store.of(HERE) is not None
    await personal.erase("t", [person])
    assert await store.of(HERE) is None
