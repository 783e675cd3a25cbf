"""From what the arms found to one score per memory: the whole calculation, without I/O."""

from collections.abc import Mapping
from datetime import datetime

from memory.model.scope import AccessScope
from memory.recall.features import literal_first, weighed
from memory.recall.neighbours import Neighbours, with_context
from memory.recall.query import Question
from memory.recall.rules import RecallRules


def scored(
    fused: Mapping[str, float],
    around: Neighbours,
    question: Question,
    access: AccessScope,
    now: datetime,
    rules: RecallRules,
) -> dict[str, float]:
    """Every record's score, 0 to 1."""
    records = around.records
    scores = with_context(fused, around, rules.weights)
    scores = weighed(scores, records, question, access, now, rules.weights)
    return literal_first(scores, records, question.literals)


def reranked(
    scores: Mapping[str, float], judged: Mapping[str, float], weight: float
) -> dict[str, float]:
    """The scores with a reranker's word on some of them. What it judged stays ahead of the rest,
    which it did not see because it was worse; 0 to 1 as before."""
    if not judged:
        return dict(scores)
    low, best = min(judged.values()), max(scores[id_] for id_ in judged)
    room = max(judged.values()) - low
    found = {id_: score / 2 for id_, score in scores.items()}
    for id_, said in judged.items():
        word = (said - low) / room if room else 1.0
        own = scores[id_] / best if best else 0.0
        found[id_] = 0.5 + ((1 - weight) * own + weight * word) / 2
    return found
