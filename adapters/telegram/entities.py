"""Entities of a text, and changes at their places.

Telegram counts offsets in UTF-16 units (https://core.telegram.org/api/entities).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from adapters.shared.json_readers import JsonObject, as_mapping, integer, text

MAX_ENTITIES: Final = 1_000
"""Entities read of one text. The Bot API delivers at most 100; a rich message can have more."""
QUOTES: Final = ("blockquote", "expandable_blockquote")

CLOSE, AFTER, LINE_START, OPEN = range(4)
"""The order of insertions at one place: the end of a mark, an addition to what it marks, the start
of a quoted line, the start of a mark."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A range of the text, in UTF-16 units."""

    kind: str
    start: int
    end: int
    words: str
    raw: JsonObject = field(repr=False)


class TextChange(NamedTuple):
    """A range in UTF-16 units whose text becomes `words`. `order` is for insertions."""

    start: int
    end: int
    words: str
    order: int = AFTER


class Units:
    """A text by its UTF-16 units."""

    __slots__ = ("_raw", "_source", "length")

    def __init__(self, source: str) -> None:
        self._source = source
        self._raw = b"" if source.isascii() else source.encode("utf-16-le")
        self.length = len(source) if source.isascii() else len(self._raw) // 2

    def cut(self, start: int, end: int | None = None) -> str:
        """The text from one offset to another one, or to its end."""
        end = self.length if end is None else end
        if not self._raw:
            return self._source[start:end]
        return self._raw[2 * start : 2 * end].decode("utf-16-le", "replace")


def units_of(words: str) -> int:
    """The length in UTF-16 units."""
    return len(words) if words.isascii() else len(words.encode("utf-16-le")) // 2


def entities_in(source: Units, entities: list[object]) -> list[Entity]:
    """The entities that lie inside the text, in order; of those that begin together, the longest
    first."""
    parsed: list[Entity] = []
    for entity in entities[:MAX_ENTITIES]:
        raw = as_mapping(entity)
        start, length = integer(raw, "offset"), integer(raw, "length")
        if start is None or length is None or start < 0 or length <= 0:
            continue
        end = start + length
        if end <= source.length:
            parsed.append(Entity(text(raw, "type"), start, end, source.cut(start, end), raw))
    parsed.sort(key=lambda entity: (entity.start, -entity.end))
    return parsed


def outermost(entities: Iterable[Entity]) -> list[Entity]:
    """The entities, in order, without those that begin inside another one."""
    kept: list[Entity] = []
    for entity in entities:
        if not kept or entity.start >= kept[-1].end:
            kept.append(entity)
    return kept


def lines_of(entity: Entity) -> Iterator[tuple[int, str]]:
    """The lines of a range, each with its offset."""
    at = entity.start
    for line in entity.words.split("\n"):
        if at < entity.end:
            yield at, line
        at += units_of(line) + 1


def changed(source: Units, changes: list[TextChange]) -> str:
    """The text with these changes; a removed range takes one space along."""
    kept: list[str] = []
    at = 0
    for start, end, words, _ in sorted(changes, key=lambda one: (one[0], one[1] > one[0], one[3])):
        if start < at:
            if start == end:
                kept.append(words)
            continue
        kept += (source.cut(at, start), words)
        at = end
        if not words and end > start:
            at = _after_cut("".join(kept), source, end)
    kept.append(source.cut(at))
    return "".join(kept).strip()


def _after_cut(before: str, source: Units, end: int) -> int:
    """The offset at which the text continues behind a removed range."""
    if not before.strip(" \n\t>~`"):
        while source.cut(end, end + 1) in (",", ":", " ", "\n"):
            end += 1
    elif before[-1].isspace() and source.cut(end, end + 1) == " ":
        end += 1
    return end
