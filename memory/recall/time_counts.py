"""Times that are counted from now in questions: "3 days ago", "two or three weeks ago", "the last 3
months"."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final

from msgspec import Struct

from memory.recall.calendar_spans import MAX_COUNT, Around, Span
from memory.recall.time_words import Sign, Words

MAX_APART: Final = 9
"""The largest difference between the numbers of "three to five days ago"."""
_ONE_UNSAID: Final = frozenset({"pl", "ru", "uk"})
"""Languages in which "week ago" is a week ago."""
_SIGNS: Final = frozenset(",、，،-~")
_NOTHING: Final = Sign("", 0, 0)


class Kind(IntEnum):
    """The kind of a time, which says how a question is meant; the best one of a question counts."""

    PRESENT = 0
    """The present day, week, month or year: the question may be about anything."""
    DATE = 1
    """A date, month or year, which a text may name, and years counted from now."""
    WEEKDAY = 2
    """A day of the week, which may stand for all of them."""
    PAST = 3
    """Counted from now, or named as past: yesterday, last week, since Monday."""


class FoundTime(Struct, frozen=True):
    """A time in a question: local times without a zone, and the signs `first` to `last`."""

    span: Span
    kind: Kind
    first: int
    last: int
    year: int = 0
    """The named year, month and day of a date; 0 for what is not named."""
    month: int = 0
    day: int = 0


_Made = Callable[[int, str, int, int], FoundTime | None]


class CountReader:
    """Reads numbers of units in the signs of a question."""

    def __init__(self, signs: Sequence[Sign], words: Words, around: Around) -> None:
        self._signs = signs
        self._words = words
        self._around = around

    def _sign(self, place: int) -> Sign:
        return self._signs[place] if 0 <= place < len(self._signs) else _NOTHING

    def _over(self, place: int, *meanings: str) -> int:
        """Return the next place whose sign does not only have one of these meanings; at most two
        are passed over."""
        for _ in range(2):
            if not self._sign(place).has(*meanings):
                break
            place += 1
        return place

    def _counted(self, place: int) -> FoundTime | None:
        """Read "3 days ago", "vor drei Tagen", "the last 3 days"."""
        sign = self._sign(place)
        if found := self._either(place):
            return found
        if sign.has("before"):
            alone = self._words.language == "ar"
            return self._units(place + 1, place, self._ago, alone=alone)
        if sign.has("last"):
            return self._units(place + 1, place, self._latest, alone=False)
        if self._sign(place + 1).has("last") and self._sign(place + 2).has("unit"):
            count, _, named = self._number(place)  # trois derniers jours
            unit = self._sign(place + 2).means["unit"]
            if named and isinstance(unit, tuple):
                return self._latest(count, unit[1], place, place + 3)
        count, name, end = self._amount(place)
        if not name:
            return None
        counted = sign.has("units") or self._number(place)[2]
        behind = self._sign(end)
        if behind.has("ago") and (counted or self._words.language in _ONE_UNSAID):
            return self._ago(count, name, place, end + 1)
        if behind.has("last") and self._number(place)[2]:
            return self._latest(count, name, place, end + 1)
        return None

    def _either(self, place: int) -> FoundTime | None:
        """Read "two or three days ago", "vor 2 bis 3 Tagen", 二、三日前: all that is between."""
        is_before = self._sign(place).has("before")
        least, most, unit, end = self._two_numbers(place + is_before)
        if not 0 < least < most <= least + MAX_APART:
            return None
        if not is_before:
            if not self._sign(end).has("ago"):
                return None
            end += 1
        far, near = self._around.unit(unit, -most), self._around.unit(unit, -least)
        if far is None or near is None:
            return None
        return FoundTime((far[0], near[1]), kind_of(unit), place, end)

    def _two_numbers(self, place: int) -> tuple[int, int, str, int]:
        """Return two numbers that follow each other, their unit and the place behind it; zeros for
        none."""
        sign, nothing = self._sign(place), (0, 0, "", place)
        both, pair = sign.means.get("either"), sign.means.get("units")
        if isinstance(both, tuple):
            unit = self._sign(place + 1).means.get("unit")
            return (
                (both[0], int(both[1]), unit[1], place + 2) if isinstance(unit, tuple) else nothing
            )
        least, at, named = self._number(place)
        if isinstance(pair, tuple):  # يومين أو ثلاثة أيام
            least, at, named = pair[0], place + 1, True
        joint = self._sign(at)
        if joint.has("or", "joint") or joint.text in _SIGNS:
            at += 1
        also = self._sign(at).has("units") or self._number(at)[2]
        most, name, end = self._amount(at)
        return (least, most, name, end) if named and also and name else nothing

    def _units(self, place: int, first: int, made: _Made, *, alone: bool) -> FoundTime | None:
        """Return a time made of the units at a place; `alone`: also of a unit without a number."""
        count, unit, end = self._amount(place)
        named = self._sign(place).has("num", "few", "units") or self._sign(place).number >= 0
        return made(count, unit, first, end) if unit and (named or alone) else None

    def _amount(self, place: int) -> tuple[int, str, int]:
        """Return a number, its unit and the place behind them; a number of 0 for a few. Without a
        number, a unit is one."""
        pair = self._sign(place).means.get("units")
        if isinstance(pair, tuple):
            return pair[0], pair[1], place + 1
        count, after, _ = self._number(place)
        unit = self._sign(after).means.get("unit")
        return (count, unit[1], after + 1) if isinstance(unit, tuple) else (0, "", place)

    def _number(self, place: int) -> tuple[int, int, bool]:
        """Return a number, the place behind it, and True if there is one; without one it is 1."""
        sign = self._sign(place)
        number = sign.means.get("num")
        if 0 < sign.number <= MAX_COUNT and not sign.ordinal:
            return sign.number, place + 1, True
        if sign.has("few"):
            return 0, place + 1, True
        if isinstance(number, int):
            return number, place + 1, True
        return 1, place, False

    def _ago(self, count: int, unit: str, first: int, last: int) -> FoundTime | None:
        around = self._around
        span = around.unit(unit, -count) if count else around.few(unit)
        return None if span is None else FoundTime(span, kind_of(unit), first, last)

    def _latest(self, count: int, unit: str, first: int, last: int) -> FoundTime | None:
        span = self._around.latest(unit, count or 6)
        return None if span is None else FoundTime(span, kind_of(unit), first, last)


def kind_of(unit: str) -> Kind:
    """Return the kind of a time that is counted from now in units: what happened a year ago may
    have been told at any time."""
    return Kind.DATE if unit == "year" else Kind.PAST
