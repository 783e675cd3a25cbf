"""Names of time zones, and the cities by which people know them."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from gateway.people import Audience
from gateway.text import ENGLISH, Moment, day_in
from gateway.zones import (
    MAX_SUGGESTED,
    TimePolicy,
    first_zone,
    meant,
    place_zone,
    similar,
    system_zone,
    zone_named,
)
from tests.support.for_each import for_each
from tests.support.messages import place


@for_each(
    ("typed", "zone"),
    [
        *(("Zürich", "Europe/Zurich"), ("zurich", "Europe/Zurich"), ("Zúrich", "Europe/Zurich")),
        *(("東京", "Asia/Tokyo"), ("Москва", "Europe/Moscow"), ("القاهرة", "Africa/Cairo")),
        *(("new york", "America/New_York"), ("Nueva York", "America/New_York")),
        *(("İstanbul", "Europe/Istanbul"), ("서울", "Asia/Seoul"), ("Kiew", "Europe/Kyiv")),
        *(("europe/zurich", "Europe/Zurich"), ("Buenos Aires", "America/Argentina/Buenos_Aires")),
    ],
)
def test_a_city_is_known_in_every_language(typed: str, zone: str) -> None:
    assert zone in meant(typed)


@for_each(("typed", "zone"), [("Europe/Zurch", "Europe/Zurich"), ("berln", "Europe/Berlin")])
def test_a_misspelt_zone_has_suggestions(typed: str, zone: str) -> None:
    assert meant(typed) == ()
    assert zone in similar(typed)[:MAX_SUGGESTED]


@pytest.mark.parametrize(
    "name", ["", "../UTC", "/etc/passwd", "Europe", "x" * 5_000, "Europe/Zurich\0", "UTC+2", "𝟜"]
)
def test_other_texts_are_no_zones(name: str) -> None:
    assert zone_named(name) is None
    similar(name)


@for_each(
    ("chosen", "told", "of_place", "default", "zone"),
    [
        ("Asia/Tokyo", "Europe/Zurich", "Europe/Rome", "UTC", "Asia/Tokyo"),
        ("", "Europe/Zurich", "Europe/Rome", "UTC", "Europe/Zurich"),
        ("", "Mars/Olympus", "Europe/Rome", "UTC", "Europe/Rome"),
        ("", "", "", "Europe/Berlin", "Europe/Berlin"),
        ("", "", "", "", "UTC"),
    ],
)
def test_the_choice_comes_before_the_platform_the_place_and_the_installation(
    chosen: str, told: str, of_place: str, default: str, zone: str
) -> None:
    assert str(first_zone(chosen, told, of_place, default)) == zone


def test_a_place_has_the_zone_of_its_channel_or_workspace() -> None:
    room = place(audience=Audience.PRIVATE_ROOM)
    times = TimePolicy(places={room.channel_id: "Asia/Tokyo"})
    assert place_zone(times, room) == "Asia/Tokyo"
    assert place_zone(TimePolicy(), room) == ""


def test_a_wrong_zone_in_the_configuration_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ValidationError, match=r"Did you mean Europe/Zurich\?"):
        TimePolicy(zone="Europe/Zurch")


def test_the_zone_of_the_machine_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Lisbon")
    system_zone.cache_clear()
    assert TimePolicy().default == "Europe/Lisbon"
    assert TimePolicy(zone="Europe/Paris").default == "Europe/Paris"
    monkeypatch.setenv("TZ", "nowhere")
    system_zone.cache_clear()
    assert zone_named(TimePolicy().default) is not None
    system_zone.cache_clear()


@for_each(
    ("zone", "shown"),
    [
        ("UTC", "2026-11-27 23:30 UTC"),
        ("Europe/Zurich", "2026-11-28 00:30 CET"),
        ("America/Sao_Paulo", "2026-11-27 20:30 UTC-03"),
    ],
)
def test_moments_are_shown_in_the_zone_of_their_reader(zone: str, shown: str) -> None:
    at = datetime(2026, 11, 27, 23, 30, tzinfo=UTC)
    assert ENGLISH.in_zone(ZoneInfo(zone)).value(Moment(at)) == shown
    assert ENGLISH.value(Moment(at)) == "2026-11-27 23:30 UTC"


def test_a_day_has_its_weekday() -> None:
    late = datetime(2026, 11, 26, 23, 30, tzinfo=UTC)
    assert day_in(late, UTC) == "Thursday, 26 November 2026"
    assert day_in(late, ZoneInfo("Europe/Zurich")) == "Friday, 27 November 2026"
