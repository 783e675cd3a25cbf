"""Reads a contact card besides name and number. Fields: RFC 6350, and vCard 2.1."""

import quopri
import re
from typing import Final

MAX_VALUES: Final = 10
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_SPLIT: Final = re.compile(r"(?<!\\);")
_ESCAPED: Final = re.compile(r"\\([,;\\nN])")
_SHOWN: Final = ("TITLE", "ORG", "EMAIL", "TEL", "ADR", "URL", "BDAY", "NOTE")
_DIGITS: Final = re.compile(r"\D")


def details_of(vcard: str, number: str) -> list[str]:
    """Return organisation, mail addresses, other numbers than `number`, addresses and notes."""
    known = {_DIGITS.sub("", number)}
    found: dict[str, list[str]] = {name: [] for name in _SHOWN}
    for line in _FOLD.sub("", vcard).splitlines():
        name, _, value = line.partition(":")
        kind = name.partition(";")[0].rpartition(".")[2].upper()
        if kind not in found:
            continue
        words = _words(value, name.upper())
        if kind == "TEL":
            digits = _DIGITS.sub("", words)
            words = "" if digits in known else words
            known.add(digits)
        if words:
            found[kind].append(f"born {words}" if kind == "BDAY" else words)
    return [value for values in found.values() for value in values][:MAX_VALUES]


def _words(value: str, parameters: str) -> str:
    if "QUOTED-PRINTABLE" in parameters:
        value = quopri.decodestring(value.encode()).decode("utf-8", "replace")
    parts = (_ESCAPED.sub(_unescaped, part).strip() for part in _SPLIT.split(value))
    return ", ".join(part for part in parts if part).removeprefix("tel:")


def _unescaped(match: re.Match[str]) -> str:
    return " " if match[1] in "nN" else match[1]
