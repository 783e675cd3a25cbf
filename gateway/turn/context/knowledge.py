"""What was recalled, as the model reads it: every item under its source, nothing half."""

from collections.abc import Sequence

from gateway.ports.prompt_blocks import BlockKind, Count, KnowledgeItem, Loss
from gateway.turn.context.delimiters import escaped, tagged

TAG = BlockKind.KNOWLEDGE.value
EMPTY = tagged(TAG, "")
ROUNDING = 2
"""Tokens that the tag counts for too much, apart from its contents."""


def written(item: KnowledgeItem) -> str:
    """One item with where it comes from, how sure that is, and when it was learned."""
    told = {"source": item.source, "confidence": f"{item.confidence:.2f}"}
    if item.at is not None:
        told["date"] = item.at.date().isoformat()
    if item.label:
        told["trust"] = item.label
    if item.ref:
        told["id"] = item.ref
    return tagged("memory", escaped(item.text), told)


def block_of(entries: Sequence[str]) -> str:
    """The whole block; nothing for no entries."""
    return tagged(TAG, "\n".join(entries)) if entries else ""


def filled(
    items: Sequence[KnowledgeItem], entries: Sequence[str], limit: int, count: Count
) -> tuple[str, tuple[str, ...], tuple[Loss, ...]]:
    """The block within `limit` tokens, the ids of what is in it, and what is not.

    `entries` are the items as written. They come best first; one that does not fit is left out, and
    shorter ones behind it still come in.
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
