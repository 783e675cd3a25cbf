"""Splitting documents at their headings, and reading the YAML block that begins some, between two
lines of three hyphens."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import yaml
from msgspec import Struct

from memory.knowledge.model import Chunk
from memory.knowledge.splitting.pieces import FileSection, chunks_of

FULL: Final = 400
"""Characters from which a chunk ends where the next heading begins."""
MAX_LEVEL: Final = 6
MAX_TITLE: Final = 200
MAX_HEADING: Final = 400
MAX_LINE: Final = 1_000
"""Characters of a line that can be a heading."""
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS: Final = {
    "markdown": re.compile(r"\A {0,3}(?P<level>#{1,6})(?:\s++(?P<text>.*+))?+\Z"),
    "asciidoc": re.compile(r"\A(?P<level>={1,6})\s++(?P<text>.*+)\Z"),
    "org": re.compile(r"\A(?P<level>\*{1,6})\s++(?P<text>.*+)\Z"),
}
_UNDERLINE: Final = re.compile(r"([=\-~^\"'`#*+.:_])\1++\Z")
_UNDERLINED: Final = {"markdown": "=-", "restructuredtext": "=-~^\"'`#*+.:_"}
_LINK: Final = re.compile(r"\[([^\[\]]*+)\]\([^()]*+\)")
_TAGS: Final = re.compile(r"<[^<>]*+>|\{#[^{}]*+\}")


class DocumentHeading(Struct, frozen=True):
    """A heading in a line (from 0), level 1 to 6; its text begins at line `below`."""

    line: int
    level: int
    text: str
    below: int


def headings_in(language: str, lines: Sequence[str], begin: int = 0) -> list[DocumentHeading]:
    """The headings of a document after line `begin`, without those in fenced code."""
    found: list[DocumentHeading] = []
    fence = ""
    levels: dict[str, int] = {}
    mark = _MARKS.get(language)
    signs = _UNDERLINED.get(language, "")
    for number in range(begin, len(lines)):
        line = lines[number][:MAX_LINE].rstrip()
        fence, fenced = _fenced(language, line, fence)
        if fenced:
            continue
        heading = mark.match(line) if mark else None
        if heading is not None:
            text = (heading["text"] or "").strip().rstrip("#").strip()
            found.append(DocumentHeading(number, len(heading["level"]), plain(text), number + 1))
        elif line and line[0] in signs and number > begin:
            above = lines[number - 1][:MAX_LINE].strip()
            if _underlines(line, above) and not (found and found[-1].below >= number):
                level = _level(language, line[0], levels)
                found.append(DocumentHeading(number - 1, level, plain(above), number + 1))
    return found


def split_document(
    lines: Sequence[str],
    headings: Sequence[DocumentHeading],
    before: Sequence[DocumentHeading] = (),
) -> tuple[Chunk, ...]:
    """Chunks of a document, each with the headings above it. `before` are the headings above the
    first line, if that is not the beginning of a document."""
    sections = [FileSection(0, heading=_path(before))]
    above = list(before)
    for heading in headings:
        above = under(above, heading)
        section = FileSection(heading.line, heading=_path(above))
        if heading.line == 0:
            sections[0] = section
        else:
            sections.append(section)
    return chunks_of(lines, sections, full=FULL)


def under(above: Sequence[DocumentHeading], heading: DocumentHeading) -> list[DocumentHeading]:
    """Return the headings that stand above the text of a heading, itself the last of them."""
    return [*(one for one in above if one.level < heading.level), heading]


def _path(above: Sequence[DocumentHeading]) -> str:
    return " > ".join(one.text for one in above if one.text)[-MAX_HEADING:]


def title_of(headings: Sequence[DocumentHeading]) -> str:
    """The text of the first heading of the highest level."""
    highest = min((heading.level for heading in headings), default=0)
    return next((one.text for one in headings if one.level == highest and one.text), "")


def plain(text: str) -> str:
    """One line of Markdown without links, tags and emphasis."""
    shown = _TAGS.sub("", _LINK.sub(r"\1", text[:MAX_LINE]))
    return " ".join(shown.replace("**", "").replace("`", "").split())[:MAX_TITLE]


def _fenced(language: str, line: str, fence: str) -> tuple[str, bool]:
    """The open fence after a line, and whether the line belongs to fenced code."""
    if language != "markdown":
        return "", False
    found = _FENCE.match(line)
    if not fence:
        return (found[1], True) if found else ("", False)
    closes = found is not None and found[1].startswith(fence) and line.strip() == found[1]
    return ("" if closes else fence), True


def _underlines(line: str, above: str) -> bool:
    return (
        len(line) >= 3
        and _UNDERLINE.match(line) is not None
        and bool(above)
        and above[0].isalnum() | (above[0] in "`*[(")
        and (len(line) >= len(above) or len(line) >= 5)
    )


def _level(language: str, sign: str, levels: dict[str, int]) -> int:
    """Markdown fixes the levels of its signs; elsewhere the first sign seen is the highest."""
    if language == "markdown":
        return 1 if sign == "=" else 2
    return levels.setdefault(sign, min(len(levels) + 1, MAX_LEVEL))


MAX_LINES: Final = 100
MAX_SIZE: Final = 4_000
"""Characters of a block that is read."""
MAX_BRACKETS: Final = 40
"""Opening brackets of a block that is read: the reader's time grows with the square of nesting."""
MAX_VALUES: Final = 20
MAX_VALUE: Final = 200
NULL: Final = "tag:yaml.org,2002:null"
"""The kind of a value that is not there."""


class _FrontMatterLoader(yaml.SafeLoader):
    """A parser without aliases, with which a few lines hold any number of values."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def front_matter(lines: Sequence[str]) -> tuple[Mapping[str, tuple[str, ...]], int]:
    """The fields of the block, with names in small letters and "_" for "-" and " ", each with its
    texts, and the line after the block. What cannot be read has no fields."""
    if not lines or lines[0].strip() != "---":
        return {}, 0
    for number, line in enumerate(lines[1 : MAX_LINES + 1], 1):
        if line.strip() in {"---", "..."}:
            return _fields("".join(lines[1:number])), number + 1
    return {}, 0


def _fields(block: str) -> dict[str, tuple[str, ...]]:
    if len(block) > MAX_SIZE or block.count("[") + block.count("{") > MAX_BRACKETS:
        return {}
    try:
        read = yaml.compose(block, _FrontMatterLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(read, yaml.MappingNode):
        return {}
    return {
        name.value.lower().replace("-", "_").replace(" ", "_")[:MAX_VALUE]: _texts(value)
        for name, value in read.value[:MAX_LINES]
        if isinstance(name, yaml.ScalarNode)
    }


def _texts(node: yaml.Node) -> tuple[str, ...]:
    """The scalars of a node as they are written: making values of their types can fail."""
    nodes = node.value[:MAX_VALUES] if isinstance(node, yaml.SequenceNode) else [node]
    return tuple(
        one.value[:MAX_VALUE].strip()
        for one in nodes
        if isinstance(one, yaml.ScalarNode) and one.tag != NULL
    )
