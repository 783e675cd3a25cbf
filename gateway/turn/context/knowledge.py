"""Recalled knowledge as the model reads it: complete items with their sources."""

from collections.abc import Sequence

from gateway.ports.prompt_blocks import BlockKind, Count, KnowledgeItem, Loss
from gateway.turn.context.delimiters import escaped, tagged

TAG = BlockKind.KNOWLEDGE.value
EMPTY = tagged(TAG, "")
ROUNDING = 2
"""Tokens by which a tag counted alone may exceed its share in the block."""


def written(item: KnowledgeItem) -> str:
    """Return an item with its source, confidence and date."""
    attributes = {"source": item.source, "confidence": f"{item.confidence:.2f}"}
    if item.at is not None:
        attributes["date"] = item.at.date().isoformat()
    if item.label:
        attributes["trust"] = item.label
    if item.ref:
        attributes["id"] = item.ref
    return tagged("memory", escaped(item.text), attributes)


def block_of(entries: Sequence[str]) -> str:
    """Return the whole block; empty without entries."""
    return tagged(TAG, "\n".join(entries)) if entries else ""


def filled(
    items: Sequence[KnowledgeItem], entries: Sequence[str], limit: int, count: Count
) -> tuple[str, tuple[str, ...], tuple[Loss, ...]]:
    """Return the block within `limit` tokens, the ids of its items, and the losses.

    `entries` are the items as text, best first; one that does not fit is left out, and shorter ones
    behind it may still fit.
    """
    chosen: list[int] = []
    losses: list[Loss] = []
    used = count(EMPTY)
    for index, entry in enumerate(entries):
        size = count(f"{entry}\n")
        needed = used + size
        if 0 < needed - limit <= len(chosen) + ROUNDING:  # counted apart they come to more
            needed = count(block_of([*(entries[one] for one in chosen), entry]))
        if needed <= limit:
            chosen.append(index)
            used = needed
        else:
            losses.append(Loss(items[index].id, "left_out", size))
    text = block_of([entries[index] for index in chosen])
    while chosen and count(text) > limit:  # a count that is not additive can be off by some tokens
        last = chosen.pop()
        losses.append(Loss(items[last].id, "left_out", count(entries[last])))
        text = block_of([entries[index] for index in chosen])
    if not chosen:  # each would need the block's tag as well
        losses = [
            Loss(item.id, "left_out", count(block_of([entry])))
            for item, entry in zip(items, entries, strict=True)
        ]
    return text, tuple(items[index].id for index in chosen), tuple(losses)
