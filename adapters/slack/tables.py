"""Which tables of an answer are table blocks in Slack, and how many of them a message takes."""

from collections.abc import Sequence
from typing import Final, TypeGuard

from gateway.markdown import table
from gateway.markdown.boundaries import units
from gateway.markdown.tree import Block, Document, Table, inline_text, without_links

MAX_TABLE_ROWS: Final = 100
"""Rows of a table, its header included: docs.slack.dev/reference/block-kit/blocks/table-block."""

MAX_TABLE_COLUMNS: Final = 20
"""Cells of a table row: docs.slack.dev/reference/block-kit/blocks/table-block."""

MAX_TABLE_CHARACTERS: Final = 10_000
"""Characters in all cells of a message's tables:
docs.slack.dev/reference/block-kit/blocks/data-table-block."""

_OVERHEAD: Final = 200


class DataTable(Table, frozen=True):
    """A table after the first one of a message, which takes one block of type `table` only
    (`only_one_table_allowed`) and any number of type `data_table`."""


def arranged(blocks: Document) -> Document:
    """The first table keeps its type, later ones are data tables; wider ones become text."""
    seen = False
    out: list[Block] = []
    for block in blocks:
        if not isinstance(block, Table):
            out.append(block)
        elif not is_native(block):
            out += table.as_text((block,))
        else:
            later = seen and block.rows
            out.append(DataTable(block.aligns, block.header, block.rows) if later else block)
            seen = True
    return tuple(out)


def may_join(group: Sequence[Block], block: Block) -> bool:
    """Return True if a message with the blocks of `group` may hold this one, if it is a table."""
    held = [other for other in group if is_native(other)]
    if not held or not is_native(block):
        return True
    characters = sum(map(_characters, (*held, block)))
    return isinstance(block, DataTable) and characters <= MAX_TABLE_CHARACTERS


def is_native(block: Block) -> TypeGuard[Table]:
    """Return True for a table that Slack shows as such."""
    return isinstance(block, Table) and len(block.header) <= MAX_TABLE_COLUMNS


def size(block: Table, limit: int) -> int:
    """Return the characters that Slack counts of a table; above `limit` if it has to be split."""
    # The structure around cells cannot count, or no table could have the rows it may have.
    characters = _characters(block)
    fits = len(block.rows) < MAX_TABLE_ROWS and characters <= MAX_TABLE_CHARACTERS
    return characters if fits else max(characters, limit + 1)


def _characters(block: Table) -> int:
    cells = [cell for row in (block.header, *block.rows) for cell in row]
    return sum(units(inline_text(without_links(cell))) or 1 for cell in cells) + _OVERHEAD
