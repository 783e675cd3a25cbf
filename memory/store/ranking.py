"""How well a memory answers a search: the share of the asked words that are in it, rare ones
counting more.

The weight of a word is ln(1 + N / n), with N memories found in all and n that have it; one that
nobody has counts as half a memory. The score is the sum of the weights that are there by the sum of
all: 1 when every word is there, and nothing but what this person may see goes into it. Where the
score is the same the shorter text comes first, then the newer one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory with some of the words. Bit i of `terms` stands for word i; `size` is its length in
    characters; `seq` grows with every memory."""

    seq: int
    id: str
    terms: int
    size: int


def ranked(hits: Sequence[Hit], count: int) -> list[tuple[Hit, float]]:
    """The hits of a search for `count` words, best first, with their scores from 0 to 1."""
    masks: dict[int, int] = {}
    for hit in hits:
        masks[hit.terms] = masks.get(hit.terms, 0) + 1
    weights = [_weight(masks, index, len(hits)) for index in range(count)]
    whole = math.fsum(weights) or 1.0
    scores = {
        mask: min(1.0, math.fsum(w for i, w in enumerate(weights) if mask >> i & 1) / whole)
        for mask in masks
    }
    ordered = sorted(hits, key=lambda hit: (-scores[hit.terms], hit.size, -hit.seq))
    return [(hit, scores[hit.terms]) for hit in ordered]


def page(found: Sequence[tuple[Hit, float]], after_id: str, limit: int) -> list[tuple[Hit, float]]:
    """The next `limit` behind `after_id`; nothing when that is not among them any more."""
    if not after_id:
        return list(found[:limit])
    for place, (hit, _) in enumerate(found):
        if hit.id == after_id:
            return list(found[place + 1 : place + 1 + limit])
    return []


def _weight(masks: dict[int, int], index: int, total: int) -> float:
    having = sum(number for mask, number in masks.items() if mask >> index & 1)
    return math.log1p(total / (having or 0.5))
