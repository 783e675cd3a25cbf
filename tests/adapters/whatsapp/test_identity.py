"""Keys of people over time: a number that comes back is another person unless Meta signs it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.whatsapp.identity import UNCONFIRMED, ChangeEffect, Identities, under_key
from adapters.whatsapp.parse import IdentityChange, PersonIds
from gateway.message import MessageAuthor, MessageReceived
from gateway.people import KnownIds
from gateway.ports import kept_ids
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.messages import direct, message
from tests.support.property_cases import cases

P, Q, R = "4915550000001", "4915550000002", "4915550000003"
ADA, BOB = "DE.ada", "DE.bob"


@dataclass
class Rig:
    identities: Identities
    clock: FakeClock
    states: SqliteAdapterStates

    async def key(self, user_id: str = "", phone: str = "") -> str:
        who = PersonIds(user_id, phone)
        key = await self.identities.key(who)
        await self.identities.store_ids(key, who)
        return key

    async def moved(
        self, before: PersonIds, after: PersonIds, at: datetime | None = None
    ) -> ChangeEffect:
        return await self.identities.change(IdentityChange(before, after, at))

    async def silence(self, time: timedelta) -> None:
        await self.clock.advance(time.total_seconds() + 1)


@asynccontextmanager
async def started() -> AsyncIterator[Rig]:
    clock, database = FakeClock(), sqlite_database(":memory:")
    await database.start()
    states = SqliteAdapterStates(database, clock)
    yield Rig(Identities(states.of("whatsapp", "main")), clock, states)
    await database.stop()


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with started() as made:
        yield made


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
    await rig.moved(PersonIds(ADA, P), PersonIds(ADA, Q))
    assert await rig.key(ADA, Q) == key
    assert await rig.key(BOB, P) == BOB
    await rig.moved(PersonIds(BOB, P), PersonIds(BOB, "4915550000003"))
    assert await rig.key(phone=P) not in (key, ADA, BOB)


async def test_a_number_with_another_user_id_is_another_person(rig: Rig) -> None:
    assert await rig.key(ADA, P) == ADA
    assert await rig.key(BOB, P) == BOB
    assert await rig.key(ADA) == ADA
    assert await rig.key(phone=P) == BOB


async def test_a_change_to_a_number_alone_moves_no_person_with_a_user_id(rig: Rig) -> None:
    """The number may belong to another person before the event of the change arrives."""
    assert await rig.key(BOB, P) == BOB
    assert await rig.moved(PersonIds(phone=P), PersonIds(ADA, Q)) is ChangeEffect.UNCERTAIN
    assert await rig.key(ADA, Q) == ADA
    assert await rig.key(phone=Q) == ADA


async def test_a_change_to_the_user_id_of_another_person_is_ignored(rig: Rig) -> None:
    otto = await rig.key(phone=P)
    assert await rig.key(BOB, P) == otto
    assert await rig.moved(PersonIds(ADA, Q), PersonIds(BOB, P)) is ChangeEffect.CONFLICT
    assert await rig.key(BOB, P) == otto


async def test_a_change_of_number_keeps_the_person(rig: Rig) -> None:
    assert await rig.key(ADA, P) == ADA
    assert await rig.moved(PersonIds(ADA, P), PersonIds("DE.new", Q)) is ChangeEffect.KEPT
    assert await rig.key("DE.new", Q) == ADA
    only = await rig.key(phone=P)
    assert only != ADA
    moved = await rig.moved(PersonIds(phone=P), PersonIds(phone="4915550000003"))
    assert moved is ChangeEffect.KEPT
    assert await rig.key(phone="4915550000003") == only


async def test_a_user_id_that_is_known_is_never_taken_over(rig: Rig) -> None:
    """Also one that was first seen with the person's first message, and is the key itself."""
    assert await rig.key(ADA, P) == ADA
    assert await rig.key(BOB, Q) == BOB
    for after in (
        PersonIds(BOB, P),
        PersonIds(BOB),
        PersonIds(BOB, Q),
        PersonIds(BOB, R),
    ):
        assert await rig.moved(PersonIds(ADA, P), after) is ChangeEffect.CONFLICT
    assert await rig.moved(PersonIds("DE.new"), PersonIds(BOB)) is ChangeEffect.CONFLICT
    assert [await rig.key(BOB), await rig.key(phone=Q)] == [BOB, BOB]
    assert [await rig.key(ADA), await rig.key(phone=P)] == [ADA, ADA]
    assert [await rig.identities.address(one) for one in (ADA, BOB)] == [ADA, BOB]


async def test_two_people_who_are_said_to_have_changed_ids_keep_their_own(rig: Rig) -> None:
    assert [await rig.key(ADA, P), await rig.key(BOB, Q)] == [ADA, BOB]
    assert await rig.moved(PersonIds(ADA, P), PersonIds(BOB, Q)) is ChangeEffect.CONFLICT
    assert await rig.moved(PersonIds(BOB, Q), PersonIds(ADA, P)) is ChangeEffect.CONFLICT
    assert [await rig.key(ADA), await rig.key(BOB)] == [ADA, BOB]


