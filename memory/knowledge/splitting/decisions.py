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
from memory.knowledge.splitting.documents import DocumentHeading, plain

MAX_LINES: Final = 300
"""Lines from the beginning that are searched for status and supersession."""
MAX_LINE: Final = 500
DATE_LINES: Final = 30
"""Lines from the beginning of which the first date is the record's."""
MAX_REFERENCE: Final = 100
MAX_REFERENCES: Final = 20
MAX_STATUS: Final = 40
STATUS_LINES: Final = 6
"""Lines below the heading "Status" that belong to it."""
_STATUSES: Final = (
    "superseded", "deprecated", "rejected", "declined", "withdrawn", "abandoned", "accepted",
    "approved", "adopted", "implemented", "proposed", "draft", "amended", "obsolete",
    "resolved", "mitigated", "monitoring", "investigating", "closed", "open", "completed",
    "complete", "final", "in progress", "under review",
)  # fmt: skip
"""A text that has several of them has the status that comes first here."""
_SPELT: Final = {"supersede": "superseded", "superceded": "superseded", "replaced": "superseded"}
_SUPERSEDED: Final = ("superseded by", "superceded by")
_SUPERSEDES: Final = ("supersedes", "supercedes")
_REPLACED: Final = (*_SUPERSEDED, "replaced by", "obsoleted by", "superseded", "superceded")
_REPLACES: Final = (*_SUPERSEDES, "replaces", "obsoletes")
"""The values of a status; elsewhere these words may describe other things than records."""
MAX_LEAD: Final = 25
"""Characters before it where a line says what replaces a record: "This decision is ..."."""
_LINK: Final = re.compile(r"\[(?P<text>[^\[\]]{0,200})\]\((?P<target>[^()\s]{1,300})\)")
_ID: Final = re.compile(
    r"\b(?:ADR|RFC|DR)[- #_]?+\d{1,6}+\b|#\d{1,6}+\b|\b\d{1,4}+\b", re.IGNORECASE
)
_FILE_ENDS: Final = (".md", ".rst", ".adoc")
_DAY: Final = re.compile(r"(?<!\d)(\d{4})[-/](\d\d)[-/](\d\d)(?!\d)")
_WORDS: Final = re.compile(r"[a-z]++")


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
    said = " ".join(fields.get("status", ())) or _said_status(lines, headings)
    head = [_bare(line) for line in lines[:MAX_LINES]]
    by = _references([*fields.get("superseded_by", ()), *fields.get("replaced_by", ())])
    by = by or _after(_REPLACED, [said], MAX_LINE) or _after(_SUPERSEDED, head, MAX_LEAD)
    replaced = _references([*fields.get("supersedes", ()), *fields.get("replaces", ())])
    replaced = (
        replaced or _after(_REPLACES, [said], MAX_LINE) or _after(_SUPERSEDES, head, MAX_LEAD)
    )
    status = "superseded" if by else _status(said)
    days = [*fields.get("date", ()), *fields.get("decided", ()), path, *lines[:DATE_LINES]]
    return Standing(status, _first_day(days), replaced, by[0] if by else "")


def _said_status(lines: Sequence[str], headings: Sequence[DocumentHeading]) -> str:
    """The text of a section or a line that is called status."""
    for heading in headings:
        if heading.text.lower().strip(":") == "status":
            below = lines[heading.below : heading.below + STATUS_LINES]
            return " ".join(_until_heading(below))
    for line in lines[:MAX_LINES]:
        name, colon, rest = line[:MAX_LINE].partition(":")
        if colon and name.strip(" \t*_->|#").lower() == "status":
            return rest.strip(" \t\r\n*_|")
    return ""


def _until_heading(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        text = line[:MAX_LINE].strip()
        if text.startswith(("#", "===", "---")):
            return
        if text and not text.startswith(">"):  # a template's explanation
            yield text


def _status(said: str) -> str:
    words = _WORDS.findall(said.lower()[:MAX_LINE])
    known = f" {' '.join(_SPELT.get(word, word) for word in words)} "
    for status in _STATUSES:
        if f" {status} " in known:
            return status
    return " ".join(words[:3])[:MAX_STATUS]


def _bare(line: str) -> str:
    """A line without the signs that begin it and that emphasise."""
    return line[:MAX_LINE].strip().lstrip("*-_> |").replace("**", "").replace("__", "")


def _after(phrases: Sequence[str], texts: Sequence[str], most: int) -> tuple[str, ...]:
    """The records that follow one of the phrases, before which at most so many characters
    stand."""
    for text in texts:
        lower = text.lower()
        for phrase in phrases:
            place = lower.find(phrase)
            if 0 <= place <= most:
                named = _references([text[place + len(phrase) :]])
                if named:
                    return named
    return ()


def _references(texts: Sequence[str]) -> tuple[str, ...]:
    """File names of linked records, else the ids or file names that a text has."""
    named: dict[str, None] = {}
    for text in texts:
        some = [_file_name(link["target"]) or link["text"] for link in _LINK.finditer(text)]
        some = some or _file_names(text) or _ID.findall(text)
        named.update(dict.fromkeys(plain(one)[:MAX_REFERENCE] for one in some if one))
    return tuple(named)[:MAX_REFERENCES]


def _file_names(text: str) -> list[str]:
    words = (word.strip(".,;:()<>`'\"") for word in text.split())
    return [_file_name(word) for word in words if word.endswith(_FILE_ENDS)]


def _file_name(target: str) -> str:
    return target.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2]


def _first_day(texts: Sequence[str]) -> date | None:
    for text in texts:
        for year, month, day in _DAY.findall(text[:MAX_LINE]):
            try:
                return date(int(year), int(month), int(day))
            except ValueError:
                continue
    return None
