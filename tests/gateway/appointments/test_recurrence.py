"""Recurrences: the same times as `dateutil`, in every zone, across each change of the clocks."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from dateutil import rrule
from dateutil.tz import datetime_ambiguous, datetime_exists, resolve_imaginary
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.appointments.recurrence import (
    LAST,
    MOST,
    Rule,
    following,
    following_instant,
    instant_of,
    local_of,
)

FREQUENCIES = {
    "day": rrule.DAILY,
    "week": rrule.WEEKLY,
    "month": rrule.MONTHLY,
    "year": rrule.YEARLY,
}
ZONES = sorted(available_timezones() - {"localtime"})
SOME_ZONES = st.sampled_from(ZONES)


def local(text: str) -> datetime:
    return datetime.fromisoformat(text)


FIRST = st.datetimes(local("2020-01-01"), local("2035-12-31")).map(
    lambda at: at.replace(second=0, microsecond=0, fold=0)
)


def times(rule: Rule, first: datetime, count: int) -> tuple[datetime, ...]:
    """Return the first local times of a rule, at most `count`."""
    found: list[datetime] = []
    after = first - timedelta(microseconds=1)
    for _ in range(count):
        moment = following(rule, first, after)
        if moment is None:
            break
        found.append(moment)
        after = moment
    return tuple(found)


@st.composite
def rules(draw: st.DrawFn) -> tuple[Rule, dict[str, Any]]:
    """A rule, and the same one for `dateutil`."""
    unit = draw(st.sampled_from(["day", "week", "month", "year"]))
    interval = draw(st.integers(1, MOST[unit]))
    until = draw(st.none() | st.dates(date(2020, 1, 1), date(2040, 1, 1)))
    same: dict[str, Any] = {"freq": FREQUENCIES[unit], "interval": interval}
    if until is not None:
        same["until"] = datetime.combine(until, time(23, 59, 59))
    match unit:
        case "week":
            days = tuple(sorted(draw(st.sets(st.integers(0, 6)))))
            same |= {"byweekday": days} if days else {}
            return Rule("week", interval, days, until=until), same
        case "month":
            return draw(monthly(interval, until, same))
        case "year":
            # 29 February is tested by itself: `dateutil` leaves other years out
            return Rule("year", interval, until=until), same
    return Rule("day", interval, until=until), same


@st.composite
def monthly(
    draw: st.DrawFn, interval: int, until: date | None, same: dict[str, Any]
) -> tuple[Rule, dict[str, Any]]:
    if draw(st.booleans()):
        nth, weekday = draw(st.sampled_from([1, 2, 3, 4, LAST])), draw(st.integers(0, 6))
        same["byweekday"] = rrule.weekday(weekday)(nth)
        return Rule("month", interval, (weekday,), nth, until=until), same
    day = draw(st.integers(1, 31) | st.just(LAST))
    # the last day where a month has no such day: the latest of the days up to it
    same |= {"bymonthday": day} if day <= 28 else {"bymonthday": range(28, day + 1), "bysetpos": -1}
    return Rule("month", interval, day=day, until=until), same


@given(rules(), FIRST)
@settings(max_examples=400, deadline=None)
def test_a_rule_gives_the_times_of_dateutil(
    both: tuple[Rule, dict[str, Any]], first: datetime
) -> None:
    rule, same = both
    if rule.unit == "year" and (first.month, first.day) == (2, 29):
        first = first.replace(day=28)
    expected = [*rrule.rrule(dtstart=first, count=None, **same).xafter(first, 12, inc=True)]
    expected = [at for at in expected if at.year < 2200]
    found = times(rule, first, 12)
    assert list(found[: len(expected)]) == expected
    assert len(found) == len(expected)
    for at in found:
        assert following(rule, first, at - timedelta(seconds=1)) == at


@given(FIRST, SOME_ZONES)
@settings(max_examples=400, deadline=None)
def test_a_local_time_is_the_instant_of_dateutil(at: datetime, zone: str) -> None:
    check_instant(at, ZoneInfo(zone))


def check_instant(at: datetime, zone: ZoneInfo) -> None:
    expected = resolve_imaginary(at.replace(tzinfo=zone))
    assert instant_of(at, zone) == expected.astimezone(UTC)
    if datetime_exists(at, zone) and datetime_ambiguous(at, zone):
        assert instant_of(at, zone) < at.replace(tzinfo=zone, fold=1).astimezone(UTC)


def changes(zone: ZoneInfo, year: int) -> list[datetime]:
    """The instants in a year at which the clocks of a zone change, to the minute."""
    found, at = [], datetime(year, 1, 1, tzinfo=UTC)
    end = datetime(year + 1, 1, 1, tzinfo=UTC)
    while at < end:
        later = at + timedelta(days=1)
        if at.astimezone(zone).utcoffset() != later.astimezone(zone).utcoffset():
            low, high = at, later
            while high - low > timedelta(minutes=1):
                middle = low + (high - low) / 2
                same = low.astimezone(zone).utcoffset() == middle.astimezone(zone).utcoffset()
                low, high = (middle, high) if same else (low, middle)
            found.append(high)
        at = later
    return found


@pytest.mark.parametrize("year", [2011, 2026])
def test_around_each_change_of_the_clocks_in_every_zone_each_day_comes_once(year: int) -> None:
    seen = 0
    for name in ZONES:
        zone = ZoneInfo(name)
        for change in changes(zone, year):
            seen += 1
            for minutes in (-90, -45, -15, 0, 15, 45, 90):
                wall = local_of(change, zone).replace(second=0, microsecond=0)
                wall += timedelta(minutes=minutes)
                check_instant(wall, zone)
                first = wall - timedelta(days=3)
                found = times(Rule("day"), first, 7)
                assert [at.date() for at in found] == [
                    first.date() + timedelta(days=number) for number in range(7)
                ]
                at = instant_of(first, zone) - timedelta(seconds=1)
                fired = []
                for _ in range(7):
                    moment = following_instant(Rule("day"), first, zone, at)
                    assert moment is not None
                    at = instant_of(moment, zone)
                    fired.append(moment)
                if year != 2011:  # whole days left out: two of its days are the same instant
                    assert tuple(fired) == found
    assert seen > 100


def test_a_time_in_the_gap_moves_forward_and_one_in_the_fold_comes_first() -> None:
    zurich = ZoneInfo("Europe/Zurich")
    assert instant_of(local("2026-03-29T02:30"), zurich) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert local_of(datetime(2026, 3, 29, 1, 30, tzinfo=UTC), zurich) == local("2026-03-29T03:30")
    assert instant_of(local("2026-10-25T02:30"), zurich) == datetime(
        2026, 10, 25, 0, 30, tzinfo=UTC
    )


def test_a_month_without_the_day_has_its_last_day() -> None:
    rule = Rule("month", day=31)
    assert [at.day for at in times(rule, local("2027-01-31T09:00"), 5)] == [31, 28, 31, 30, 31]
    assert rule.shortens
    assert not Rule("month", day=28).shortens
    leap = times(Rule("year"), local("2028-02-29T09:00"), 5)
    assert [at.day for at in leap] == [29, 28, 28, 28, 29]


def test_a_rule_ends() -> None:
    rule = Rule("week", until=date(2026, 12, 14))
    assert times(rule, local("2026-11-30T09:00"), 9) == (
        local("2026-11-30T09:00"),
        local("2026-12-07T09:00"),
        local("2026-12-14T09:00"),
    )
    assert following(Rule("year", 10), local("2190-01-01T00:00"), local("2195-01-01T00:00")) is None
