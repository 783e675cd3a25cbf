"""The languages of people, in both databases."""

from datetime import timedelta

import pytest

from gateway.stores.people_languages import PeopleLanguages, PersonLanguages
from gateway.stores.personal_data import SqlPersonalData
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT

ADA, BOB = "test:main:ada", "test:main:bob"


@pytest.fixture
def languages(engine: Engine) -> PeopleLanguages:
    return PeopleLanguages(engine)


async def test_the_latest_languages_of_a_person_count(languages: PeopleLanguages) -> None:
    assert await languages.of("t", ADA) == PersonLanguages()
    await languages.put("t", ADA, "", "fr", AT)
    await languages.put("t", ADA, "de", "fr", AT)
    assert await languages.of("t", ADA) == PersonLanguages("de", "fr", AT)
    assert await languages.of("t", BOB) == PersonLanguages()
    assert await languages.of("u", ADA) == PersonLanguages()


async def test_they_are_deleted_a_time_after_the_person_wrote_last(
    languages: PeopleLanguages,
) -> None:
    await languages.put("t", ADA, "de", "", AT)
    await languages.put("t", BOB, "fr", "", AT + timedelta(days=1))
    assert await languages.prune(AT + timedelta(hours=1)) == 1
    assert await languages.of("t", ADA) == PersonLanguages()
    assert (await languages.of("t", BOB)).chosen == "fr"


async def test_they_are_exported_and_erased_with_their_person(
    languages: PeopleLanguages, engine: Engine, clock: FakeClock
) -> None:
    personal = SqlPersonalData(engine, clock)
    await languages.put("t", ADA, "de", "en", AT)
    await languages.put("t", BOB, "fr", "en", AT)
    (row,) = await personal.export("t", (ADA,))
    assert (row["table"], row["person"], row["chosen"]) == ("people_languages", ADA, "de")
    assert await personal.erase("t", (ADA,)) == 1
    assert await languages.of("t", ADA) == PersonLanguages()
    assert (await languages.of("t", BOB)).chosen == "fr"


async def test_time_zones_and_languages_do_not_change_each_other(
    languages: PeopleLanguages, engine: Engine, clock: FakeClock
) -> None:
    await languages.put_zones("t", ADA, "", "Asia/Tokyo", AT)
    await languages.put("t", ADA, "de", "fr", AT)
    await languages.put_zones("t", ADA, "Europe/Zurich", "Asia/Tokyo", AT)
    kept = PersonLanguages("de", "fr", AT, "Europe/Zurich", "Asia/Tokyo")
    assert await languages.of("t", ADA) == kept
    personal = SqlPersonalData(engine, clock)
    (row,) = await personal.export("t", (ADA,))
    assert (row["zone"], row["zone_told"]) == ("Europe/Zurich", "Asia/Tokyo")
    await personal.erase("t", (ADA,))
    assert await languages.of("t", ADA) == PersonLanguages()
