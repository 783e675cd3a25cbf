"""Splits a tree into trees that each fit into one message, without loss, and a text where it may be
cut: never inside a character, preferably at a line, a sentence or a word.

Sizes are those of the rendered blocks: `Measure` is the platform's own function.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias, TypeVar

from gateway.immutable import replace
from gateway.markdown import table
from gateway.markdown.tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    Item,
    ItemList,
    Paragraph,
    QuoteBlock,
    Table,
    ThematicBreak,
    inline_text,
    slice_runs,
    without_links,
)

T = TypeVar("T")
Measure: TypeAlias = Callable[[Block], int]
MayJoin: TypeAlias = Callable[[Sequence[Block], Block], bool]
"""Returns True if a message with these blocks may take one more, whatever its size."""
GAP = 2
"""The size of the separator between two blocks: at most a blank line."""
_WORTH_FILLING = 3
"""The divisor of the minimum room in which a block is started."""


def _always(group: Sequence[Block], block: Block) -> bool:
    del group, block
    return True


def pack(
    blocks: Document, limit: int, measure: Measure, may_join: MayJoin = _always
) -> list[Document]:
    """Group blocks into messages of at most `limit`, in order; a heading stays with the next
    block."""
    packed = _Packer(limit, may_join)
    for block in blocks:
        size = measure(block)
        if size <= limit:
            packed.add(block, size)
            continue
        room = packed.room()
        first = room if room * _WORTH_FILLING >= limit else limit
        for piece in split(block, first, limit, measure):
            packed.add(piece, measure(piece))
    return packed.finish()


class _Packer:
    """Fills the messages one by one."""

    def __init__(self, limit: int, may_join: MayJoin = _always, gap: int = GAP) -> None:
        self._limit = limit
        self._gap = gap
        self._may_join = may_join
        self._done: list[Document] = []
        self._blocks: list[tuple[Block, int]] = []
        self._used = 0

    def room(self) -> int:
        """Return the room in the current message."""
        return self._limit - self._used

    def add(self, block: Block, size: int) -> None:
        """Add a block to this message, or to the next."""
        group = [held for held, _ in self._blocks]
        if group and (size > self.room() or not self._may_join(group, block)):
            self._next(block, size)
        self._blocks.append((block, size))
        self._used += size + self._gap

    def finish(self) -> list[Document]:
        """Return all groups."""
        self._flush(len(self._blocks))
        return self._done

    def _next(self, block: Block, size: int) -> None:
        end = len(self._blocks)
        while end > 1 and isinstance(self._blocks[end - 1][0], Heading):
            end -= 1
        headings = [held for held, _ in self._blocks[end:]]
        carried = sum(heading + self._gap for _, heading in self._blocks[end:])
        together = size + carried <= self._limit and self._may_join(headings, block)
        self._flush(end if together else len(self._blocks))

    def _flush(self, end: int) -> None:
        if end:
            self._done.append(tuple(block for block, _ in self._blocks[:end]))
        del self._blocks[:end]
        self._used = sum(size + self._gap for _, size in self._blocks)


def split(block: Block, first: int, limit: int, measure: Measure) -> list[Block]:
    """Split a block: the first piece of at most `first` where possible, others of `limit`."""
    if measure(block) <= first:
        return [block]
    match block:
        case Paragraph() | Heading():
            return list(_cut_inline(block, first, limit, measure))
        case CodeBlock():
            return list(_cut_code(block, first, limit, measure))
        case QuoteBlock():
            return _group_blocks(block.blocks, first, limit, measure)
        case ItemList():
            return _group_items(block, first, limit, measure)
        case Table():
            return _split_table(block, first, limit, measure)
        case ThematicBreak():
            return [block]


def _cut_inline(
    block: Paragraph | Heading, first: int, limit: int, measure: Measure
) -> Iterator[Block]:
    # Rendering never shortens a text, so a rest that is too long need not be rendered.
    room, rest, text = first, block, inline_text(block.runs)
    while len(text) > room or measure(rest) > room:

        def fits(end: int, block: Paragraph | Heading = rest, room: int = room) -> bool:
            return measure(replace(block, runs=slice_runs(block.runs, 0, end))) <= room

        end = longest(min(len(text), room), fits)
        if end == 0 and any(run.link for run in rest.runs):
            rest = replace(rest, runs=without_links(rest.runs))
            text = inline_text(rest.runs)
            continue
        end = best_cut(text, max(end, 1))
        yield replace(rest, runs=slice_runs(rest.runs, 0, end))
        begin = skip_space(text, end)
        rest = replace(rest, runs=slice_runs(rest.runs, begin, len(text)))
        text, room = text[begin:], limit
    if rest.runs:
        yield rest


def _cut_code(block: CodeBlock, first: int, limit: int, measure: Measure) -> Iterator[Block]:
    room, rest = first, block
    while len(rest.text) > room or measure(rest) > room:

        def fits(end: int, block: CodeBlock = rest, room: int = room) -> bool:
            return measure(replace(block, text=block.text[:end])) <= room

        end = line_cut(rest.text, max(longest(min(len(rest.text), room), fits), 1))
        yield replace(rest, text=rest.text[:end])
        begin = end + 1 if rest.text[end : end + 1] == "\n" else end
        rest, room = replace(rest, text=rest.text[begin:]), limit
    if rest.text:
        yield rest


def _group_blocks(blocks: Sequence[Block], first: int, limit: int, measure: Measure) -> list[Block]:
    """Split a long quote into several quotes."""
    groups = _groups(blocks, first, limit, lambda part: measure(QuoteBlock(part)))
    return [QuoteBlock(group) for group in groups]


def _group_items(block: ItemList, first: int, limit: int, measure: Measure) -> list[Block]:
    """Split a long list into several lists; an item that is too long continues without its
    marker."""
    pieces: list[Item] = []
    room = first
    for item in block.items:
        if measure(ItemList((item,))) <= limit:
            pieces.append(item)
            continue

        def size(part: Document, item: Item = item) -> int:
            return measure(ItemList((replace(item, blocks=part),)))

        parts = _groups(item.blocks, limit if pieces else room, limit, size)
        pieces += [
            replace(item, blocks=part, continued=item.continued or index > 0)
            for index, part in enumerate(parts)
        ]
    empty = measure(ItemList(()))
    sample = Item((ThematicBreak(),))
    gap = measure(ItemList((sample, sample))) - 2 * measure(ItemList((sample,))) + empty
    groups: list[tuple[Item, ...]] = []
    taken, used = 0, 0
    for index, piece in enumerate(pieces):
        size_of = measure(ItemList((piece,))) - empty + gap
        if index > taken and empty + used + size_of > room:
            groups.append(tuple(pieces[taken:index]))
            taken, used, room = index, 0, limit
        used += size_of
    groups.append(tuple(pieces[taken:]))
    return [
        ItemList(half)
        for group in groups
        for half in _halved(group, lambda items: measure(ItemList(items)) <= limit)
    ]


def _groups(
    blocks: Sequence[Block], first: int, limit: int, size: Callable[[Document], int]
) -> list[Document]:
    """Group consecutive blocks whose `size`, with everything around them, fits."""
    around = size(())
    gap = size((ThematicBreak(), ThematicBreak())) - 2 * size((ThematicBreak(),)) + around
    packed = _Packer(limit - around, gap=gap)
    room = max(first - around, 1)
    for block in blocks:
        if size((block,)) <= limit:
            packed.add(block, size((block,)) - around)
            continue
        for piece in split(block, room + around, limit, lambda part: size((part,))):
            packed.add(piece, size((piece,)) - around)
        room = limit - around
    return [
        half
        for group in packed.finish()
        for half in _halved(group, lambda part: size(part) <= limit)
    ]


def _halved(parts: tuple[T, ...], fits: Callable[[tuple[T, ...]], bool]) -> list[tuple[T, ...]]:
    """Halve the parts until they fit: added sizes are an estimate."""
    if len(parts) < 2 or fits(parts):
        return [parts]
    middle = len(parts) // 2
    return [*_halved(parts[:middle], fits), *_halved(parts[middle:], fits)]


def _split_table(block: Table, first: int, limit: int, measure: Measure) -> list[Block]:
    """Split a long table by rows, each with the header."""
    if len(block.rows) <= 1 or measure(replace(block, rows=())) > limit // 2:
        pieces: list[Block] = []
        for paragraph in table.as_records(block):
            pieces += split(paragraph, first, limit, measure)
        return pieces
    middle = len(block.rows) // 2
    halves = (replace(block, rows=block.rows[:middle]), replace(block, rows=block.rows[middle:]))
    return [piece for half in halves for piece in split(half, limit, limit, measure)]


_SENTENCE: Final = re.compile(r"[.!?…。！？][\"'”’)\]]{0,3}(?=\s|$)|[。！？]")
_SPACE: Final = re.compile(r"\s+")
_MAX_CLUSTER: Final = 32
_JOINER: Final = "\u200d"


def units(text: str) -> int:
    """Return the UTF-16 code units of a text."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for char in text if char > "\uffff")


