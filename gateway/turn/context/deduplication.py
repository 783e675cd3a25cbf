"""Removes knowledge that the brief or the history contains already. Where that copy was cut out of
its block, the item may return as knowledge."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from gateway.ports.prompt_blocks import Assembled, BlockKind, ContextParts, KnowledgeItem
from gateway.turn.context.delimiters import escaped

TRIES: Final = 3
"""The maximum number of assemblies: added knowledge may push something else out. The last one
accepts duplicates rather than omissions."""


def assemble_deduplicated(
    parts: ContextParts,
    items: Sequence[KnowledgeItem],
    current: Collection[str],
    make: Callable[[ContextParts], Assembled],
) -> Assembled:
    """Return the prompt that `make` makes of the parts and the items of `items` that it does not
    contain already. `current` are the ids of the current messages."""
    texts = [escaped(piece.text) for piece in (*parts.personal, *parts.project)]
    hidden = _told(items, texts, {turn.id for turn in parts.turns}.union(current))
    for _ in range(TRIES - 1):
        made = _made(parts, items, hidden, make)
        texts = [made[BlockKind.SYSTEM].text, made[BlockKind.PROJECT].text]
        still = hidden & _told(items, texts, {turn.id for turn in made.turns}.union(current))
        if still == hidden:
            return made
        hidden = still
    return _made(parts, items, _told(items, (), current), make)


def _made(
    parts: ContextParts,
    items: Sequence[KnowledgeItem],
    hidden: Collection[str],
    make: Callable[[ContextParts], Assembled],
) -> Assembled:
    shown = tuple(item for item in items if item.id not in hidden)
    return make(replace(parts, knowledge=shown) if shown or parts.knowledge else parts)


def _told(
    items: Sequence[KnowledgeItem], texts: Sequence[str], messages: Collection[str]
) -> frozenset[str]:
    """Return the ids of items that these texts or messages contain."""
    return frozenset(
        item.id
        for item in items
        if item.message_id in messages
        or (item.line and any(escaped(item.line) in text for text in texts))
    )
