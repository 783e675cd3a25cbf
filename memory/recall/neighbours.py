"""Lends scores to neighbouring turns: an answer is found by its question.

In a chat the asked words often stand in one turn and the answer in the next, so each strong
candidate lends a share of its score to the turns around it. A turn that repeats the question lends
to its answer only; one that says that nothing is known lends nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from memory.model.record import Record
from memory.recall.repeat_filter import asks
from memory.recall.rules import Weights

SITTING: Final = timedelta(hours=6)
"""A longer pause ends the neighbourhood of a turn."""


class Neighbours(Struct, frozen=True):
    """Candidates, and the neighbours of some of them.

    `beside` is the result of `RecallStore.neighbours` for the ids `lending`: grouped by
    conversation, oldest first, with all turns next to a lending one. `alone` are the other
    candidates. `silent` are the ids of turns that are not recalled
    (`repeat_filter.silent_in`).
    """

    lending: tuple[str, ...] = ()
    beside: tuple[Record, ...] = ()
    alone: tuple[Record, ...] = ()
    silent: frozenset[str] = frozenset()

    @property
    def records(self) -> tuple[Record, ...]:
        """All of them."""
        return self.beside + self.alone


def with_context(
    scores: Mapping[str, float], around: Neighbours, weights: Weights
) -> dict[str, float]:
    """Return the scores with the shares of their neighbours, each 0 to 1, for every record."""
    records, whole = around.beside, _whole(weights)
    totals = {record.id: scores.get(record.id, 0.0) for record in around.records}
    places = {record.id: place for place, record in enumerate(records)}
    for lender in around.lending:
        place = places.get(lender)
        if place is None or not records[place].role:
            continue
        for step, share in _shares(around, place, weights):
            other = _beside(records, place, step)
            if other is not None:
                totals[other.id] += share * scores.get(lender, 0.0)
    for record in around.records:
        if record.id in around.silent:
            totals[record.id] = 0.0
        elif record.role:
            totals[record.id] /= whole
    return totals


def lending(scores: Mapping[str, float], weights: Weights) -> list[str]:
    """Return the best candidates, which lend their score."""
    ordered = sorted(scores, key=lambda id_: (-scores[id_], id_))
    return ordered[: weights.spreading] if weights.span else []


def _shares(around: Neighbours, place: int, weights: Weights) -> list[tuple[int, float]]:
    """Return the shares that a turn lends, with their distances."""
    lender, silent = around.beside[place], around.silent
    if lender.id in silent:
        first = weights.after[0] if weights.after else 0.0
        return [(1, first + weights.answer)] if lender.role != "assistant" else []
    if lender.role != "assistant" and asks(lender.content):
        answer = _beside(around.beside, place, 1)
        if answer is not None and answer.role == "assistant" and answer.id in silent:
            return []
    shares = dict(enumerate(weights.after, start=1))
    shares |= {-step: share for step, share in enumerate(weights.before, start=1)}
    if weights.answer and asks(lender.content):
        shares[1] = shares.get(1, 0.0) + weights.answer
    return [(step, share) for step, share in shares.items() if share]


def _beside(records: Sequence[Record], place: int, step: int) -> Record | None:
    """Return the turn `step` places away in the same session."""
    direction = 1 if step > 0 else -1
    here = records[place]
    for at in range(place + direction, place + step + direction, direction):
        if not 0 <= at < len(records):
            return None
        other = records[at]
        apart = abs(other.provenance.at - here.provenance.at)
        if not other.role or _conversation(other) != _conversation(here) or apart > SITTING:
            return None
        here = other
    return here


def _conversation(record: Record) -> tuple[str, str]:
    return record.tenant, record.provenance.conversation


def _whole(weights: Weights) -> float:
    """Return the sum of shares if all neighbours were the best."""
    return 1.0 + sum(weights.after) + sum(weights.before) + weights.answer
