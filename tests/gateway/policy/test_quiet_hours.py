"""Quiet hours: what people type, and the first minute after them in every zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from gateway.policy.quiet_hours import OFF, QuietHours, QuietHoursText, in_force

ZURICH = ZoneInfo("Europe/Zurich")
NIGHT = QuietHours(22 * 60, 7 * 60)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("typed", "hours"),
    [
        ("22:00-07:00", "22:00-07:00"),
        ("22-7", "22:00-07:00"),
        ("22:00 – 7:30", "22:00-07:30"),
        ("10pm-7 AM", "22:00-07:00"),
        ("12am-12pm", "00:00-12:00"),
        ("20h30-08h00", "20:30-08:00"),
        ("18:00-24:00", "18:00-00:00"),
    ],
)
def test_what_people_type_is_read(typed: str, hours: str) -> None:
    assert str(QuietHours.of(typed)) == hours


@pytest.mark.parametrize(
    "typed",
    [
        *("", "22:00", "22:00-", "-", "22:00-22:00", "25-7", "22:60-7", "13pm-7", "0am-7"),
        *("24:30-7", "22:00-07:00 please", "22--7", "٢٢-٧", "9" * 50 + "-7", "22-7" + " " * 60),
    ],
)
def test_anything_else_is_refused(typed: str) -> None:
    assert QuietHours.of(typed) is None


def test_hours_over_midnight_and_within_a_day() -> None:
    for local, hours, end in [
        ("2026-11-21 23:30", NIGHT, "2026-11-22 07:00"),
        ("2026-11-22 06:59", NIGHT, "2026-11-22 07:00"),
        ("2026-11-22 07:00", NIGHT, None),
        ("2026-11-22 21:59", NIGHT, None),
        ("2026-11-22 13:00", QuietHours(12 * 60, 14 * 60), "2026-11-22 14:00"),
        ("2026-11-22 14:00", QuietHours(12 * 60, 14 * 60), None),
    ]:
        now = datetime.fromisoformat(local).replace(tzinfo=ZURICH).astimezone(UTC)
        over = hours.over_at(now, ZURICH)
        shown = None if over is None else f"{over.astimezone(ZURICH):%Y-%m-%d %H:%M}"
        assert shown == end, local


def test_days_on_which_the_clock_changes() -> None:
    """The night of 28 to 29 March 2026 has one hour less, that of 24 to 25 October one more."""
    spring, autumn = (datetime(2026, *day, 21, 30, tzinfo=UTC) for day in ((3, 28), (10, 24)))
    assert NIGHT.over_at(spring, ZURICH) == datetime(2026, 3, 29, 5, tzinfo=UTC)
    assert NIGHT.over_at(autumn, ZURICH) == datetime(2026, 10, 25, 6, tzinfo=UTC)
    # 02:30 is skipped in March: the hours end with the jump. In October it comes twice.
    early = QuietHours(22 * 60, 2 * 60 + 30)
    assert early.over_at(spring, ZURICH) == datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert early.over_at(autumn, ZURICH) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    second = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)
    assert early.over_at(second, ZURICH) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


HOURS = st.builds(QuietHours, st.integers(0, 1439), st.integers(0, 1439)).filter(
    lambda hours: hours.start != hours.end
)
CHANGING = (
    *("Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"),
    *("America/Santiago", "Pacific/Apia", "Asia/Kathmandu", "Asia/Beirut", "Antarctica/Troll"),
)
NEAR_CHANGES = st.sampled_from(
    [
        datetime(year, month, day, tzinfo=UTC)
        for year in (2011, 2025, 2026, 2027)
        for month, day in ((3, 8), (3, 29), (4, 5), (9, 6), (10, 25), (11, 1), (12, 30))
    ]
)


@given(HOURS, st.sampled_from(CHANGING), NEAR_CHANGES, st.integers(0, 3 * 1440 * 60))
def test_the_end_is_the_first_minute_outside(
    hours: QuietHours, name: str, day: datetime, seconds: int
) -> None:
    """Compared with a look at the clock minute by minute."""
    zone, now = ZoneInfo(name), day + timedelta(seconds=seconds)
    minute = now.replace(second=0)
    while hours.include(minute, zone):
        minute += MINUTE
    expected = None if minute == now.replace(second=0) else minute
    assert hours.over_at(now, zone) == expected


def test_every_zone_has_an_end() -> None:
    now = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    for name in sorted(available_timezones()):
        zone = ZoneInfo(name)
        over = QuietHours(0, 1439).over_at(now, zone)
        assert over is None or not QuietHours(0, 1439).include(over, zone), name


def test_a_choice_replaces_the_default() -> None:
    assert in_force("", "") is None
    assert in_force("", "22:00-07:00") == NIGHT
    assert in_force(OFF, "22:00-07:00") is None
    assert in_force("20:00-08:00", "22:00-07:00") == QuietHours(20 * 60, 8 * 60)
    assert in_force("of another version", "22:00-07:00") == NIGHT


def test_the_configuration_takes_hours_or_none() -> None:
    class Holder(BaseModel):
        hours: QuietHoursText = ""

    assert Holder(hours="22-7").hours == "22:00-07:00"
    assert Holder(hours="off").hours == ""
    with pytest.raises(ValidationError, match="such as 22:00-07:00"):
        Holder(hours="at night")
