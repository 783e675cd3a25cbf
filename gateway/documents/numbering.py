"""The numbers that Word shows before paragraphs, which are not a part of their text."""

import re
from typing import Final
from xml.etree import ElementTree as ET

from msgspec import Struct

from gateway.documents.archive import attribute, child, local

_PLACE: Final = re.compile(r"%([1-9])")
_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
MAX_NUMBER: Final = 4_000


class _Level(Struct, frozen=True):
    format: str = "bullet"
    text: str = ""
    """The pattern, with "%1" for the number of the first level."""
    start: int = 1


class Numbering:
    """Counts the paragraphs of each list."""

    def __init__(self, root: ET.Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._shared: dict[str, str] = {}
        """By list, the definition with which it shares its counting."""
        parts = list(root) if root is not None else []
        definitions = {
            attribute(each, "abstractNumId"): _levels(each)
            for each in parts
            if local(each) == "abstractNum"
        }
        for each in parts:
            if local(each) == "num":
                id_ = attribute(each, "numId")
                definition = attribute(child(each, "abstractNumId"), "val")
                changed = _overrides(each)
                self._levels[id_] = {**definitions.get(definition, {}), **changed}
                self._shared[id_] = f"num {id_}" if changed else definition

    def next(self, list_: str, level: int) -> str:
        """Count a paragraph, and return its number or bullet with a space; "" for no list."""
        if not list_:
            return ""
        levels = self._levels.get(list_, {})
        own = levels.get(level, _Level())
        indent = "  " * level
        if own.format in ("bullet", "none") or not _PLACE.search(own.text):
            return f"{indent}- "
        counts = self._counts.setdefault(self._shared.get(list_, list_), {})
        counts[level] = counts.get(level, own.start - 1) + 1
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]

        def shown(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            one = levels.get(at, _Level("decimal"))
            return _written(counts.setdefault(at, one.start), one.format)

        return f"{indent if level else ''}{_PLACE.sub(shown, own.text)} "


def _levels(definition: ET.Element) -> dict[int, _Level]:
    return dict(_level(each) for each in definition if local(each) == "lvl")


def _level(element: ET.Element) -> tuple[int, _Level]:
    values = {
        name: attribute(child(element, name), "val") for name in ("numFmt", "lvlText", "start")
    }
    at, start = attribute(element, "ilvl"), values["start"]
    begin = min(int(start), MAX_NUMBER) if start.isdecimal() else 1
    number = int(at) if at.isdecimal() else 0
    return number, _Level(values["numFmt"] or "decimal", values["lvlText"][:100], begin)


def _overrides(num: ET.Element) -> dict[int, _Level]:
    return dict(
        _level(level)
        for each in num
        if local(each) == "lvlOverride" and (level := child(each, "lvl")) is not None
    )


def _written(number: int, format_: str) -> str:
    number = min(number, MAX_NUMBER)
    match format_:
        case "lowerLetter" | "upperLetter":
            letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
            return letters if format_ == "lowerLetter" else letters.upper()
        case "lowerRoman" | "upperRoman":
            roman = ""
            for value, sign in _ROMAN:
                roman += sign * (number // value)
                number %= value
            return roman if format_ == "lowerRoman" else roman.upper()
        case "decimalZero":
            return f"{number:02d}"
    return str(number)
