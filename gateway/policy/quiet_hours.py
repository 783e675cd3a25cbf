"""Quiet hours: a stretch of each day, by the clock on the wall, in which the assistant does not
write first. Pure."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Annotated, Final, Self

from msgspec import Struct
from pydantic import AfterValidator, StringConstraints

MAX_TYPED: Final = 40
"""Characters of typed quiet hours."""
OFF: Final = "off"
_DAY: Final = 24 * 60
_MINUTE: Final = timedelta(minutes=1)
_DAYS: Final = 5
"""Days on one of which the hours end: a clock that skips the end on one day has it on the next."""
_TIME: Final = re.compile(r"([0-9]{1,2})(?:[:.h]([0-9]{2}))? ?(am|pm)?")
_DASHES: Final = str.maketrans("–—−", "---")


class QuietHours(Struct, frozen=True):
    """From `start` on and before `end`, in minutes since midnight: 0 to 1,439, and different. The
    stretch goes over midnight if the end is not later than the start."""

    start: int
    end: int

    @classmethod
    def of(cls, typed: str) -> Self | None:
        """Return the hours of a text such as 22:00-07:00, 22-7 or 10pm-7am; None for any other
        text, and for two equal times."""
        plain = " ".join(typed[: MAX_TYPED + 1].casefold().translate(_DASHES).split())
        first, dash, second = plain.partition("-")
        start, end = _minutes(first.strip()), _minutes(second.strip())
        if len(typed) > MAX_TYPED or not dash or start is None or end is None or start == end:
            return None
        return cls(start, end)

    def __str__(self) -> str:
        return f"{_clock(self.start)}-{_clock(self.end)}"

    def include(self, at: datetime, zone: tzinfo) -> bool:
        """Return True if the clock of a zone shows a time within these hours."""
        local = at.astimezone(zone)
        minute = local.hour * 60 + local.minute
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    def over_at(self, now: datetime, zone: tzinfo) -> datetime | None:
        """Return the first full minute after `now`, in UTC, at which the clock is outside of these
        hours; None if it is outside now. An hour that the clock skips ends with the jump, and an
        hour that it shows twice counts twice."""
        if not self.include(now, zone):
            return None
        within = now.astimezone(UTC).replace(second=0, microsecond=0)
        outside = next(end for end in self._ends(within, zone) if not self.include(end, zone))
        # An end that the clock skips was reached with the jump.
        while outside - within > _MINUTE:
            middle = within + (outside - within) // 2 // _MINUTE * _MINUTE
            if self.include(middle, zone):
                within = middle
            else:
                outside = middle
        return outside

    def _ends(self, after: datetime, zone: tzinfo) -> Iterator[datetime]:
        """Return the next ends, in order, with both readings of a time that exists twice."""
        today = after.astimezone(zone).date()
        end = time(self.end // 60, self.end % 60)
        for day in range(-1, _DAYS):
            local = datetime.combine(today + timedelta(days=day), end, zone)
            both = (local.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
            yield from (one for one in sorted(both) if one > after)


def _minutes(typed: str) -> int | None:
    found = _TIME.fullmatch(typed)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found[3] == "pm")
    if minute > 59 or hour > 24 or (hour == 24 and minute):
        return None
    return (hour * 60 + minute) % _DAY


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _canonical(value: str) -> str:
    if not value or value.casefold() == OFF:
        return ""
    hours = QuietHours.of(value)
    if hours is None:
        raise ValueError("write quiet hours such as 22:00-07:00")
    return str(hours)


QuietHoursText = Annotated[str, StringConstraints(max_length=MAX_TYPED), AfterValidator(_canonical)]
"""Quiet hours such as 22:00-07:00 in the configuration; empty or `off` for none."""


def in_force(chosen: str, default: str) -> QuietHours | None:
    """Return the quiet hours of a person or place: what was chosen (`off` for none), otherwise the
    default. A text that cannot be read counts as not chosen."""
    if chosen == OFF:
        return None
    return QuietHours.of(chosen) or QuietHours.of(default)
