"""Synchronises a project: fetches its figures, compares them with earlier ones, and writes them as
the sentences of its HEARTBEAT.

A model reasons better about a status report than about a table. Everything but `SiteSync` is pure
and deterministic.
"""

import asyncio
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Final, TypeAlias

from msgspec import Struct

from gateway.ports import AdapterState, Clock
from memory.documents.figure_sources import SECONDS, FigureSource, SourceFailed
from memory.documents.service import DocumentService
from safety.sanitize import sanitize
from safety.secret_detection.detect import redact_secrets
from safety.unicode import cut, safe_unicode

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


COMPARED_DAYS: Final = 7
"""Days of samples; figures are compared with the oldest, and each day stores its first."""
KEEP_PROBLEM: Final = timedelta(days=30)
MAX_PROBLEM: Final = 300
MAX_KEPT: Final = 4_000
"""Characters of a stored sample: the limit of `AdapterState`."""


class SiteSync:
    """Writes HEARTBEATs. `state` stores figures for comparison and the last error of a sync."""

    def __init__(self, documents: DocumentService, state: AdapterState, clock: Clock) -> None:
        self._documents = documents
        self._state = state
        self._clock = clock

    async def sync_site(self, tenant: str, project: str, source: FigureSource) -> str:
        """Fetch the figures, write the HEARTBEAT and return its text.

        Raises `SourceFailed`; the present HEARTBEAT then stays unchanged, with its
        `last_synced_at`.
        """
        key = _key(tenant, project)
        try:
            sample = read_figures(await _fetched(source), self._clock.now())
        except (SourceFailed, ValueError) as error:
            await self._state.put(f"{key}:problem", str(error)[:MAX_PROBLEM], KEEP_PROBLEM)
            raise SourceFailed(str(error)) from error
        text = narrative(sample, await self._before(key, sample))
        await self._documents.set_heartbeat(tenant, project, text, sample.at)
        await self._state.put(f"{key}:problem", "", KEEP_PROBLEM)
        return text

    async def problem(self, tenant: str, project: str) -> str:
        """Return the error of the last sync, empty if it succeeded."""
        return await self._state.get(f"{_key(tenant, project)}:problem") or ""

    async def is_fresh(self, tenant: str, project: str, within: timedelta) -> bool:
        """True if any process synchronised the project within this time."""
        synced = await self._documents.synced_at(tenant, project)
        return synced is not None and self._clock.now() - synced < within

    async def _before(self, key: str, sample: Sample) -> Sample | None:
        """Return the sample to compare with; the first of each day is kept."""
        today = _day(key, sample.at)
        first = await self._state.get(today)
        if not first:
            await self._state.put(today, _kept(sample), timedelta(days=COMPARED_DAYS + 1))
        for days in range(COMPARED_DAYS, 0, -1):
            older = await self._state.get(_day(key, sample.at - timedelta(days=days)))
            if older:
                return _read(older)
        return _read(first) if first else None


async def _fetched(source: FigureSource) -> Mapping[str, object]:
    try:
        async with asyncio.timeout(2 * SECONDS):
            return await source.figures()
    except TimeoutError:
        raise SourceFailed(f"no figures within {2 * SECONDS:g} seconds") from None
    except SourceFailed:
        raise
    except Exception as error:
        raise SourceFailed(f"the source failed with {type(error).__name__}") from error


def _key(tenant: str, project: str) -> str:
    """Return a key of fixed length for names of any length."""
    encoded = json.dumps([tenant, project]).encode()
    return blake2b(encoded, digest_size=16, person=b"parley figures").hexdigest()


def _day(key: str, at: datetime) -> str:
    return f"{key}:{at.date().isoformat()}"


def _kept(sample: Sample) -> str:
    """Return a sample as JSON, without the last figures if it is too long."""
    for most in range(len(sample.figures), 0, -1):
        encoded = json.dumps([sample.at.isoformat(), sample.figures[:most]], ensure_ascii=False)
        if len(encoded) <= MAX_KEPT:
            return encoded
    return ""


def _read(kept: str) -> Sample | None:
    """Read a sample that `_kept` wrote; None for another format."""
    try:
        at, figures = json.loads(kept)
        return Sample(datetime.fromisoformat(at), tuple((name, value) for name, value in figures))
    except (ValueError, TypeError):
        return None