@pytest.mark.parametrize("bob", [BOB, ""])
@pytest.mark.parametrize("ada", [ADA, ""])
async def test_a_number_of_two_people_is_then_of_neither(rig: Rig, ada: str, bob: str) -> None:
    first, second = await rig.key(ada, P), await rig.key(bob, Q)
    assert await rig.moved(PersonIds(ada, P), PersonIds(ada, Q)) is ChangeEffect.CONFLICT
    assert await rig.key(phone=Q) not in (first, second)
    assert await rig.identities.address(first) in (ada, P)
    if ada:
        assert await rig.key(ada, Q) == first
    if bob:
        assert await rig.key(bob) == second


async def test_a_chain_of_changes_keeps_the_person(rig: Rig) -> None:
    assert await rig.key(ADA, P) == ADA
    for before, after in (("ada", "two"), ("two", "three"), ("three", "four")):
        moved = await rig.moved(PersonIds(f"DE.{before}"), PersonIds(f"DE.{after}"))
        assert moved is ChangeEffect.KEPT
    assert await rig.key("DE.four", Q) == ADA
    assert await rig.identities.address(ADA) == "DE.four"


async def test_a_change_that_is_repeated_later_has_no_effect(rig: Rig) -> None:
    at = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2)]
    assert await rig.key(ADA, P) == ADA
    first = PersonIds(ADA, P), PersonIds("DE.two", Q)
    assert await rig.moved(*first, at[0]) is ChangeEffect.KEPT
    assert (
        await rig.moved(PersonIds("DE.two", Q), PersonIds("DE.three", R), at[1])
        is ChangeEffect.KEPT
    )
    nora = await rig.key(phone=Q)
    assert await rig.moved(*first, at[0]) is ChangeEffect.REPEATED
    assert await rig.identities.address(ADA) == "DE.three"
    assert nora != ADA
    assert await rig.key(phone=Q) == nora
    assert await rig.key(phone=R) == ADA


async def test_a_change_before_the_first_message_makes_one_person(rig: Rig) -> None:
    assert await rig.moved(PersonIds(ADA, P), PersonIds("DE.two", Q)) is ChangeEffect.KEPT
    assert await rig.key("DE.two", Q) == await rig.key(ADA)
    assert (
        await rig.moved(PersonIds(phone=R), PersonIds(phone="4915550000009"))
        is ChangeEffect.UNCERTAIN
    )


async def test_people_of_another_account_of_the_bot_are_other_people(rig: Rig) -> None:
    shop = Identities(rig.states.of("whatsapp", "shop"))
    assert await rig.key(ADA, P) == ADA
    assert await shop.change(IdentityChange(PersonIds(BOB), PersonIds(ADA))) is ChangeEffect.KEPT
    assert await rig.key(ADA) == ADA


IDS = st.tuples(st.sampled_from(["", ADA, BOB, "DE.cleo"]), st.sampled_from(["", P, Q, R])).filter(
    any
)
EVENTS = st.one_of(
    st.tuples(st.just("wrote"), IDS, IDS),
    st.tuples(st.just("moved"), IDS, IDS),
    st.tuples(st.just("silence"), IDS, IDS),
)


@settings(max_examples=cases(60), deadline=None)
@given(events=st.lists(EVENTS, max_size=15))
async def test_two_ids_of_different_people_never_become_one_person(
    events: list[tuple[str, tuple[str, str], tuple[str, str]]],
) -> None:
    """A BSUID always keeps its person. A number passes to a person only by a message that has both
    the number and a BSUID of that person, or as a number that nobody else had."""
    async with started() as rig:
        people: dict[str, str] = {}
        for kind, first, second in events:
            if kind == "silence":
                await rig.silence(UNCONFIRMED)
                people = {id_: key for id_, key in people.items() if id_ not in (P, Q, R)}
            elif kind == "moved":
                await rig.moved(PersonIds(*first), PersonIds(*second))
            else:
                await rig.key(*first)
                if first[0]:
                    people = {id_: key for id_, key in people.items() if id_ != first[1]}
            before, people = people, dict(people)
            for id_ in filter(None, first if kind == "wrote" else ()):
                people[id_] = await (rig.key(id_) if "." in id_ else rig.key(phone=id_))
            now = {
                id_: await (rig.key(id_) if "." in id_ else rig.key(phone=id_)) for id_ in people
            }
            for one, other in combinations(before, 2):
                if before[one] != before[other]:
                    assert now.get(one, one) != now.get(other, other), (one, other)
            people = now


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
    answer = under_key(event, ADA, PersonIds(ADA), known).message.author
    assert (answer.id, answer.aliases, answer.former) == (ADA, (), (P, Q))
    answer = under_key(event, ADA, PersonIds(ADA, P), known).message.author
    assert isinstance(answer, MessageAuthor)
    assert (answer.aliases, answer.former) == ((P,), (Q,))


def test_the_number_of_former_ids_is_limited() -> None:
    known = KnownIds()
    for number in range(50):
        known = known.named((ADA, str(number)))
    assert known.current == (ADA, "49")
    assert known.former == tuple(str(number) for number in range(41, 49))
