"""Texts, times and numbers in pages, in the language of their reader, and texts in CSV files."""

import csv
import io
import re
import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Final

from markupsafe import Markup, escape

from gateway.immutable import replace
from gateway.markdown import parse
from gateway.markdown.html_renderer import document
from gateway.markdown.tree import Block, Document, Heading, Item, ItemList, Paragraph, QuoteBlock
from gateway.markdown.unfinished import close_unfinished
from gateway.text import ENGLISH, Language, Moment, Text, counted, text
from parley.console.browsers import browser_of
from parley.console.sentences import TEXTS, formatted, html_of
from parley.documentation import files as documentation

SHOWN: Final = 2_000
"""Characters of a text that are visible at first."""
MOST: Final = 20_000
"""Characters of a text in a page; the API returns the whole text."""
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets take a cell that begins so for a formula."""
AGES: Final = (
    (31_536_000, counted("{count} year ago", "{count} years ago")),
    (86_400, counted("{count} day ago", "{count} days ago")),
    (3_600, counted("{count} hour ago", "{count} hours ago")),
    (60, counted("{count} minute ago", "{count} minutes ago")),
)
NOW: Final = text("just now")
NEVER: Final = text("never")
_ISOLATED: Final = Markup('<bdi class="outside" dir="auto">%s</bdi>')
_FOLDED: Final = Markup(
    '<bdi class="outside" dir="auto">%s</bdi><details><summary>%s</summary>'
    '<bdi class="outside" dir="auto">%s</bdi>%s</details>'
)
_SHOW_ALL: Final = text("Show all ({characters} characters)")
_CUT: Final = text("The page shows the first {characters} characters.")
_PARAGRAPH: Final = Markup("<p>%s</p>")
_TIME: Final = Markup('<time datetime="%s">%s</time>')
_CLOCK: Final = Markup('<time datetime="%s" data-show="time">%s</time>')
_FORMATTED: Final = Markup('<div class="formatted" dir="auto">%s</div>')
_PAGE: Final = re.compile(r"\bdocs/([a-z-]+/[\w.-]+\.md)\b")
_LINK: Final = Markup('<a href="/docs/%s">%s</a>')
HUES: Final = 8
"""Colours of the circles that stand for people."""


def outside(text: object, shown: int = SHOWN, *, language: Language = ENGLISH) -> Markup:
    """Return a text from outside for a page: escaped, isolated from the direction of what is around
    it, broken anywhere, and folded beyond `shown` characters."""
    whole = _plain(text, language)
    if len(whole) <= shown:
        return _ISOLATED % whole
    more = html_of(language, _SHOW_ALL.of(characters=len(whole)))
    cut = _PARAGRAPH % html_of(language, _CUT.of(characters=MOST)) if len(whole) > MOST else ""
    return _FOLDED % (whole[:shown] + "…", more, whole[:MOST], cut)


def short(text: object, most: int = 80, *, language: Language = ENGLISH) -> Markup:
    """Return the beginning of a text from outside, in one line."""
    line = " ".join(_plain(text, language)[: most * 4].split())
    return _ISOLATED % (line if len(line) <= most else f"{line[: most - 1]}…")


def when(at: datetime | None, *, language: Language = ENGLISH) -> Markup:
    """Return a time, which `console.js` shows in the reader's zone."""
    if at is None:
        return html_of(language, NEVER)
    utc = at.astimezone(UTC)
    return _TIME % (utc.isoformat(timespec="seconds"), language.value(Moment(utc)))


def clock(at: datetime, *, language: Language = ENGLISH) -> Markup:
    """Return the time of a day, which `console.js` shows in the reader's zone."""
    utc = at.astimezone(UTC)
    return _CLOCK % (utc.isoformat(timespec="seconds"), language.value(Moment(utc, "clock")))


def day(at: date, *, language: Language = ENGLISH) -> str:
    """Return a day: of a time, the one in its zone."""
    noon = datetime(at.year, at.month, at.day, 12, tzinfo=UTC)
    return language.value(Moment(noon, "day"))


def markdown(text: str) -> Markup:
    """Return an answer with its Markdown for a page: every tag is ours, and a heading is a line in
    bold, because the page has headings of its own. The end of the text may be missing."""
    written = document(tuple(map(_without_headings, parse.parse(close_unfinished(text)))))
    return _FORMATTED % Markup(written)  # noqa: S704 - `document` escapes every character


def _without_headings(block: Block) -> Block:
    match block:
        case Heading():
            return Paragraph(tuple(replace(run, bold=True) for run in block.runs))
        case QuoteBlock():
            return QuoteBlock(_all(block.blocks))
        case ItemList():
            return ItemList(tuple(_item(item) for item in block.items))
    return block


def _all(blocks: Document) -> Document:
    return tuple(map(_without_headings, blocks))


def _item(item: Item) -> Item:
    return replace(item, blocks=_all(item.blocks))


def initials(name: str) -> str:
    """Return up to two letters that stand for a name; "?" for a name without letters."""
    words = ["".join(filter(str.isalnum, word)) for word in name.split()]
    return "".join(word[0] for word in words if word)[:2].upper() or "?"


def hue(key: str) -> int:
    """Return the number of the colour for a person, always the same one."""
    return zlib.crc32(key.encode("utf-8", "replace")) % HUES


def money(micros: int, *, language: Language = ENGLISH) -> str:
    """Return an amount in millionths of a dollar as dollars."""
    return language.formats.amount(micros)


def number(value: float, decimals: int = 1, *, language: Language = ENGLISH) -> str:
    """Return a number with separators. A whole number has no decimals."""
    return language.formats.number(value, 0 if isinstance(value, int) else decimals)


def age(seconds: int, *, language: Language = ENGLISH) -> str:
    """Return how long ago something was, in the largest fitting unit."""
    for size, unit in AGES:
        if seconds >= size:
            return language.shown(unit.of(count=seconds // size))
    return language.shown(NOW)


def sentence(said: Text | str, *, language: Language = ENGLISH) -> Markup:
    """Return a sentence of the assistant for a page, with its commands in backticks as code."""
    return formatted(escape(said)) if isinstance(said, str) else html_of(language, said)


def browser(identification: str, *, language: Language = ENGLISH) -> Markup:
    """Return the browser and the system that the identification of a browser names."""
    return html_of(language, browser_of(identification))


def meaning(said: Text | str, *, language: Language = ENGLISH) -> Markup:
    """Return the explanation of a key, with links to the pages that it names."""
    escaped = sentence(said, language=language)
    return Markup(_PAGE.sub(_page, escaped))  # noqa: S704 - it was escaped


def _page(named: re.Match[str]) -> str:
    name = named[1]
    return _LINK % (name, name) if name in documentation.files() else named[0]


def _plain(text: object, language: Language) -> str:
    return language.shown(text) if isinstance(text, TEXTS) else str(text)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV file in which no cell is a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.replace("\0", "")
    return f"'{text}" if text.lstrip(" \n").startswith(FORMULA) else text
