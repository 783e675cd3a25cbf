"""Counts, waiting messages and quiet hours of people and places, in both databases."""

import asyncio
from datetime import timedelta

import pytest

from gateway.immutable import replace
from gateway.message import Choice, Notice, Place
from gateway.people import Audience
from gateway.ports.proactive import PendingNotice, WaitingNotice
from gateway.stores import proactive
from gateway.stores.people_languages import PeopleLanguages
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.proactive import DayCount, ProactiveStore
from gateway.text import label, text, verbatim
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT

ADA, BOB = "test:main:ada", "test:main:bob"
DAY = "2026-11-21"
LATER = AT + timedelta(hours=8)


def pending(key: str = "k1", person: str = ADA, words: str = "Water the plants") -> PendingNotice:
    said = text("I remind you: {words}", words=verbatim(words))
    place = Place("test", "main", person.rpartition(":")[2], Audience.DIRECT)
    buttons = (Choice(label("Undo"), "undo:1", typed=label("undo")),)
    notice = Notice(person, place, said, buttons, LATER + timedelta(days=1))
    return PendingNotice("t", key, notice, "asked", AT, as_member=True)


@pytest.fixture
def store(engine: Engine) -> ProactiveStore:
    return ProactiveStore(engine)


async def test_a_day_counts_each_message_once_up_to_the_limit(store: ProactiveStore) -> None:
    assert await store.count("t", ADA, DAY, "k1", 2, AT) == 1
    assert await store.count("t", ADA, DAY, "k1", 2, AT) == 1, "repeated"
    assert await store.counted("t", ADA, DAY, "k1") == DayCount(1, counted=True)
    assert await store.count("t", ADA, DAY, "k2", 2, AT) == 2
    assert not await store.count("t", ADA, DAY, "k3", 2, AT)
    assert await store.count("t", ADA, DAY, "k2", 2, AT), "counted before, so it may be sent"
    assert await store.count("t", ADA, "2026-11-22", "k3", 2, AT), "another day"
    assert await store.count("t", BOB, DAY, "k3", 2, AT), "another person"
    assert await store.count("u", ADA, DAY, "k3", 2, AT), "another tenant"
    assert await store.count("t", ADA, DAY, "k4", 0, AT), "no limit"


@pytest.mark.both_engines
async def test_the_limit_is_exact_for_callers_at_once(store: ProactiveStore) -> None:
    taken = await asyncio.gather(
        *(store.count("t", ADA, DAY, f"k{n}", 5, AT) for n in range(30)),
        *(store.count("t", BOB, DAY, f"k{n}", 5, AT) for n in range(10)),
    )
    assert sorted(filter(None, taken[:30])) == [1, 2, 3, 4, 5]
    assert sorted(filter(None, taken[30:])) == [1, 2, 3, 4, 5]


async def test_a_message_waits_until_its_time_and_keeps_everything(store: ProactiveStore) -> None:
    assert await store.hold(pending(), LATER, "quiet_hours", AT)
    assert await store.due(LATER - timedelta(seconds=1), 10) == []
    (waiting,) = await store.due(LATER, 10)
    assert waiting == WaitingNotice(pending(), "quiet_hours", AT)


async def test_the_same_message_waits_once_in_its_first_form(store: ProactiveStore) -> None:
    assert await store.hold(pending(), LATER, "quiet_hours", AT)
    assert await store.hold(pending(words="other"), AT, "daily_limit", LATER)
    (waiting,) = await store.due(LATER, 10)
    assert waiting == WaitingNotice(pending(), "quiet_hours", AT)


async def test_a_wait_can_become_longer_or_end(store: ProactiveStore) -> None:
    await store.hold(pending(), AT, "quiet_hours", AT)
    await store.delay(pending(), LATER, "daily_limit")
    assert await store.due(AT, 10) == []
    (waiting,) = await store.due(LATER, 10)
    assert waiting.reason == "daily_limit"
    await store.drop(pending())
    assert await store.due(LATER, 10) == []


async def test_the_number_and_the_length_are_bounded(
    store: ProactiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proactive, "MAX_WAITING", 3)
    held = [await store.hold(pending(f"k{n}"), LATER, "daily_limit", AT) for n in range(5)]
    assert held == [True, True, True, False, False]
    assert await store.hold(pending("k2"), LATER, "daily_limit", AT), "it waits already"
    assert await store.hold(pending("k9", BOB), LATER, "daily_limit", AT)
    assert not await store.hold(pending("long", BOB, "x" * 40_000), LATER, "daily_limit", AT)


