"""Status, date and supersession of decision records and incident reports.

Read are the usual forms: Nygard's sections, MADR's list and front matter, and lines such as
"Status: accepted".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import Struct

from memory.knowledge.model import Day
from memory.knowledge.splitting.documents import DocumentHeading
from memory.knowledge.splitting.supersession import (
    REPLACED_BY,
    REPLACES,
    SUPERSEDED_BY,
    SUPERSEDES,
    cleaned_line,
    is_limited,
    named_after,
    references,
    says,
)

MAX_LINES: Final = 300
"""Lines from the beginning that are searched for status and supersession."""
MAX_LINE: Final = 500
DATE_LINES: Final = 30
"""Lines from the beginning of which the first date is the record's."""
MAX_STATUS: Final = 40
STATUS_LINES: Final = 6
"""Lines below the heading "Status" that belong to it."""
_STATUSES: Final = (
    "deprecated", "rejected", "declined", "withdrawn", "abandoned", "accepted",
    "approved", "adopted", "implemented", "proposed", "draft", "amended", "obsolete",
    "resolved", "mitigated", "monitoring", "investigating", "closed", "open", "completed",
    "complete", "final", "in progress", "under review",
)  # fmt: skip
"""A text that has several of them has the status that comes first here."""
_NOT_IN_FORCE: Final = frozenset(
    """
    proposed proposal draft rejected declined withdrawn abandoned open pending deferred postponed
    provisional review discussion progress wip idea requested
    """.split()  # noqa: SIM905 - reads better
)
"""A record with one of these words in its status replaces no other one."""
_FIELDS_OF_LINES: Final = {
    "supersedes": "supersedes",
    "replaces": "supersedes",
    "obsoletes": "supersedes",
    "superseded by": "by",
    "replaced by": "by",
    "obsoleted by": "by",
}
_DAY: Final = re.compile(r"(?<!\d)(\d{4})[-/](\d\d)[-/](\d\d)(?!\d)")
_DIGITS: Final = re.compile(r"\d++")
_WORDS: Final = re.compile(r"[a-z]++")
_ASIDE: Final = re.compile(r"\([^()]{0,200}\)")
_CLAUSE: Final = re.compile(r"[.;,:—–]")
_CONDITION: Final = re.compile(
    r"\b(?:may|might|can|could|will|would|should|to\s+be|not|never|if|once|unless|until|which)\b"
)
"""The words of a clause after it tell no status: "may be accepted in May"."""


class Standing(Struct, frozen=True):
    """The state of a decision or an incident, as its file gives it."""

    status: str = ""
    date: Day | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""


def standing_of(
    path: str,
    lines: Sequence[str],
    headings: Sequence[DocumentHeading],
    fields: Mapping[str, tuple[str, ...]],
) -> Standing:
    """Read status, date and supersession of a record from its front matter and its text."""
    said = [cleaned_line(line) for line in fields.get("status", ())] or _said(lines, headings)
    head = [cleaned_line(line) for line in lines[:MAX_LINES]]
    own = _number_of(path)
    by = (
        references([*fields.get("superseded_by", ()), *fields.get("replaced_by", ())])
        or named_after(REPLACED_BY, said, own)
        or references(_labelled("by", lines))
        or named_after(SUPERSEDED_BY, head, own)
    )
    status = "superseded" if by or says(REPLACED_BY, said, own) else _status(said)
    replaced: tuple[str, ...] = ()
    if _NOT_IN_FORCE.isdisjoint(_WORDS.findall(status)):
        replaced = (
            references([*fields.get("supersedes", ()), *fields.get("replaces", ())])
            or named_after(REPLACES, said, own)
            or references(_labelled("supersedes", lines))
            or named_after(SUPERSEDES, head, own)
        )
    days = [*fields.get("date", ()), *fields.get("decided", ()), path, *lines[:DATE_LINES]]
    return Standing(status, _first_day(days), replaced, by[0] if by else "")


def _number_of(path: str) -> str:
    found = _DIGITS.search(path.rpartition("/")[2])
    return found[0].lstrip("0") if found else ""


def _said(lines: Sequence[str], headings: Sequence[DocumentHeading]) -> list[str]:
    """The lines of a section that is called status, or the value of such a line."""
    for heading in headings:
        if heading.text.lower().strip(":") == "status":
            below = lines[heading.below : heading.below + STATUS_LINES]
            return [cleaned_line(line) for line in _until_heading(below)]
    for line in lines[:MAX_LINES]:
        name, value = _field(line)
        if name == "status":
            return [cleaned_line(value)]
    return []


def _labelled(kind: str, lines: Sequence[str]) -> list[str]:
    """The values of the lines "Supersedes: ..." and the like."""
    named = (_field(line) for line in lines[:MAX_LINES])
    return [cleaned_line(value) for name, value in named if _FIELDS_OF_LINES.get(name) == kind]


def _field(line: str) -> tuple[str, str]:
    """The name in small letters and the value of a line "Name: value" or "| Name | value |"."""
    text = line[:MAX_LINE].strip()
    cells = [cell for cell in text.split("|") if cell.strip()] if text.startswith("|") else []
    name, _, value = text.partition(":") if len(cells) < 2 else (cells[0], "", cells[1])
    return name.strip(" \t*_->|#").lower().replace("-", " "), value.strip(" \t\r\n*_|")


def _until_heading(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        text = line[:MAX_LINE].strip()
        if text.startswith(("#", "===", "---")):
            return
        if text and not text.startswith(">"):  # a template's explanation
            yield text


def _status(said: Sequence[str]) -> str:
    """The status that a text names, of a record that is not superseded as a whole."""
    text = _ASIDE.sub(" ", " ".join(said).lower()[:MAX_LINE])
    sure = " ".join(_CONDITION.split(clause, maxsplit=1)[0] for clause in _CLAUSE.split(text))
    words = f" {' '.join(_WORDS.findall(sure))} "
    known = next((status for status in _STATUSES if f" {status} " in words), "")
    if known:
        return known
    if "superseded" in text:
        return "partially superseded" if any(map(is_limited, said)) else ""
    return " ".join(_WORDS.findall(text)[:3])[:MAX_STATUS]


def _first_day(texts: Sequence[str]) -> date | None:
    for text in texts:
        for year, month, day in _DAY.findall(text[:MAX_LINE]):
            try:
                return date(int(year), int(month), int(day))
            except ValueError:
                continue
    return None
