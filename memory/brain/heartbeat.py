"""Writes a project's figures as the sentences of its HEARTBEAT.

A model reasons better about a status report than about a table. All functions are
pure and deterministic.
"""

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final, TypeAlias

from msgspec import Struct

from safety.cut import cut
from safety.sanitize import sanitize
from safety.secret_detection.detect import redact_secrets
from safety.unicode import safe_unicode

Figure: TypeAlias = int | float | str

MAX_FIGURES: Final = 20
MAX_NAME: Final = 60
MAX_TEXT: Final = 80
MAX_NARRATIVE: Final = 1_500
"""Characters of all sentences together."""
MAX_LOOKED_AT: Final = 1_000
"""Values of an object that are read, including unusable ones."""
LARGEST: Final = 10**15
"""Figures beyond this absolute value are ignored."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\WA-Z_]+|\d+")
_INITIALS: Final = frozenset(
    {"ai", "api", "arpu", "arr", "cpu", "csat", "ctr", "eur", "faq", "gb", "gbp", "id", "ltv"}
    | {"mb", "mrr", "nps", "ram", "roi", "sla", "uk", "url", "us", "usd"}
)
_UNITS: Final[Mapping[str, tuple[str, str]]] = {
    "percent": ("", "%"),
    "pct": ("", "%"),
    "usd": ("$", ""),
    "eur": ("€", ""),
    "gbp": ("£", ""),
}
"""Units at the end of a name, which are written with the number instead."""
_NOT_COUNTED: Final = ("ss", "us", "is")


class Sample(Struct, frozen=True):
    """Figures at a time; names are readable, texts safe and short."""

    at: datetime
    figures: tuple[tuple[str, Figure], ...]
    left_out: int = 0


def read_figures(raw: Mapping[str, object], at: datetime) -> Sample:
    """Return the figures of an object, whose nested objects are flattened once.

    Numbers, booleans and short texts count; lists, deeper objects and empty values do not. At most
    `MAX_FIGURES` are kept. Raises `ValueError` if there is none.
    """
    figures: dict[str, Figure] = {}
    for name, value in _flat(raw):
        readable, figure = readable_name(name), _figure(value)
        if readable and figure is not None and figure != "":
            figures.setdefault(readable, figure)
    if not figures:
        raise ValueError("it contains no figures")
    kept = tuple(figures.items())[:MAX_FIGURES]
    return Sample(at, kept, len(figures) - len(kept))


def narrative(now: Sample, before: Sample | None = None) -> str:
    """Return the figures as sentences, with the changes since the previous sample.

    At most `MAX_NARRATIVE` characters; the last sentence counts the omitted figures.
    """
    known = dict(before.figures) if before else {}
    span = spoken_span(now.at - before.at) if before else ""
    sentences = [_sentence(name, value, known.get(name), span) for name, value in now.figures]
    left_out, room = now.left_out, MAX_NARRATIVE - len(_and_more(MAX_LOOKED_AT)) - 1
    kept: list[str] = []
    for sentence in sentences:
        if sum(map(len, kept)) + len(kept) + len(sentence) > room:
            left_out += 1
        else:
            kept.append(sentence)
    return " ".join([*kept, _and_more(left_out)] if left_out else kept)


def readable_name(name: str) -> str:
    """Return a key as words: "activeMembers" and "active_members" are "active members"."""
    words = _WORD.findall(sanitize(safe_unicode(name[: 4 * MAX_NAME])))
    spoken = [
        word.upper() if word.lower() in _INITIALS or (word.isupper() and len(word) > 1)
        else word.lower()
        for word in words
    ]  # fmt: skip
    return cut(" ".join(spoken), MAX_NAME).strip()


def spoken_span(span: timedelta) -> str:
    """Return the age of the figures that changes are compared with, in words."""
    hours = span / timedelta(hours=1)
    if hours < 1:
        return "in the last hour"
    if hours < 36:
        return f"in {round(hours)} hours" if round(hours) > 1 else "in the last hour"
    days = round(hours / 24)
    return "this week" if days == 7 else f"in {days} days"


def _flat(raw: Mapping[str, object]) -> list[tuple[str, object]]:
    flat: list[tuple[str, object]] = []
    for name, value in raw.items():
        if isinstance(value, Mapping):
            flat += [(f"{name} {inner}", deeper) for inner, deeper in value.items()]
        else:
            flat.append((str(name), value))
        if len(flat) >= MAX_LOOKED_AT:
            break
    return flat[:MAX_LOOKED_AT]


def _figure(value: object) -> Figure | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, int | float):
        return value if math.isfinite(value) and abs(value) < LARGEST else None
    if isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, str):
        return _safe_text(value)
    return None


def _safe_text(text: str) -> str:
    """Return one short line without secrets and without a full stop."""
    safe = redact_secrets(sanitize(safe_unicode(text[: 10 * MAX_TEXT]))).text
    clean = " ".join(safe.split())
    short = cut(clean, MAX_TEXT - 1).strip()
    return f"{short}…" if len(short) < len(clean) else short.rstrip(".")


def _sentence(name: str, value: Figure, before: Figure | None, span: str) -> str:
    if isinstance(value, str):
        changed = isinstance(before, str) and before != value
        return f"{_capital(name)}: {value}{f' (was {before})' if changed else ''}."
    words = name.split()
    before_, after = _UNITS.get(words[-1].lower(), ("", ""))
    unit = len(words) > 1 and bool(before_ or after)
    noun = " ".join(words[:-1]) if unit else name
    cents = unit and bool(before_)
    shown = f"{before_}{_number(value, cents=cents)}{after}" if unit else _number(value)
    change = ""
    if before is not None and not isinstance(before, str):
        change = _change(value - before, span, cents=cents)
    if not unit and isinstance(value, int) and value != 1 and _counted(words):
        return f"{shown} {noun}{change}."
    return f"{_capital(noun)} {shown}{change}."


def _counted(words: list[str]) -> bool:
    """True if a name begins or ends with a plural, so that the number goes before it."""
    return any(
        word == "people"
        or (word.islower() and word.endswith("s") and not word.endswith(_NOT_COUNTED))
        for word in (words[0], words[-1])
    )


def _change(by: float, span: str, *, cents: bool) -> str:
    number = _number(abs(by), cents=cents)
    if not number.strip("0."):
        return ""
    return f", {'up' if by > 0 else 'down'} {number} {span}"


def _number(value: float, *, cents: bool = False) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    text = f"{value:,.2f}"
    if cents and not text.endswith(".00"):
        return text
    text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _and_more(count: int) -> str:
    return f"And {count} further figure{'s' * (count != 1)}."
