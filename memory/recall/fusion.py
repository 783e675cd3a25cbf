"""Fuses lists of candidates: pure functions.

Scores of two methods are not comparable, so each list is scaled separately. The best word match
becomes 1 and the others their share of it: no common words is a real 0. A cosine has no such zero,
so the last of a full list becomes 0, or the least similar that counts. Ranks alone, as in
reciprocal rank fusion, lose the distance of the best one from the others; on short turns that is
most of the information (`docs/recall.md`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from memory.model.scope import AccessScope
from memory.ports.recall import Hit
from memory.recall.features import literal_first, weighed
from memory.recall.neighbours import Neighbours, with_context
from memory.recall.query import Question
from memory.recall.rules import Arms, Fusion, RecallRules

LEXICAL: Final = "bm25"
VECTOR: Final = "vector"
RERANKER: Final = "reranker"


def fused(arms: Mapping[str, Sequence[Hit]], rules: Arms) -> dict[str, float]:
    """Return every candidate with its score, 0 to 1. A missing arm leaves its weight to the other;
    neither the order of the arms matters nor that of hits with the same score."""
    weights = {LEXICAL: rules.lexical, VECTOR: rules.vector}
    there = {name: weights[name] for name, hits in arms.items() if hits and weights[name] > 0}
    whole = sum(there.values()) or 1.0
    totals: dict[str, float] = {}
    for name in sorted(there):
        for id_, score in scaled(name, arms[name], rules).items():
            totals[id_] = totals.get(id_, 0.0) + there[name] / whole * score
    return totals


def scaled(name: str, hits: Sequence[Hit], rules: Arms) -> dict[str, float]:
    """Return the hits of one arm, scaled so that the best is 1 and none is below 0."""
    if rules.fusion is Fusion.RANKS:
        return {id_: (rules.k + 1) / (rules.k + rank) for id_, rank in ranks(hits).items()}
    scores = [hit.score for hit in hits]
    floor = 0.0
    if name == VECTOR:
        floor = min(scores) if len(scores) >= rules.depth else rules.least_alike
    room = max(scores, default=0.0) - floor
    if room <= 0:
        return {hit.id: 1.0 for hit in hits}
    return {hit.id: max(0.0, (hit.score - floor) / room) for hit in hits}


def ranks(hits: Sequence[Hit]) -> dict[str, int]:
    """Return the ranks of the hits, from 1; equal scores have equal ranks."""
    ordered = sorted(hits, key=lambda hit: -hit.score)
    places: dict[str, int] = {}
    rank, last = 0, None
    for place, hit in enumerate(ordered, start=1):
        if hit.score != last:
            rank, last = place, hit.score
        places.setdefault(hit.id, rank)
    return places


def towards(
    vector: Sequence[float], others: Sequence[Sequence[float]], weight: float
) -> tuple[float, ...]:
    """Return a question's vector moved towards the mean of others (Rocchio's feedback), of unit
    length; the same vector without others."""
    if not others:
        return tuple(vector)
    share = weight / len(others)
    moved = [own + share * sum(column) for own, *column in zip(vector, *others, strict=True)]
    size = sum(value * value for value in moved) ** 0.5
    return tuple(value / size for value in moved) if size else tuple(vector)


def scored(
    fused: Mapping[str, float],
    around: Neighbours,
    question: Question,
    access: AccessScope,
    now: datetime,
    rules: RecallRules,
) -> dict[str, float]:
    """Return every record's score, 0 to 1."""
    records = around.records
    scores = with_context(fused, around, rules.weights)
    scores = weighed(scores, records, question, access, now, rules.weights)
    return literal_first(scores, records, question.literals)


def reranked(
    scores: Mapping[str, float], judged: Mapping[str, float], weight: float
) -> dict[str, float]:
    """Return the scores with a reranker's scores of some records. These stay ahead of the rest,
    which the reranker did not see because it scored worse; 0 to 1 as before."""
    if not judged:
        return dict(scores)
    low, best = min(judged.values()), max(scores[id_] for id_ in judged)
    room = max(judged.values()) - low
    combined = {id_: score / 2 for id_, score in scores.items()}
    for id_, judgement in judged.items():
        word = (judgement - low) / room if room else 1.0
        own = scores[id_] / best if best else 0.0
        combined[id_] = 0.5 + ((1 - weight) * own + weight * word) / 2
    return combined
