"""Keys of people over time: a number that comes back is another person unless Meta signs it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from adapters.whatsapp.identity import UNCONFIRMED, Identities, under_key
from adapters.whatsapp.parse import Identity, IdentityChange
from gateway.message import MessageAuthor, MessageReceived
from gateway.people import KnownIds
from gateway.ports import kept_ids
from gateway.stores.sqlite.adapter_states import SqliteAdapterStates
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.messages import direct, message

P, Q = "4915550000001", "4915550000002"
ADA, BOB = "DE.ada", "DE.bob"


@dataclass
class Rig:
    identities: Identities
    clock: FakeClock
    states: SqliteAdapterStates

    async def key(self, user_id: str = "", phone: str = "") -> str:
        who = Identity(user_id, phone)
        key = await self.identities.key(who)
        await self.identities.store_ids(key, who)
        return key

    async def moved(self, before: Identity, after: Identity) -> bool:
        return await self.identities.change(IdentityChange(before, after))

    async def silence(self, time: timedelta) -> None:
        await self.clock.advance(time.total_seconds() + 1)


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    clock, database = FakeClock(), sqlite_database(":memory:")
    await database.start()
    states = SqliteAdapterStates(database, clock)
    yield Rig(Identities(states.of("whatsapp", "main")), clock, states)
    await database.stop()


async def test_a_number_without_a_user_id_is_the_same_person_for_a_limited_time(rig: Rig) -> None:
    first = await rig.key(phone=P)
    assert first == P
    await rig.silence(UNCONFIRMED / 2)
    assert await rig.key(phone=P) == first
    await rig.silence(UNCONFIRMED / 2)
    assert await rig.key(phone=P) == first
    await rig.silence(UNCONFIRMED)
    second = await rig.key(phone=P)
    assert second != first
    assert await rig.identities.address(second) == P
    assert await rig.key(phone=P) == second
    await rig.silence(UNCONFIRMED)
    assert await rig.key(phone=P) not in (first, second)


async def test_after_that_time_a_user_id_does_not_take_over_its_number(rig: Rig) -> None:
    first = await rig.key(phone=P)
    await rig.silence(UNCONFIRMED)
    assert await rig.key(BOB, P) == BOB != first


async def test_a_number_alone_is_not_the_person_of_an_old_user_id(rig: Rig) -> None:
    assert await rig.key(ADA, P) == ADA
    assert await rig.key(phone=P) == ADA
    await rig.silence(UNCONFIRMED)
    assert await rig.key(phone=P) != ADA
    assert await rig.key(ADA, P) == ADA


async def test_a_person_key_that_is_a_number_is_not_given_to_its_next_owner(rig: Rig) -> None:
    key = await rig.key(phone=P)
    assert await rig.key(ADA, P) == key
    await rig.moved(Identity(ADA, P), Identity(ADA, Q))
    assert await rig.key(ADA, Q) == key
    assert await rig.key(BOB, P) == BOB
    await rig.moved(Identity(BOB, P), Identity(BOB, "4915550000003"))
    assert await rig.key(phone=P) not in (key, ADA, BOB)


async def test_a_number_with_another_user_id_is_another_person(rig: Rig) -> None:
    assert await rig.key(ADA, P) == ADA
    assert await rig.key(BOB, P) == BOB
    assert await rig.key(ADA) == ADA
    assert await rig.key(phone=P) == BOB


async def test_a_change_to_a_number_alone_moves_no_person_with_a_user_id(rig: Rig) -> None:
    """The number may belong to another person before the event of the change arrives."""
    assert await rig.key(BOB, P) == BOB
    assert not await rig.moved(Identity(phone=P), Identity(ADA, Q))
    assert await rig.key(ADA, Q) == ADA
    assert await rig.key(phone=Q) == ADA


async def test_a_change_to_the_user_id_of_another_person_is_ignored(rig: Rig) -> None:
    otto = await rig.key(phone=P)
    assert await rig.key(BOB, P) == otto
    assert not await rig.moved(Identity(ADA, Q), Identity(BOB, P))
    assert await rig.key(BOB, P) == otto


async def test_a_change_of_number_keeps_the_person(rig: Rig) -> None:
    assert await rig.key(ADA, P) == ADA
    assert await rig.moved(Identity(ADA, P), Identity("DE.new", Q))
    assert await rig.key("DE.new", Q) == ADA
    only = await rig.key(phone=P)
    assert only != ADA
    assert await rig.moved(Identity(phone=P), Identity(phone="4915550000003"))
    assert await rig.key(phone="4915550000003") == only


async def test_the_ids_of_a_person_are_stored_for_lookups(rig: Rig) -> None:
    await rig.key(ADA, P)
    state = rig.states.of("whatsapp", "main")
    assert await kept_ids(state, ADA) == KnownIds((ADA, P))
    await rig.key(ADA)
    assert await kept_ids(state, ADA) == KnownIds((ADA, P))
    await rig.key(ADA, Q)
    assert await kept_ids(state, ADA) == KnownIds((ADA, Q), (P,))
    await rig.key(BOB, Q)
    assert await kept_ids(state, ADA) == KnownIds((ADA, ""), (P,))
    assert await kept_ids(state, "DE.nobody") is None


def test_former_ids_can_block_a_person_and_give_no_rights() -> None:
    event = MessageReceived("e", message("hello", at=direct(platform="whatsapp")))
    known = KnownIds((ADA, P), (Q,))
    answer = under_key(event, ADA, Identity(ADA), known).message.author
    assert (answer.id, answer.aliases, answer.former) == (ADA, (), (P, Q))
    answer = under_key(event, ADA, Identity(ADA, P), known).message.author
    assert isinstance(answer, MessageAuthor)
    assert (answer.aliases, answer.former) == ((P,), (Q,))


def test_the_number_of_former_ids_is_limited() -> None:
    known = KnownIds()
    for number in range(50):
        known = known.named((ADA, str(number)))
    assert known.current == (ADA, "49")
    assert known.former == tuple(str(number) for number in range(41, 49))
