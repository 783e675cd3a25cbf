"""Finds the dates that a question is about: "on 3 May", "im Mai 2023", "2023-05-08", "yesterday".

English and German; days are UTC.
"""

import re
from datetime import date, datetime, timedelta
from typing import Final

from msgspec import Struct

MAX_DATES: Final = 8
NEAR_DAYS: Final = 3
"""People often mention an event some days later."""
NAMED_YEAR: Final = 0.25
NAMED_MONTH: Final = 0.5

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            *("january januar jan", "february februar feb", "march märz mar", "april apr"),
            *("may mai", "june juni jun", "july juli jul", "august aug"),
            *("september sept sep", "october oktober oct okt", "november nov"),
            "december dezember dec dez",
        ),
        start=1,
    )
    for name in names.split()
}
_AMBIGUOUS: Final = frozenset({"may", "march", "mar", "jan", "dec", "sep"})
"""Months that are also words or names: a month only next to a day, a year or "in"."""
_PIECE: Final = re.compile(r"\d+|[^\W\d_]+")
_NUMERIC: Final = re.compile(
    r"\b(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)-(?P<d>\d\d)\b"
    r"|\b(?P<d2>\d{1,2})\.(?P<m2>\d{1,2})\.(?P<y2>(?:19|20)\d\d)?"
)
_AGO: Final = {
    "today": (0, 0),
    "heute": (0, 0),
    "yesterday": (1, 1),
    "gestern": (1, 1),
    "vorgestern": (2, 2),
    "last week": (1, 13),
    "letzte woche": (1, 13),
    "letzter woche": (1, 13),
    "this week": (0, 7),
    "diese woche": (0, 7),
    "last month": (1, 61),
    "letzten monat": (1, 61),
}
"""Days before now, the latest and the earliest."""
_RELATIVE: Final = re.compile(rf"\b(?:{'|'.join(_AGO)})\b", re.IGNORECASE)


class QuestionDates(Struct, frozen=True):
    """A date as far as it is named, None for what is not; or the days `first` to `last`."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    first: date | None = None
    last: date | None = None

    def fits(self, when: date) -> float:
        """Return how well a day fits: 1 within some days, .5 for the month, .25 for the year, else
        0."""
        if self.first is not None and self.last is not None:
            return 1.0 if self.first <= when <= self.last else 0.0
        if self.year is not None and when.year != self.year:
            return 0.0
        if self.month is None:
            return NAMED_YEAR
        if when.month != self.month:
            return 0.0
        near = self.day is not None and abs(when.day - self.day) <= NEAR_DAYS
        return 1.0 if near else NAMED_MONTH

    def names(self, other: "QuestionDates") -> bool:
        """True if a date in a text agrees with this one, as far as both are given."""
        if self.month is None or self.month != other.month:
            return False
        return all(
            one is None or two is None or one == two
            for one, two in ((self.year, other.year), (self.day, other.day))
        )


def dates_in(text: str, now: datetime) -> tuple[QuestionDates, ...]:
    """The dates that a text names, at most 8."""
    dates: dict[QuestionDates, None] = {}
    for match in _RELATIVE.finditer(text):
        latest, earliest = _AGO[match[0].lower()]
        today = now.date()
        first, last = today - timedelta(days=earliest), today - timedelta(days=latest)
        dates[QuestionDates(first=first, last=last)] = None
    for match in _NUMERIC.finditer(text):
        dates[_numeric(match)] = None
    dates.update(dict.fromkeys(_in_words(_NUMERIC.sub(" ", text))))
    return tuple(dates)[:MAX_DATES]


def how_well(dates: tuple[QuestionDates, ...], when: datetime, text: str) -> float:
    """Return from 0 to 1 how well a time of writing fits the best of these dates; 1 if the text
    names one."""
    named = dates_in(text, when) if _may_name(dates, text) else ()
    if any(one.names(other) for one in dates for other in named):
        return 1.0
    return max((one.fits(when.date()) for one in dates), default=0.0)


def _may_name(dates: tuple[QuestionDates, ...], text: str) -> bool:
    """Most texts do not, and looking closely at every candidate would take 4 ms."""
    folded = text.casefold()
    months = {one.month for one in dates if one.month is not None}
    if not months:
        return False
    return any(name in folded for name, month in _MONTHS.items() if month in months) or (
        _NUMERIC.search(text) is not None
    )


def _numeric(match: re.Match[str]) -> QuestionDates:
    year = match["y"] or match["y2"]
    month, day = int(match["m"] or match["m2"]), int(match["d"] or match["d2"])
    return QuestionDates(int(year) if year else None, month, day)


def _in_words(text: str) -> list[QuestionDates]:
    pieces = _PIECE.findall(text)
    years = [int(piece) for piece in pieces if _is_year(piece)]
    year = years[0] if years else None
    dates = []
    for place, piece in enumerate(pieces):
        month = _MONTHS.get(piece.casefold())
        if month is None:
            continue
        day = _adjacent_day(pieces, place)
        if piece.casefold() in _AMBIGUOUS and not (day or year or _is_in(pieces, place)):
            continue
        dates.append(QuestionDates(year, month, day))
    return dates or [QuestionDates(one) for one in years]


def _adjacent_day(pieces: list[str], place: int) -> int | None:
    around = [*reversed(pieces[max(0, place - 3) : place]), *pieces[place + 1 : place + 2]]
    for piece in around:
        if piece.isdecimal() and 1 <= int(piece) <= 31:
            return int(piece)
        if piece.casefold() not in ("of", "the", "st", "nd", "rd", "th"):
            break
    after = pieces[place + 1] if place + 1 < len(pieces) else ""
    return int(after) if after.isdecimal() and 1 <= int(after) <= 31 else None


def _is_in(pieces: list[str], place: int) -> bool:
    return place > 0 and pieces[place - 1].casefold() in (
        "in",
        "im",
        "last",
        "since",
        "until",
        "by",
    )


def _is_year(piece: str) -> bool:
    return len(piece) == 4 and piece.isdecimal() and piece[:2] in ("19", "20")