async def test_a_batch_is_chosen_once(store: ProactiveStore) -> None:
    """Two processes that release the same messages never send one of them twice."""
    for number in range(4):
        await store.hold(pending(f"k{number}"), AT, "quiet_hours", AT)
    first = await store.choose("t", ["k0", "k1"], "one")
    second = await store.choose("t", ["k0", "k1", "k2"], "two")
    assert [one.pending.key for one in first] == ["k0", "k1"]
    assert [one.pending.key for one in second] == ["k2"]
    assert await store.batch("t", "one") == first
    batches = {one.pending.key: one.batch for one in await store.due(AT, 10)}
    assert batches == {"k0": "one", "k1": "one", "k2": "two", "k3": ""}
    await store.end_batch("t", "one", AT)
    assert [one.pending.key for one in await store.due(AT, 10)] == ["k2", "k3"]


async def test_a_sent_message_is_not_stored_again(store: ProactiveStore) -> None:
    assert not await store.is_held(pending())
    await store.hold(pending(), AT, "quiet_hours", AT)
    assert await store.is_held(pending())
    await store.choose("t", ["k1"], "one")
    await store.end_batch("t", "one", AT)
    assert await store.is_held(pending())
    await store.hold(pending(), AT, "quiet_hours", AT)
    assert await store.due(LATER, 10) == []
    assert await store.batch("t", "one") == []
    assert await store.prune(AT + timedelta(days=1)) == 0
    assert await store.prune(AT + timedelta(days=3)) == 1
    assert not await store.is_held(pending())


async def test_what_waits_for_a_person_becomes_due_when_they_write(store: ProactiveStore) -> None:
    await store.hold(pending("k1"), LATER, "window_closed", AT)
    await store.hold(pending("k2"), LATER, "quiet_hours", AT)
    await store.hold(pending("k3", BOB), LATER, "window_closed", AT)
    assert sorted(await store.blocked(10)) == [("t", ADA), ("t", BOB)]
    await store.unblock("t", ADA, AT)
    assert [one.pending.key for one in await store.due(AT, 10)] == ["k1"]


async def test_places_have_quiet_hours_of_their_own(
    store: ProactiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proactive, "MAX_PLACES", 2)
    assert await store.quiet_hours_of("t", "C1") == ""
    assert await store.set_quiet_hours("t", "C1", "20:00-08:00", AT)
    assert await store.set_quiet_hours("t", "C2", "off", AT)
    assert not await store.set_quiet_hours("t", "C3", "off", AT), "too many"
    assert await store.set_quiet_hours("t", "C2", "21:00-08:00", AT), "has some"
    assert await store.quiet_hours_of("t", "C1") == "20:00-08:00"
    assert await store.quiet_hours_of("u", "C1") == ""
    await store.set_quiet_hours("t", "C1", "", AT)
    assert await store.quiet_hours_of("t", "C1") == ""


async def test_old_counts_are_deleted(store: ProactiveStore) -> None:
    await store.count("t", ADA, DAY, "k1", 2, AT)
    await store.count("t", ADA, DAY, "k2", 2, LATER)
    assert await store.prune_sent(AT + timedelta(hours=1)) == 1
    assert (await store.counted("t", ADA, DAY, "k1")) == DayCount(1, counted=False)


async def test_it_is_exported_and_erased_with_its_person(
    store: ProactiveStore, engine: Engine, clock: FakeClock
) -> None:
    languages, personal = PeopleLanguages(engine), SqlPersonalData(engine, clock)
    for person in (ADA, BOB):
        await languages.put_quiet("t", person, "22:00-07:00", AT)
        await store.count("t", person, DAY, "k1", 2, AT)
        await store.hold(pending(f"of-{person}", person), LATER, "quiet_hours", AT)
    rows = {str(row["table"]): row for row in await personal.export("t", (ADA,))}
    assert rows["people_languages"]["quiet"] == "22:00-07:00"
    assert rows["proactive_sent"]["reader"] == ADA
    assert "Water the plants" in str(rows["proactive_waiting"]["body"])
    assert rows["proactive_waiting"]["due"] == LATER.timestamp()
    assert len(await personal.count("t", (ADA,))) == 3
    await personal.erase("t", (ADA,))
    assert await personal.export("t", (ADA,)) == []
    assert (await languages.of("t", BOB)).quiet == "22:00-07:00"
    assert [one.pending.notice.person for one in await store.due(LATER, 10)] == [BOB]


async def test_quiet_hours_and_zones_of_a_person_do_not_change_each_other(engine: Engine) -> None:
    languages = PeopleLanguages(engine)
    await languages.put_quiet("t", ADA, "22:00-07:00", AT)
    await languages.put_zones("t", ADA, "Europe/Zurich", "", AT)
    await languages.put("t", ADA, "de", "", AT)
    kept = await languages.of("t", ADA)
    assert (kept.quiet, kept.zone, kept.chosen) == ("22:00-07:00", "Europe/Zurich", "de")
    await languages.put_quiet("t", ADA, "off", LATER)
    assert await languages.of("t", ADA) == replace(kept, quiet="off", at=LATER)
