"""Appointments in both databases: claims, moves, bounds, export and erasure."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from db import Statement
from gateway.appointments.appointment import Appointment
from gateway.appointments.recurrence import Rule
from gateway.immutable import replace
from gateway.message import Notice
from gateway.ports.proactive import PendingNotice
from gateway.stores.appointments import AT_ONCE, LEASE, MAX_ENDED, AppointmentStore, Full
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.proactive import ProactiveStore
from gateway.text import verbatim
from tests.gateway.appointments.values import ADA, BOB, DIRECT, NINE, NOW, ROOM, appointment
from tests.support.clock import FakeClock
from tests.support.databases import Engine

AT_NINE = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


@pytest.fixture
def store(engine: Engine) -> AppointmentStore:
    return AppointmentStore(engine)


async def added(store: AppointmentStore, one: Appointment) -> Appointment:
    stored = await store.add(one, 50, 200)
    assert isinstance(stored, Appointment)
    return stored


async def test_an_appointment_is_stored_once_with_a_number_of_its_person(
    store: AppointmentStore,
) -> None:
    rule = Rule("week", 2, (0, 3), until=NINE.date() + timedelta(days=90))
    first = appointment(1, rule=rule, place=ROOM, kind="prompt", follows=False)
    stored = await added(store, first)
    assert stored == replace(first, number=1)
    assert await store.find(first.id) == stored
    assert await added(store, replace(first, words="other")) == stored
    assert (await added(store, appointment(2))).number == 2
    assert (await added(store, appointment(3, person=BOB))).number == 1
    assert [one.number for one in await store.of_person("default", ADA)] == [1, 2]
    assert await store.of_person("other", ADA) == []


async def test_people_and_places_have_a_bound(store: AppointmentStore) -> None:
    assert await store.add(appointment(1), 2, 3) != Full(2, True)
    await store.add(appointment(2), 2, 3)
    assert await store.add(appointment(3), 2, 3) == Full(2, True)
    await store.add(appointment(4, person=BOB), 2, 3)
    assert await store.add(appointment(5, person=BOB), 2, 3) == Full(3, False)
    assert isinstance(await store.add(appointment(6, person=BOB, place=ROOM), 2, 3), Appointment)
    over = await store.find(appointment(1).id)
    assert over is not None
    await store.end(over, "done", NOW)
    assert isinstance(await store.add(appointment(7), 2, 3), Appointment)


@pytest.mark.both_engines
async def test_at_once_they_keep_the_bound(store: AppointmentStore) -> None:
    outcomes = await asyncio.gather(*(store.add(appointment(n), 3, 200) for n in range(12)))
    assert sum(isinstance(one, Appointment) for one in outcomes) == 3
    assert sorted(one.number for one in outcomes if isinstance(one, Appointment)) == [1, 2, 3]


async def test_only_what_is_due_is_claimed_and_until_the_claim_ends_once(
    store: AppointmentStore,
) -> None:
    await added(store, appointment(1))
    await added(store, appointment(2, due=NINE + timedelta(hours=1)))
    assert await store.next_at(NOW) == AT_NINE
    assert await store.claim(AT_NINE - timedelta(seconds=1)) == []
    (claimed,) = await store.claim(AT_NINE)
    assert claimed.number == 1
    assert await store.claim(AT_NINE) == []
    assert await store.next_at(AT_NINE) == AT_NINE + LEASE
    (again,) = await store.claim(AT_NINE + LEASE)
    assert again == claimed
    assert await store.advance(claimed, None, AT_NINE)
    assert not await store.advance(claimed, None, AT_NINE)
    assert await store.next_at(AT_NINE) == AT_NINE + timedelta(hours=1)


@pytest.mark.both_engines
async def test_several_processes_claim_each_occurrence_once(store: AppointmentStore) -> None:
    for number in range(2 * AT_ONCE):
        await added(store, appointment(number, person=f"test:main:{number}"))
    claims = await asyncio.gather(*(store.claim(AT_NINE) for _ in range(6)))
    ids = [one.id for claim in claims for one in claim]
    while claim := await store.claim(AT_NINE):
        ids += [one.id for one in claim]
    assert len(ids) == len(set(ids)) == 2 * AT_ONCE


async def test_a_claim_ends_when_the_clock_went_back(store: AppointmentStore) -> None:
    await added(store, appointment(1))
    tomorrow = AT_NINE + timedelta(days=1)
    assert len(await store.claim(tomorrow)) == 1
    assert await store.claim(tomorrow + timedelta(seconds=30)) == []
    assert len(await store.claim(AT_NINE)) == 1


async def test_it_moves_on_from_the_claimed_occurrence_only(store: AppointmentStore) -> None:
    one = await added(store, appointment(1, rule=Rule("day")))
    tomorrow = NINE + timedelta(days=1)
    assert await store.advance(one, tomorrow, AT_NINE, missed=2)
    assert not await store.advance(one, tomorrow + timedelta(days=1), AT_NINE)
    moved = await store.find(one.id)
    assert moved == replace(one, due=tomorrow, missed=2)


async def test_a_change_or_another_zone_makes_the_claim_void(store: AppointmentStore) -> None:
    one = await added(store, appointment(1, rule=Rule("day")))
    assert await store.move(one, "America/New_York")
    assert not await store.advance(one, NINE + timedelta(days=1), AT_NINE)
    assert await store.claim(AT_NINE) == []
    (claimed,) = await store.claim(AT_NINE + timedelta(hours=6))
    assert (claimed.due, claimed.zone) == (NINE, "America/New_York")
    later = replace(claimed, due=NINE + timedelta(days=2), words="other", rule=None)
    assert await store.change(later)
    assert not await store.end(claimed, "done", AT_NINE)
    assert await store.find(one.id) == later


async def test_what_waits_is_claimed_later_at_the_same_occurrence(store: AppointmentStore) -> None:
    await added(store, appointment(1))
    (claimed,) = await store.claim(AT_NINE)
    until = AT_NINE + timedelta(hours=2)
    assert await store.wait(claimed, until)
    assert await store.next_at(AT_NINE) == until
    assert await store.claim(until - timedelta(seconds=1)) == []
    assert await store.claim(until) == [claimed]


async def test_a_paused_one_waits_until_it_is_changed(store: AppointmentStore) -> None:
    one = await added(store, appointment(1, rule=Rule("day")))
    assert await store.end(one, "paused", AT_NINE)
    assert await store.claim(AT_NINE) == []
    (listed,) = await store.of_person("default", ADA)
    assert listed.state == "paused"
    assert await store.change(listed)
    assert len(await store.claim(AT_NINE)) == 1


async def test_only_its_person_removes_it(store: AppointmentStore) -> None:
    one = await added(store, appointment(1))
    assert not await store.remove(replace(one, person=BOB))
    assert await store.remove(one)
    assert not await store.remove(one)


async def test_a_person_has_a_bounded_number_of_ended_ones(
    store: AppointmentStore, engine: Engine
) -> None:
    for number in range(MAX_ENDED + 5):
        one = await added(store, appointment(number))
        await store.end(one, "done", AT_NINE + timedelta(minutes=number))
    last = await added(store, appointment(MAX_ENDED + 5))
    assert last.number == MAX_ENDED + 6
    (count,) = (await engine.fetch(Statement("SELECT count(*) FROM appointments")))[0]
    assert count == MAX_ENDED + 1
    assert await store.find(appointment(0).id) is None


async def test_ended_ones_are_deleted_after_their_time(store: AppointmentStore) -> None:
    over = await added(store, appointment(1))
    await added(store, appointment(2))
    await store.end(over, "done", AT_NINE)
    assert await store.prune(AT_NINE) == 0
    assert await store.prune(AT_NINE + timedelta(seconds=1)) == 1
    assert [one.number for one in await store.of_person("default", ADA)] == [2]


async def test_they_are_exported_and_erased_with_their_person(
    store: AppointmentStore, engine: Engine, clock: FakeClock
) -> None:
    personal = SqlPersonalData(engine, clock)
    await added(store, appointment(1))
    await added(store, appointment(2, person=BOB, place=DIRECT))
    (row,) = await personal.export("default", (ADA,))
    assert (row["table"], row["person"], row["words"]) == ("appointments", ADA, "call the printer")
    assert await personal.erase("default", (ADA,)) == 1
    assert await store.of_person("default", ADA) == []
    assert len(await store.of_person("default", BOB)) == 1


async def test_what_waits_of_one_goes_with_its_removal_and_follows_its_change(
    store: AppointmentStore, engine: Engine
) -> None:
    waiting, daily = ProactiveStore(engine), Rule("day")
    held: list[PendingNotice] = []
    for number, rule in ((1, None), (2, daily), (3, daily)):
        one = await added(store, appointment(number, rule=rule))
        notice = Notice(one.person, one.place, verbatim(one.words))
        held.append(PendingNotice(one.tenant, one.key_of(one.occurrence), notice))
        assert await waiting.hold(held[-1], AT_NINE, "quiet_hours", NOW)
        await store.advance(one, None if rule is None else NINE + timedelta(days=1), AT_NINE)
    assert await waiting.hold(replace(held[0], key="other"), AT_NINE, "quiet_hours", NOW)
    listed = {one.number: one for one in await store.of_person("default", ADA)}
    assert sorted(listed) == [1, 2, 3], "the single one waits"
    assert await store.change(replace(listed[2], words="other"))
    assert await store.change(replace(listed[3], due=NINE + timedelta(days=5)))
    assert await store.remove(listed[1])
    assert [one.pending.key for one in await waiting.due(AT_NINE, 9)] == ["other"]
    listed = {one.number: one for one in await store.of_person("default", ADA)}
    assert {number: one.due for number, one in listed.items()} == {
        2: NINE,
        3: NINE + timedelta(days=5),
    }
    assert not await waiting.is_held(held[1]), "it can wait again"
