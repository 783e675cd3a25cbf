"""Splitting code at its definitions."""

from collections.abc import Iterator, Sequence
from typing import Final

from memory.knowledge.model import Chunk
from memory.knowledge.splitting.definitions import definitions_in
from memory.knowledge.splitting.pieces import Section, chunks_of

MAX_LEAD: Final = 60
"""Lines of comments and decorators that belong to the definition below."""
_LEADS: Final = ("#", "//", "/*", "*", "@", "--", ";;", "%", '"""', "'''", "[", "<!--", "{-")


def split_code(language: str, lines: Sequence[str]) -> tuple[Chunk, ...]:
    """Chunks of code, each with the names that it defines."""
    sections = [Section(0)]
    for definition in definitions_in(language, lines):
        symbol = definition.name if definition.introduces else ""
        first = _lead(lines, definition.line, sections[-1].first)
        if first == sections[-1].first and not sections[-1].symbol:
            sections[-1] = Section(first, symbol)
        else:
            sections.append(Section(first, symbol))
    return chunks_of(lines, list(_in_order(sections)))


def _lead(lines: Sequence[str], line: int, after: int) -> int:
    """The line with which a definition begins: its comments and decorators stand above it."""
    first = line
    while first - 1 > after and line - first < MAX_LEAD:
        if not lines[first - 1].lstrip()[:4].startswith(_LEADS):
            break
        first -= 1
    return first


def _in_order(sections: Sequence[Section]) -> Iterator[Section]:
    """Without sections that begin where the one before begins."""
    last = -1
    for section in sections:
        if section.first > last:
            yield section
            last = section.first
