"""Days, weeks, months and parts of days around a moment, as pairs of local times without a zone.

Weeks begin on Monday. A span includes its first moment and excludes its last.
"""

from datetime import date, datetime, time, timedelta
from typing import Final

from msgspec import Struct

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2100
MAX_COUNT: Final = 1_000
"""The largest number of units that is counted back."""
FEW: Final = (2, 6)
"""The smallest and the largest number of "a few" units."""
PARTS: Final = {
    "morning": (4, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (18, 30),
}
"""Hours of the parts of a day, counted from its midnight."""

Span = tuple[datetime, datetime]


class Around(Struct, frozen=True):
    """The calendar around a local time. Every method returns None beyond 1970 to 2100."""

    now: datetime
    """The local time, without a zone."""

    def day(self, offset: int) -> Span | None:
        """Return the day so many days from today."""
        return self.days(offset, 1)

    def days(self, offset: int, count: int) -> Span | None:
        """Return so many days, the first of them `offset` days from today."""
        try:
            first = self.now.date() + timedelta(days=offset)
            return _checked(first, first + timedelta(days=count))
        except OverflowError:
            return None

    def week(self, offset: int) -> Span | None:
        """Return the week so many weeks from this one."""
        return self.days(7 * offset - self.now.weekday(), 7)

    def weekend(self, offset: int) -> Span | None:
        """Return Saturday and Sunday of a week: with -1 the last weekend that is over."""
        first = 5 - self.now.weekday() + 7 * offset
        return self.days(first, 2)

    def month(self, offset: int) -> Span | None:
        """Return the month so many months from this one."""
        number = self.now.year * 12 + self.now.month - 1 + offset
        return self.named_month(number // 12, number % 12 + 1)

    def year(self, offset: int) -> Span | None:
        """Return the year so many years from this one."""
        return self.named_year(self.now.year + offset)

    def unit(self, name: str, offset: int) -> Span | None:
        """Return a day, week, weekend, month or year, counted from the present one; an hour or a
        minute with half of one on both sides."""
        match name:
            case "day":
                return self.day(offset)
            case "week":
                return self.week(offset)
            case "weekend":
                return self.weekend(offset)
            case "month":
                return self.month(offset)
            case "year":
                return self.year(offset)
        one = timedelta(hours=1) if name == "hour" else timedelta(minutes=1)
        middle, half = self.now + offset * one, max(one / 2, timedelta(minutes=5))
        return middle - half, middle + half

    def latest(self, name: str, count: int) -> Span | None:
        """Return the latest so many units, up to now: the last 3 days."""
        match name:
            case "day" | "week" | "weekend":
                begin = self.day(-count * (1 if name == "day" else 7))
            case "month" | "year":
                begin = self.month(-count * (1 if name == "month" else 12))
                at = begin and begin[0].replace(day=min(self.now.day, 28))
                begin = None if at is None else (at, at)
            case _:
                unit = self.unit(name, -count)
                begin = unit
        return None if begin is None else (begin[0], self.now)

    def few(self, name: str) -> Span | None:
        """Return where "a few" units ago is: 2 to 6 of them."""
        least, most = FEW
        first, last = self.unit(name, -most), self.unit(name, -least)
        return None if first is None or last is None else (first[0], last[1])

    def part(self, offset: int, name: str) -> Span | None:
        """Return a part of the day so many days from today."""
        day = self.day(offset)
        return None if day is None else part_of(day, name)

    def weekday(self, number: int) -> Span | None:
        """Return the latest such day before today; Monday is 0."""
        return self.day(-((self.now.weekday() - number) % 7 or 7))

    def weekday_of(self, week: Span, number: int) -> Span:
        """Return a day of a week."""
        first = week[0] + timedelta(days=number)
        return first, first + timedelta(days=1)

    def weekday_in(self, month: Span, number: int, rank: int) -> Span | None:
        """Return such a day of a month by its rank from 1, -1 for the last one; None for a fifth
        one that the month does not have."""
        day = timedelta(days=1)
        if rank < 0:
            last = month[1] - day
            first = last - day * ((last.weekday() - number) % 7)
        else:
            first = month[0] + day * ((number - month[0].weekday()) % 7 + 7 * (rank - 1))
        return (first, first + day) if month[0] <= first < month[1] else None

    def before(self, month: Span, *, years: bool) -> Span | None:
        """Return the same month of the year before, or the month before it."""
        first = month[0]
        if years:
            return self.named_month(first.year - 1, first.month)
        return self.named_month(first.year - (first.month == 1), (first.month - 2) % 12 + 1)

    def named_month(self, year: int, number: int) -> Span | None:
        """Return a month."""
        if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= number <= 12):
            return None
        first = datetime(year, number, 1)  # noqa: DTZ001 - a local time
        last = datetime(year + number // 12, number % 12 + 1, 1)  # noqa: DTZ001 - a local time
        return first, last

    def latest_month(self, number: int) -> Span | None:
        """Return the latest such month that has begun."""
        return self.named_month(self.now.year - (number > self.now.month), number)

    def named_year(self, year: int) -> Span | None:
        """Return a year."""
        if not FIRST_YEAR <= year <= LAST_YEAR:
            return None
        return datetime(year, 1, 1), datetime(year + 1, 1, 1)  # noqa: DTZ001 - local times

    def date(self, year: int, month: int, day: int) -> Span | None:
        """Return a day by its date; with a year of 0 the latest such day, today included."""
        years = (year,) if year else (self.now.year, self.now.year - 1)
        for one in years:
            try:
                found = _checked(first := date(one, month, day), first + timedelta(days=1))
            except ValueError:
                continue
            if found and (year or found[0] <= self.now):
                return found
        return None

    def day_of_month(self, day: int) -> Span | None:
        """Return the latest day with this number, today included."""
        for offset in (0, -1, -2):
            month = self.month(offset)
            if month is None:
                continue
            found = self.date(month[0].year, month[0].month, day)
            if found is not None and found[0] <= self.now:
                return found
        return None


def part_of(day: Span, name: str) -> Span:
    """Return a part of a day; the night ends on the next morning."""
    begin, end = PARTS[name]
    return day[0] + timedelta(hours=begin), day[0] + timedelta(hours=end)


def _checked(first: date, last: date) -> Span | None:
    if not (first.year >= FIRST_YEAR and last.year <= LAST_YEAR):
        return None
    return datetime.combine(first, time()), datetime.combine(last, time())
