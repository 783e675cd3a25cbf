"""The request of the model becomes a time and a rule, or an error that says what to write."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from gateway.appointments.recurrence import LAST, Rule
from gateway.appointments.request import Arguments, read_arguments, rule_of, schedule_of
from gateway.errors import ToolError

ZURICH = ZoneInfo("Europe/Zurich")
NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)  # Monday, 09:00 there
FRIDAY = datetime.fromisoformat("2026-12-04T09:00")


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("day", Rule("day")),
        ("every 3 days", Rule("day", 3)),
        ("weekday", Rule("week", 1, (0, 1, 2, 3, 4))),
        ("week", Rule("week", 1, (4,))),
        ("2 weeks", Rule("week", 2, (4,))),
        ("mon,thu", Rule("week", 1, (0, 3))),
        ("Mondays and Thursdays", Rule("week", 1, (0, 3))),
        ("2 weeks on fri", Rule("week", 2, (4,))),
        ("month", Rule("month", day=4)),
        ("3 months", Rule("month", 3, day=4)),
        ("first Monday", Rule("month", 1, (0,), 1)),
        ("last fri of the month", Rule("month", 1, (4,), LAST)),
        ("2 months first mon", Rule("month", 2, (0,), 1)),
        ("last day", Rule("month", day=LAST)),
        ("year", Rule("year")),
    ],
)
def test_a_rule_is_read(written: str, rule: Rule) -> None:
    assert rule_of(written, FRIDAY) == rule


@pytest.mark.parametrize(
    "written",
    [
        "",
        "hour",
        "fifth monday",
        "0 days",
        "999 days",
        "moon",
        "day mon",
        "first",
        "month 3 4",
        "9" * 40,
    ],
)
def test_another_rule_is_refused_with_the_forms(written: str) -> None:
    with pytest.raises(ToolError, match=r"every: one of day.*last day"):
        rule_of(written, FRIDAY)


def test_a_local_time_is_in_the_zone_of_the_person() -> None:
    schedule = schedule_of(Arguments(at="2026-12-04T09:00"), NOW, ZURICH)
    assert (schedule.due, schedule.zone, schedule.follows) == (FRIDAY, "Europe/Zurich", True)
    named = schedule_of(Arguments(at="2026-12-04 09:00", zone="Asia/Tokyo"), NOW, ZURICH)
    assert (named.due, named.zone, named.follows) == (FRIDAY, "Asia/Tokyo", False)


def test_a_number_of_minutes_is_an_instant() -> None:
    schedule = schedule_of(Arguments(in_minutes=120), NOW, ZURICH)
    assert schedule.due == datetime.fromisoformat("2026-11-30T11:00")
    assert not schedule.follows


def test_a_rule_begins_with_its_first_time_from_now_on() -> None:
    asked = Arguments(at="2026-11-30T08:00", every="weekday", until=date(2026, 12, 1))
    assert schedule_of(asked, NOW, ZURICH).due == datetime.fromisoformat("2026-12-01T08:00")
    with pytest.raises(ToolError, match="no time left"):
        schedule_of(asked, NOW + timedelta(days=1), ZURICH)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "at: a local day"),
        ({"at": "tomorrow at nine"}, "at: a local day"),
        ({"at": "2026-12-04"}, "at: a local day"),
        ({"at": "2026-12-04T09:00+01:00"}, "without an offset"),
        ({"at": "2026-12-04T09:00Z"}, "without an offset"),
        ({"at": "2026-11-30T08:59"}, r"past; now it is Monday, 30 November 2026, 09:00 \(Europe/Z"),
        ({"at": "2099-01-01T00:00"}, "ten years"),
        ({"at": "2026-12-04T09:00", "zone": "Zurich"}, "zone: a name"),
        ({"at": "2026-12-04T09:00", "in_minutes": 5}, "not both"),
        ({"in_minutes": 0}, "in_minutes"),
        ({"who": "Bob", "in_minutes": 5}, "who"),
        ({"text": "x" * 1_001, "in_minutes": 5}, "text"),
    ],
)
def test_an_error_says_what_to_write(given: dict[str, object], problem: str) -> None:
    with pytest.raises(ToolError, match=problem):
        schedule_of(read_arguments(given), NOW, ZURICH)
