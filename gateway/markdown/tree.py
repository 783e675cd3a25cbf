"""What a text means, as a small tree of frozen values: the one form between Markdown and platforms.

Inline text is flat: a paragraph is a tuple of `Run`s, each with all of its styles. That makes
splitting a matter of slicing, and leaves nesting to quotes and lists only.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Align: TypeAlias = Literal["left", "center", "right"]


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text with the same style; a newline in `text` is a line break.

    `link` is where the text leads, empty for nowhere. A bare address is a link to itself.
    """

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    spoiler: bool = False
    code: bool = False
    link: str = ""

    @property
    def is_bare_link(self) -> bool:
        """True when the text is the address itself."""
        return bool(self.link) and self.link in (self.text, f"mailto:{self.text}")


Inline: TypeAlias = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some lines of text."""

    runs: Inline


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6."""

    level: int
    runs: Inline


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Text shown as it is; `language` is one word or empty."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Blocks somebody else said."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a list.

    `number` is None in a bulleted list. `checked` is None unless the item is a task. `continued`
    is true for the rest of an item that began in an earlier message: it has no marker.
    """

    blocks: tuple["Block", ...]
    number: int | None = None
    checked: bool | None = None
    continued: bool = False


@dataclass(frozen=True, slots=True)
class ItemList:
    """A bulleted or numbered list."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A header row and rows of as many cells."""

    aligns: tuple[Align, ...]
    header: tuple[Inline, ...]
    rows: tuple[tuple[Inline, ...], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across."""


Block: TypeAlias = Paragraph | Heading | CodeBlock | Quote | ItemList | Table | Rule
Document: TypeAlias = tuple[Block, ...]


def inline_text(runs: Inline) -> str:
    """The characters of some runs, without styles and addresses."""
    return "".join(run.text for run in runs)


def slice_runs(runs: Inline, start: int, end: int) -> Inline:
    """The characters from `start` to `end`, styles kept; a bare address that is cut is no link."""
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
    """Every address written out behind its text: for links too long to be links."""
    shown: list[Run] = []
    for index, run in enumerate(runs):
        following = runs[index + 1].link if index + 1 < len(runs) else ""
        shown.append(replace(run, link=""))
        if run.link and not run.is_bare_link and following != run.link:
            shown.append(Run(f" ({run.link})"))
    return tuple(shown)
