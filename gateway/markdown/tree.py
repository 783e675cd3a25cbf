"""The tree of a text, as frozen values, between Markdown and the platforms, and its limits.

Inline text is flat: a paragraph is a tuple of `Run`s, each with all of its styles. Splitting is
then slicing, and only quotes and lists are nested.
"""

import itertools
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from gateway.immutable import replace

MAX_SOURCE: Final = 200_000
"""Characters that are read as Markdown; a longer text is shown literally, so that no input can
make parsing slow. Ours."""
MAX_BRACKETS: Final = 4_000
"""Opening brackets up to which links are parsed: each one costs the parser a look ahead. Ours."""
MAX_CONTAINERS: Final = 20
"""Levels of quotes and lists that are read as such (a list counts two); deeper ones stay text.
Ours: the parser calls itself for each of them."""
MAX_FILLED_CELLS: Final = 1_000
"""Empty cells that the rows of all tables in a text may get for those they lack; two characters
can ask for a whole row of them. Ours."""

PLAIN_MESSAGE: Final = 2_000
"""Units of a part for a platform without a renderer: the smallest limit of those we know."""

GRID_WIDTH: Final = 40
"""Columns of text of a table in a fixed-width font. Phones show 30 to 40. Ours."""
GRID_LINES: Final = 6
"""Lines of a row of such a table. Ours."""


_DIGITS: Final = re.compile(r"[^\d+]")

Align: TypeAlias = Literal["left", "center", "right"]


class Run(Struct, frozen=True):
    """Text in one style; a newline in `text` is a line break.

    `link` is its target, empty for none. A bare address links to itself.
    """

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    spoiler: bool = False
    code: bool = False
    link: str = ""
    underline: bool = False

    @property
    def is_bare_link(self) -> bool:
        """True if the text is the address itself."""
        if not self.link:
            return False
        return (
            self.link == self.text
            or _is_written_number(self.link, self.text)
            or (self.link == f"mailto:{self.text}")
        )


def _is_written_number(address: str, text: str) -> bool:
    """Return True for a telephone number and its address, however its digits are grouped."""
    return address.startswith("tel:") and _DIGITS.sub("", text) == _DIGITS.sub("", address)


def shown_address(address: str) -> str:
    """Return an address as it is written behind its text: for people, not for a program."""
    scheme, _, rest = address.partition(":")
    return rest if scheme.lower() in ("mailto", "tel") and "?" not in rest else address


Inline: TypeAlias = tuple[Run, ...]


class Paragraph(Struct, frozen=True):
    """Lines of text."""

    runs: Inline


class Heading(Struct, frozen=True):
    """A heading of level 1 to 6."""

    level: int
    runs: Inline


class CodeBlock(Struct, frozen=True):
    """Preformatted text; `language` is one word or empty."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class QuoteBlock:
    """Quoted blocks."""

    blocks: tuple["Block", ...]


class Item(Struct, frozen=True):
    """A list item.

    `number` is None in a bulleted list. `checked` is None unless the item is a task. `continued` is
    true for the rest of an item from an earlier message: it has no marker.
    """

    blocks: tuple["Block", ...]
    number: int | None = None
    checked: bool | None = None
    continued: bool = False


class ItemList(Struct, frozen=True):
    """A bulleted or numbered list."""

    items: tuple[Item, ...]

    @property
    def has_gaps(self) -> bool:
        """True if a number does not follow the one before."""
        numbers = [item.number for item in self.items if not item.continued]
        return any(
            one is not None and two is not None and two != one + 1
            for one, two in itertools.pairwise(numbers)
        )


class Table(Struct, frozen=True):
    """A header row, and rows with the same number of cells."""

    aligns: tuple[Align, ...]
    header: tuple[Inline, ...]
    rows: tuple[tuple[Inline, ...], ...]


class ThematicBreak(Struct, frozen=True):
    """A horizontal line."""


Block: TypeAlias = Paragraph | Heading | CodeBlock | QuoteBlock | ItemList | Table | ThematicBreak
Document: TypeAlias = tuple[Block, ...]


def inline_text(runs: Inline) -> str:
    """Return the characters of some runs, without styles and addresses."""
    return "".join(run.text for run in runs)


def slice_runs(runs: Inline, start: int, end: int) -> Inline:
    """Return the characters from `start` to `end` with their styles; a bare address that is cut
    is no link."""
    kept: list[Run] = []
    position = 0
    for run in runs:
        first, last = max(start - position, 0), min(end - position, len(run.text))
        position += len(run.text)
        if first >= last:
            if position >= end:
                break
            continue
        if last - first == len(run.text):
            kept.append(run)
        else:
            link = "" if run.is_bare_link else run.link
            kept.append(replace(run, text=run.text[first:last], link=link))
    return tuple(kept)


def without_links(runs: Inline) -> Inline:
    """Append every address to its text: for links that are too long."""
    shown: list[Run] = []
    for index, run in enumerate(runs):
        following = runs[index + 1].link if index + 1 < len(runs) else ""
        shown.append(replace(run, link=""))
        if run.link and not run.is_bare_link and following != run.link:
            shown.append(Run(f" ({shown_address(run.link)})"))
    return tuple(shown)
