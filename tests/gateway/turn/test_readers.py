"""Whose language is which: choice, platform, place, installation, in this order."""

from datetime import timedelta

import pytest

from db.sqlite import SqliteDatabase
from gateway.languages.installed import LanguagePolicy, Languages
from gateway.languages.negotiation import language_of_reader
from gateway.message import Place
from gateway.people import Audience
from gateway.stores.people_languages import PeopleLanguages
from gateway.stores.place_zones import PlaceZones
from gateway.turn.readers import KEPT_SECONDS, RENEWED_AFTER, Readers
from gateway.zones import TimePolicy
from tests.support.clock import FakeClock
from tests.support.for_each import for_each

OFFERED = ("en", "de", "fr", "ja", "zh_Hant")
HERE = Place("slack", "main", "C1", Audience.PUBLIC_ROOM, "T1")
ADA = "slack:main:ada"
LANGUAGES = Languages(LanguagePolicy(default="de", places={"slack:T1": "fr", "C2": "ja"}))


@for_each(
    "chosen, told, place, expected",
    [
        ("fr", "de-AT", "ja", "fr"),
        ("", "de-AT", "ja", "de"),
        ("", "xx", "ja", "ja"),
        ("xx", "zh-TW", "", "zh_Hant"),
        ("", "", "", "en"),
        ("", "", "xx", "en"),
    ],
)
def test_the_first_offered_language_counts(
    chosen: str, told: str, place: str, expected: str
) -> None:
    assert language_of_reader(chosen, told, place, "en", OFFERED) == expected


@pytest.fixture
def store(sqlite: SqliteDatabase) -> PeopleLanguages:
    return PeopleLanguages(sqlite)


async def language(readers: Readers, told: str = "", place: Place = HERE) -> str:
    return (await readers.language(LANGUAGES, "t", ADA, place, told)).code


async def test_a_person_reads_what_they_chose_else_what_their_platform_tells(
    store: PeopleLanguages, clock: FakeClock
) -> None:
    readers = Readers(store, clock)
    assert await language(readers) == "fr"
    assert await language(readers, place=Place("slack", "main", "C2", HERE.audience)) == "ja"
    assert await language(readers, place=Place("slack", "main", "C3", HERE.audience)) == "de"
    assert await language(readers, "ja-JP") == "ja"
    await readers.choose("t", ADA, "en")
    assert await language(readers, "ja-JP") == "en"
    await readers.choose("t", ADA, "")
    assert await language(readers, "ja-JP") == "ja"


async def test_what_a_platform_told_is_known_when_it_tells_nothing(
    store: PeopleLanguages, clock: FakeClock
) -> None:
    readers = Readers(store, clock)
    await readers.note(LANGUAGES, "t", ADA, "ja-JP")
    assert await language(Readers(store, clock)) == "ja"
    await readers.note(LANGUAGES, "t", ADA, "")
    assert await language(Readers(store, clock)) == "ja"


async def test_only_news_is_stored(store: PeopleLanguages, clock: FakeClock) -> None:
    readers = Readers(store, clock)
    await readers.note(LANGUAGES, "t", ADA, "de-AT")
    assert (await store.of("t", ADA)).at is None
    await readers.note(LANGUAGES, "t", ADA, "ja")
    first = (await store.of("t", ADA)).at
    await clock.advance(KEPT_SECONDS)
    await readers.note(LANGUAGES, "t", ADA, "ja")
    assert (await store.of("t", ADA)).at == first
    await clock.advance((RENEWED_AFTER + timedelta(seconds=1)).total_seconds())
    await readers.note(LANGUAGES, "t", ADA, "ja")
    assert (await store.of("t", ADA)).at != first


async def test_a_choice_in_another_process_counts_after_a_minute(
    store: PeopleLanguages, clock: FakeClock
) -> None:
    here, there = Readers(store, clock), Readers(store, clock)
    assert await language(here) == "fr"
    await there.choose("t", ADA, "ja")
    assert await language(here) == "fr"
    await clock.advance(KEPT_SECONDS)
    assert await language(here) == "ja"


async def test_a_person_without_a_choice_takes_back_nothing(
    store: PeopleLanguages, clock: FakeClock
) -> None:
    await Readers(store, clock).choose("t", ADA, "")
    assert (await store.of("t", ADA)).at is None


async def test_a_person_has_the_zone_they_chose_else_that_of_platform_place_or_installation(
    store: PeopleLanguages, clock: FakeClock
) -> None:
    readers, times = (
        Readers(store, clock),
        TimePolicy(zone="Asia/Seoul", places={"C2": "Asia/Tokyo"}),
    )
    room = Place("slack", "main", "C2", HERE.audience)

    async def zone(place: Place, told: str = "") -> str:
        return str(await readers.zone(times, "t", ADA, place, told))

    assert await zone(HERE) == "Asia/Seoul"
    assert await zone(room) == "Asia/Tokyo"
    assert await zone(room, "Europe/Rome") == "Europe/Rome"
    assert await zone(room, "../../etc/passwd") == "Asia/Tokyo"
    await readers.note_zone("t", ADA, "Europe/Rome")
    assert await zone(room) == "Europe/Rome"
    await readers.choose_zone("t", ADA, "Europe/Zurich")
    assert await zone(room, "Europe/Rome") == "Europe/Zurich"
    await readers.choose("t", ADA, "de")
    assert await zone(room) == "Europe/Zurich"
    await readers.choose_zone("t", ADA, "")
    assert await zone(room) == "Europe/Rome"


async def test_the_zone_of_a_place_is_kept_and_counts_in_another_process_after_a_minute(
    sqlite: SqliteDatabase, clock: FakeClock
) -> None:
    times = TimePolicy(zone="Asia/Seoul", places={"C1": "Asia/Tokyo"})

    def process() -> Readers:
        return Readers(PeopleLanguages(sqlite), clock, PlaceZones(sqlite))

    here, there = process(), process()

    async def zone(readers: Readers) -> str:
        return str(await readers.zone_of_place(times, "t", HERE))

    assert await zone(here) == "Asia/Tokyo"
    await there.set_zone("t", HERE, "Europe/Rome")
    assert (await zone(here), await zone(there)) == ("Asia/Tokyo", "Europe/Rome")
    await clock.advance(KEPT_SECONDS)
    assert await zone(here) == await zone(process()) == "Europe/Rome"
    assert str(await here.zone(times, "t", ADA, HERE)) == "Europe/Rome"
    assert str(await here.zone(times, "t", ADA, HERE, "Europe/Paris")) == "Europe/Paris"
    assert str(await here.zone_of_place(times, "u", HERE)) == "Asia/Tokyo"
    await here.set_zone("t", HERE, "")
    assert await zone(here) == "Asia/Tokyo"