def longest(total: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 0 to `total` that fits, if every smaller one fits too."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def best_cut(text: str, end: int) -> int:
    """Return the best position at or before `end` to cut `text`; above 0 if `end` is.

    Only the second half is searched, so that no message is much shorter than necessary.
    """
    if end >= len(text):
        return len(text)
    earliest = end // 2
    newline = text.rfind("\n", earliest, end + 1)
    if newline > 0:
        return newline
    return _last_match(_SENTENCE, text, earliest, end) or word_cut(text, end)


def line_cut(text: str, end: int) -> int:
    """Like `best_cut` for code: at a line, otherwise between characters."""
    if end >= len(text):
        return len(text)
    newline = text.rfind("\n", 0, end + 1)
    return newline if newline > 0 else character_cut(text, end)


def word_cut(text: str, end: int) -> int:
    """Return the last gap between words at or before `end`, otherwise between characters."""
    for index in range(end, end // 2, -1):
        if text[index].isspace():
            return index
    return character_cut(text, end)


def character_cut(text: str, end: int) -> int:
    """Return the last position at or before `end` that splits no visible character.

    A cluster of more than 32 code points is split.
    """
    for index in range(end, max(end - _MAX_CLUSTER, 0), -1):
        if not _joined(text, index):
            return index
    return end


def skip_space(text: str, start: int) -> int:
    """Return the position after the space at `start`."""
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _last_match(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    last = 0
    for match in pattern.finditer(text, start, end):
        last = match.end()
    return last if last < end or text[end : end + 1].isspace() else 0


def _joined(text: str, index: int) -> bool:
    """Return True if the characters around `index` are displayed as one."""
    before, after = text[index - 1], text[index]
    if before.isascii() and after.isascii():
        return before == "\r" and after == "\n"
    if _JOINER in (before, after) or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    return _is_flag_half(before) and _is_flag_half(after) and _flag_halves(text, index) % 2 == 1


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_halves(text: str, index: int) -> int:
    """Return the number of halves of flags before `index`, within one cluster."""
    count = 0
    while count < min(_MAX_CLUSTER, index) and _is_flag_half(text[index - 1 - count]):
        count += 1
    return count
