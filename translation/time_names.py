"""The names of months, weekdays and relative days, made of the CLDR data of Babel."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from babel import Locale

from translation.languages import LANGUAGES

NAMES: Final = Path(__file__).parents[1] / "memory/recall/time_names.json"
_CONTEXTS: Final = ("format", "stand-alone")
_UNITS: Final = ("day", "week", "month", "year")


def table() -> dict[str, dict[str, list[str]]]:
    """Return the phrases of each meaning by language, as in `memory/recall/time_words.txt`."""
    return {name: _names(name) for name in ("en", *LANGUAGES)}


def _names(language: str) -> dict[str, list[str]]:
    locale = Locale.parse(language)
    found = {}
    for number in range(1, 13):
        found[f"named {number}"] = _forms(locale.months, ("wide", "abbreviated"), number)
    for number in range(7):
        found[f"weekday {number}"] = _forms(locale.days, ("wide",), number)
    # Babel has no function for these names.
    fields: Any = locale._data["date_fields"]  # noqa: SLF001
    for unit in _UNITS:
        for number, phrase in sorted(fields[unit]["relative"].items()):
            found[f"{unit} {number}"] = [phrase]
    return {meaning: forms for meaning, forms in found.items() if forms}


def _forms(names: Mapping[str, Any], widths: Iterable[str], number: int) -> list[str]:
    """Return the different forms of a name, without those that have a figure in them."""
    forms = [names[context][width][number] for context in _CONTEXTS for width in widths]
    return sorted({form.strip(".॰") for form in forms if not any(map(str.isdigit, form))})


def written() -> str:
    """Return the table as the text of its file."""
    return json.dumps(table(), ensure_ascii=False, indent=1) + "\n"
