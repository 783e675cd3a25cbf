"""Splits a tree into trees that each fit into one message, without loss.

Sizes are those of the rendered blocks: `Measure` is the platform's own function.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from gateway.immutable import replace
from gateway.markdown import boundaries, table
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

        end = boundaries.longest(min(len(text), room), fits)
        if end == 0 and any(run.link for run in rest.runs):
            rest = replace(rest, runs=without_links(rest.runs))
            text = inline_text(rest.runs)
            continue
        end = boundaries.best_cut(text, max(end, 1))
        yield replace(rest, runs=slice_runs(rest.runs, 0, end))
        begin = boundaries.skip_space(text, end)
        rest = replace(rest, runs=slice_runs(rest.runs, begin, len(text)))
        text, room = text[begin:], limit
    if rest.runs:
        yield rest


def _cut_code(block: CodeBlock, first: int, limit: int, measure: Measure) -> Iterator[Block]:
    room, rest = first, block
    while len(rest.text) > room or measure(rest) > room:

        def fits(end: int, block: CodeBlock = rest, room: int = room) -> bool:
            return measure(replace(block, text=block.text[:end])) <= room

        end = boundaries.line_cut(
            rest.text, max(boundaries.longest(min(len(rest.text), room), fits), 1)
        )
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
