"""The table of formats, made of the CLDR data of Babel."""

import json
from pathlib import Path
from typing import Any, Final

from babel import Locale

from translation.languages import LANGUAGES

TABLE: Final = Path(__file__).parents[1] / "gateway/languages/formats.json"
_ENGLISH: Final = {"name": "English", "english": "English"} | {
    "date": "y-MM-dd",
    "joint": "{1} {0}",
    "money": "${0}",
}
"""The forms that Parley has always shown."""
_PARTS: Final = ("2", "start", "middle", "end")


def table() -> dict[str, dict[str, Any]]:
    """Return the formats of each language by its name."""
    return {"en": _formats("en_GB") | _ENGLISH} | {name: _formats(name) for name in LANGUAGES}


def _formats(language: str) -> dict[str, Any]:
    locale = Locale.parse(language)
    digits = locale.number_symbols["latn"]
    return {
        "name": _capital(locale.get_display_name() or language),
        "english": locale.get_display_name("en") or language,
        "direction": locale.text_direction,
        "decimal": digits["decimal"],
        "group": digits["group"],
        "money": _money(locale.currency_formats["standard"].pattern),
        "date": locale.date_formats["medium"].pattern,
        "joint": str(locale.datetime_formats["medium"]),
        "months": [locale.months["format"]["abbreviated"][number] for number in range(1, 13)],
        "lists": {
            kind: {part: locale.list_patterns[style][part] for part in _PARTS}
            for kind, style in (("and", "standard"), ("or", "or"))
        },
    }


def _capital(name: str) -> str:
    """Return the name of a language as it stands alone, not within a sentence."""
    return name[:1].upper() + name[1:]


def _money(pattern: str) -> str:
    """Return where the dollar sign stands: only its side and its space are taken from CLDR."""
    before, _, after = pattern.partition(";")[0].partition("¤")
    gap = "\N{NO-BREAK SPACE}"
    if "0" in before:
        return "{0}" + gap * before.endswith(gap) + "$"
    return "$" + gap * after.startswith(gap) + "{0}"


def written() -> str:
    """Return the table as the text of its file."""
    return json.dumps(table(), ensure_ascii=False, indent=1) + "\n"
