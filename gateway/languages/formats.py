"""Dates, numbers, money and lists in each language, from a table made of CLDR.

`translation.formats` writes `formats.json` with Babel. English keeps the forms that Parley has
always shown; every language has the digits 0 to 9 and 24 hours.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from importlib.resources import files
from typing import Final, Literal, final

from msgspec import Struct, json

_FIELD: Final = re.compile(r"'([^']*)'|yy?|MM?M?|dd?")
_SIZES: Final = (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000))
_MICROS: Final = 1_000_000


@final
class Formats(Struct, frozen=True):
    """How one language writes dates, numbers and lists. The patterns are CLDR's."""

    direction: Literal["ltr", "rtl"]
    """The direction of its script."""
    decimal: str
    """The sign between whole and fraction."""
    group: str
    """The sign between thousands."""
    money: str
    """An amount of dollars, with `{0}` for the number."""
    date: str
    """A day: `y`, `M`, `MM`, `MMM`, `d`, `dd`, and words in single quotes."""
    joint: str
    """A day `{1}` with a time `{0}`."""
    months: tuple[str, ...]
    """Twelve abbreviated names."""
    lists: Mapping[Literal["and", "or"], Mapping[Literal["2", "start", "middle", "end"], str]]
    """How two items, and the items of a longer list, stand together: `{0}` and `{1}`."""
    name: str = ""
    """What the language calls itself."""
    english: str = ""
    """Its English name."""

    def number(self, value: float, decimals: int = 0) -> str:
        """Return a number with its thousands apart."""
        signs = {",": self.group, ".": self.decimal}
        return "".join(signs.get(sign, sign) for sign in f"{value:,.{decimals}f}")

    def amount(self, micros: int) -> str:
        """Return an amount of money, to the hundredth of a cent."""
        return self.money.replace("{0}", self.number(micros / _MICROS, 4))

    def size(self, count: int) -> str:
        """Return a number of bytes in its largest unit."""
        for unit, size in _SIZES:
            if count >= size:
                return f"{self.number(count / size, 1)} {unit}"
        return f"{self.number(count)} B"

    def moment(
        self, at: datetime, style: Literal["minute", "day", "clock"], zone: tzinfo = UTC
    ) -> str:
        """Return a day with its time, a day, or a time of day, in a time zone."""
        local = at.astimezone(zone)
        clock = f"{local:%H:%M} {zone_sign(local)}"
        if style == "clock":
            return clock
        day = _FIELD.sub(lambda field: self._field(field, local), self.date)
        return day if style == "day" else self.joint.replace("{1}", day).replace("{0}", clock)

    def listed(self, items: Sequence[str], kind: Literal["and", "or"]) -> str:
        """Return items as one phrase, empty for none."""
        pattern = self.lists[kind]
        if len(items) <= 1:
            return "".join(items)
        if len(items) == 2:
            return _pair(pattern["2"], *items)
        shown = _pair(pattern["end"], items[-2], items[-1])
        for item in reversed(items[1:-2]):
            shown = _pair(pattern["middle"], item, shown)
        return _pair(pattern["start"], items[0], shown)

    def _field(self, field: re.Match[str], at: datetime) -> str:
        match field[0]:
            case "y":
                return str(at.year)
            case "yy":
                return f"{at:%y}"
            case "MMM":
                return self.months[at.month - 1]
            case "MM":
                return f"{at:%m}"
            case "M":
                return str(at.month)
            case "dd":
                return f"{at:%d}"
            case "d":
                return str(at.day)
            case _:
                return field[1]


@cache
def formats_of(language: str) -> Formats:
    """Return the forms of a language of the table, or of its main language; English for others."""
    table = _table()
    return table.get(language) or table.get(language.partition("_")[0]) or table["en"]


def names_of(language: str) -> tuple[str, str]:
    """Return what a language calls itself, and its English name; its code for one that is not in
    the table."""
    formats = _table().get(language)
    return (formats.name, formats.english) if formats else (language, language)


def zone_sign(at: datetime) -> str:
    """Return the abbreviation of the zone of a time: "CET", "UTC+03" where it has none."""
    name = at.tzname() or ""
    return f"UTC{name}" if name[:1] in ("+", "-") else name


def _pair(pattern: str, first: str, second: str) -> str:
    before, between, after = re.split(r"\{[01]\}", pattern)
    return f"{before}{first}{between}{second}{after}"


@cache
def _table() -> Mapping[str, Formats]:
    source = files("gateway.languages").joinpath("formats.json").read_bytes()
    return json.decode(source, type=dict[str, Formats])
