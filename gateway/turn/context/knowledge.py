"""Recalled knowledge as the model reads it: complete items with their sources."""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from gateway.immutable import replace
from gateway.ports.prompt_blocks import (
    Assembled,
    BlockKind,
    ContextParts,
    Count,
    KnowledgeItem,
    LeftOut,
)
from gateway.turn.prompt import escaped, tagged

TAG = BlockKind.KNOWLEDGE.value
EMPTY = tagged(TAG, "")
ROUNDING = 2
"""Tokens by which a tag counted alone may exceed its share in the block."""
TRIES: Final = 3
"""The maximum number of assemblies: added knowledge may push something else out. The last one
accepts duplicates rather than omissions."""


def item_text(item: KnowledgeItem) -> str:
    """Return an item with its source, confidence and date."""
    attributes = {"source": item.source, "confidence": f"{item.confidence:.2f}"}
    if item.at is not None:
        attributes["date"] = item.at.date().isoformat()
    if item.label:
        attributes["trust"] = item.label
    if item.ref:
        attributes["id"] = item.ref
    return tagged("memory", escaped(item.text), attributes)


def block_text(entries: Sequence[str]) -> str:
    """Return the whole block; empty without entries."""
    return tagged(TAG, "\n".join(entries)) if entries else ""


def fit_items(
    items: Sequence[KnowledgeItem], entries: Sequence[str], limit: int, count: Count
) -> tuple[str, tuple[str, ...], tuple[LeftOut, ...]]:
    """Return the block within `limit` tokens, the ids of its items, and the losses.

    `entries` are the items as text, best first; one that does not fit is left out, and shorter ones
    behind it may still fit.
    """
    chosen: list[int] = []
    losses: list[LeftOut] = []
    used = count(EMPTY)
    for index, entry in enumerate(entries):
        size = count(f"{entry}\n")
        needed = used + size
        if (
            0 < needed - limit <= len(chosen) + ROUNDING
        ):  # separate counts are higher than a joint one
            needed = count(block_text([*(entries[one] for one in chosen), entry]))
        if needed <= limit:
            chosen.append(index)
            used = needed
        else:
            losses.append(LeftOut(items[index].id, "left_out", size))
    text = block_text([entries[index] for index in chosen])
    while chosen and count(text) > limit:  # counts are not exactly additive
        last = chosen.pop()
        losses.append(LeftOut(items[last].id, "left_out", count(entries[last])))
        text = block_text([entries[index] for index in chosen])
    if not chosen:  # each would need the block's tag as well
        losses = [
            LeftOut(item.id, "left_out", count(block_text([entry])))
            for item, entry in zip(items, entries, strict=True)
        ]
    return text, tuple(items[index].id for index in chosen), tuple(losses)


def assemble_deduplicated(
    parts: ContextParts,
    items: Sequence[KnowledgeItem],
    current: Collection[str],
    make: Callable[[ContextParts], Assembled],
) -> Assembled:
    """Return the prompt that `make` makes of the parts and the items of `items` that it does not
    contain already. `current` are the ids of the current messages."""
    texts = [escaped(piece.text) for piece in (*parts.personal, *parts.project)]
    hidden = _contained(items, texts, {turn.id for turn in parts.turns}.union(current))
    for _ in range(TRIES - 1):
        made = _assemble(parts, items, hidden, make)
        texts = [made[BlockKind.SYSTEM].text, made[BlockKind.PROJECT].text]
        still = hidden & _contained(items, texts, {turn.id for turn in made.turns}.union(current))
        if still == hidden:
            return made
        hidden = still
    return _assemble(parts, items, _contained(items, (), current), make)


def _assemble(
    parts: ContextParts,
    items: Sequence[KnowledgeItem],
    hidden: Collection[str],
    make: Callable[[ContextParts], Assembled],
) -> Assembled:
    shown = tuple(item for item in items if item.id not in hidden)
    return make(replace(parts, knowledge=shown) if shown or parts.knowledge else parts)


def _contained(
    items: Sequence[KnowledgeItem], texts: Sequence[str], messages: Collection[str]
) -> frozenset[str]:
    """Return the ids of items that these texts or messages contain."""
    return frozenset(
        item.id
        for item in items
        if item.message_id in messages
        or (item.line and any(escaped(item.line) in text for text in texts))
    )
