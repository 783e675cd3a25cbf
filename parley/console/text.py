"""Texts from outside in pages and CSV files."""

import csv
import io
import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from markupsafe import Markup, escape

from gateway.immutable import replace
from gateway.markdown import parse
from gateway.markdown.html_renderer import document
from gateway.markdown.tree import Block, Document, Heading, Item, ItemList, Paragraph, QuoteBlock
from gateway.markdown.unfinished import close_unfinished
from gateway.policy.budgets import MICRO

SHOWN: Final = 2_000
"""Characters of a text that are visible at first."""
MOST: Final = 20_000
"""Characters of a text in a page; the API returns the whole text."""
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets take a cell that begins so for a formula."""
AGES: Final = (("year", 31_536_000), ("day", 86_400), ("hour", 3_600), ("minute", 60))
_ISOLATED: Final = Markup('<bdi class="outside" dir="auto">%s</bdi>')
_FOLDED: Final = Markup(
    '<bdi class="outside" dir="auto">%s</bdi><details><summary>Show all (%s characters)</summary>'
    '<bdi class="outside" dir="auto">%s</bdi>%s</details>'
)
_CUT: Final = Markup("<p>The page shows the first %s characters.</p>")
_TIME: Final = Markup('<time datetime="%s">%s</time>')
_CLOCK: Final = Markup('<time datetime="%s" data-show="time">%s</time>')
_FORMATTED: Final = Markup('<div class="formatted" dir="auto">%s</div>')
HUES: Final = 8
"""Colours of the circles that stand for people."""


def outside(text: object, shown: int = SHOWN) -> Markup:
    """Return a text from outside for a page: escaped, isolated from the direction of what is around
    it, broken anywhere, and folded beyond `shown` characters."""
    whole = str(text)
    if len(whole) <= shown:
        return _ISOLATED % whole
    cut = _CUT % f"{MOST:,}" if len(whole) > MOST else ""
    return _FOLDED % (whole[:shown] + "…", f"{len(whole):,}", whole[:MOST], cut)


def short(text: object, most: int = 80) -> Markup:
    """Return the beginning of a text from outside, in one line."""
    line = " ".join(str(text)[: most * 4].split())
    return _ISOLATED % (line if len(line) <= most else f"{line[: most - 1]}…")


def when(at: datetime | None) -> Markup:
    """Return a time, which `console.js` shows in the reader's zone."""
    if at is None:
        return escape("never")
    utc = at.astimezone(UTC)
    return _TIME % (utc.isoformat(timespec="seconds"), f"{utc:%Y-%m-%d %H:%M} UTC")


def clock(at: datetime) -> Markup:
    """Return the time of a day, which `console.js` shows in the reader's zone."""
    utc = at.astimezone(UTC)
    return _CLOCK % (utc.isoformat(timespec="seconds"), f"{utc:%H:%M} UTC")


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


def money(micros: int) -> str:
    """Return an amount in millionths of a dollar as dollars."""
    return f"${micros / MICRO:,.4f}"


def number(value: float) -> str:
    """Return a number with separators."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def age(seconds: int) -> str:
    """Return how long ago something was, in the largest fitting unit."""
    for unit, size in AGES:
        if seconds >= size:
            count = seconds // size
            return f"{count:,} {unit}{'s' * (count != 1)} ago"
    return "just now"


def counted(number: int, one: str, several: str) -> str:
    """Return the sentence for one thing, or for `{number}` of them."""
    return one if number == 1 else several.format(number=f"{number:,}")


def sentence(text: str) -> Markup:
    """Return a sentence of the assistant for a page, with its commands in backticks as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else escape(piece)
        for place, piece in enumerate(pieces)
    )


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
