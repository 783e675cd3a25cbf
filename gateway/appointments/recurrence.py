"""Rules by which an appointment recurs, and the times that they give.

A rule counts on the clock on the wall: local times without a zone, as people say them. The zone is
attached last, so that "every day at nine" stays at nine when the clocks change. A local time that
the clocks leave out is moved forward by what they leave out; one that they show twice is the first.
"""

from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice
from typing import Final, Literal

from msgspec import Struct

Unit = Literal["day", "week", "month", "year"]
LAST: Final = -1
"""The last day of a month, or the last of a weekday in it."""
MOST: Final = {"day": 366, "week": 52, "month": 24, "year": 10}
"""The longest interval of each unit."""
MAX_TIMES: Final = 5_000
"""Times of one rule that are looked through at once: thirteen years of days."""
LATEST: Final = datetime(2200, 1, 1)  # noqa: DTZ001 - local times have no zone here
"""The time from which on nothing recurs."""
AROUND: Final = timedelta(hours=26)
"""More than the difference of any two local times of one instant."""


class Rule(Struct, frozen=True):
    """A recurrence. Its first time is a local time, which also gives the time of day.

    A month without the `day` has the time on its last day, and so has 29 February in other years.
    """

    unit: Unit
    interval: int = 1
    """Every so many units: 1 to `MOST` of the unit."""
    weekdays: tuple[int, ...] = ()
    """For weeks: the days, Monday is 0. For months with `nth`: one day."""
    nth: int = 0
    """For months: the first (1) to fourth, or the last (-1), of the weekday; 0: by `day`."""
    day: int = 0
    """For months: the day, 1 to 31, or -1 for the last one; 0: that of the first time."""
    until: date | None = None
    """The last local day; None: without an end."""

    @property
    def shortens(self) -> bool:
        """True if some months have no such day, and their last day is taken."""
        return self.unit == "month" and not self.nth and self.day > 28


def following(rule: Rule, first: datetime, after: datetime) -> datetime | None:
    """Return the first local time of a rule later than `after`; None if it has ended. `first` is
    the local time before which the rule gives none."""
    begin = max(after, first - timedelta(microseconds=1))
    for moment in _times(rule, first, begin):
        if moment > begin:
            ended = moment >= LATEST or (rule.until is not None and moment.date() > rule.until)
            return None if ended else moment
    return None


def instant_of(local: datetime, zone: tzinfo) -> datetime:
    """Return the time in UTC at which the clocks of a zone show a local time."""
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def local_of(instant: datetime, zone: tzinfo) -> datetime:
    """Return the local time of an instant, without a zone."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def following_instant(
    rule: Rule, first: datetime, zone: tzinfo, after: datetime
) -> datetime | None:
    """Return the first local time of a rule whose instant is later than `after`; None if it has
    ended."""
    moment = following(rule, first, local_of(after, zone) - AROUND)
    for _ in range(MAX_TIMES):
        if moment is None or instant_of(moment, zone) > after:
            return moment
        moment = following(rule, first, moment)
    return None


def _times(rule: Rule, first: datetime, begin: datetime) -> Iterator[datetime]:
    """Yield the local times of a rule in order, from the period of `begin` on, for at most as many
    periods as it takes to pass it."""
    match rule.unit:
        case "day":
            skipped = max(0, (begin - first) // timedelta(rule.interval))
            for number in range(skipped, skipped + 3):
                yield first + timedelta(rule.interval * number)
        case "week":
            yield from _weekly(rule, first, begin)
        case _:
            yield from _monthly(rule, first, begin)


def _weekly(rule: Rule, first: datetime, begin: datetime) -> Iterator[datetime]:
    monday, step = first - timedelta(first.weekday()), timedelta(weeks=rule.interval)
    skipped = max(0, (begin - monday) // step)
    for number in range(skipped, skipped + 3):
        for day in sorted(rule.weekdays) or [first.weekday()]:
            yield monday + step * number + timedelta(day)


def _monthly(rule: Rule, first: datetime, begin: datetime) -> Iterator[datetime]:
    step = rule.interval * (12 if rule.unit == "year" else 1)
    start = first.year * 12 + first.month - 1
    skipped = max(0, (begin.year * 12 + begin.month - 1 - start) // step)
    for month in islice(range(start + step * skipped, LATEST.year * 12 + 12, step), 3):
        yield first.replace(
            year=month // 12,
            month=month % 12 + 1,
            day=_day_in(rule, first, month // 12, month % 12 + 1),
        )


def _day_in(rule: Rule, first: datetime, year: int, month: int) -> int:
    """Return the day of the month on which the rule falls."""
    begins_on, length = monthrange(year, month)
    if rule.unit == "year" or not rule.nth:
        day = first.day if rule.unit == "year" or not rule.day else rule.day
        return length if day == LAST else min(day, length)
    weekday = rule.weekdays[0] if rule.weekdays else first.weekday()
    earliest = 1 + (weekday - begins_on) % 7
    if rule.nth == LAST:
        return earliest + 7 * ((length - earliest) // 7)
    return earliest + 7 * (rule.nth - 1)
