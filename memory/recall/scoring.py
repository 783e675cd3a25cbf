"""Scores candidates: fuses the lists of the searches, and weighs speaker, date, owner and length.

Scores of two methods are not comparable, so each list is scaled separately. The best word match
becomes 1 and the others their share of it: no common words is a real 0. A cosine has no such zero,
so the last of a full list becomes 0, or the least similar that counts. Ranks alone, as in
reciprocal rank fusion, lose the distance of the best one from the others; on short turns that is
most of the information (`docs/reference/search-quality.md`).

In a chat the asked words often stand in one turn and the answer in the next, so each strong
candidate lends a share of its score to the turns around it. A turn that repeats the question lends
to its answer only; one that says that nothing is known lends nothing.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from memory.model.record import Record, Scope, Tier
from memory.model.scope import AccessScope
from memory.ports.recall import SearchHit
from memory.recall.query import Question, holds, how_well
from memory.recall.repeat_filter import asks
from memory.recall.rules import Fusion, RecallRules, SearchRules, Weights
from memory.stores.word_ranking import MANY, certainty

SITTING: Final = timedelta(hours=6)
"""A longer pause ends the neighbourhood of a turn."""


class Neighbours(Struct, frozen=True):
    """Candidates, and the neighbours of some of them.

    `adjacent` is the result of `RecallStore.neighbours` for the ids `lending`: grouped by
    conversation, oldest first, with all turns next to a lending one. `alone` are the other
    candidates. `silent` are the ids of turns that are not recalled
    (`repeat_filter.silent_in`).
    """

    lending: tuple[str, ...] = ()
    adjacent: tuple[Record, ...] = ()
    alone: tuple[Record, ...] = ()
    silent: frozenset[str] = frozenset()

    @property
    def records(self) -> tuple[Record, ...]:
        """All of them."""
        return self.adjacent + self.alone


def with_context(
    scores: Mapping[str, float], around: Neighbours, weights: Weights
) -> dict[str, float]:
    """Return the scores with the shares of their neighbours, each 0 to 1, for every record."""
    records, whole = around.adjacent, _whole(weights)
    totals = {record.id: scores.get(record.id, 0.0) for record in around.records}
    places = {record.id: place for place, record in enumerate(records)}
    for lender in around.lending:
        place = places.get(lender)
        if place is None or not records[place].role:
            continue
        for step, share in _shares(around, place, weights):
            other = _adjacent(records, place, step)
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
    lender, silent = around.adjacent[place], around.silent
    if lender.id in silent:
        first = weights.after[0] if weights.after else 0.0
        return [(1, first + weights.answer)] if lender.role != "assistant" else []
    if lender.role != "assistant" and asks(lender.content):
        answer = _adjacent(around.adjacent, place, 1)
        if answer is not None and answer.role == "assistant" and answer.id in silent:
            return []
    shares = dict(enumerate(weights.after, start=1))
    shares |= {-step: share for step, share in enumerate(weights.before, start=1)}
    if weights.answer and asks(lender.content):
        shares[1] = shares.get(1, 0.0) + weights.answer
    return [(step, share) for step, share in shares.items() if share]


def _adjacent(records: Sequence[Record], place: int, step: int) -> Record | None:
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


MAX_NAME: Final = 60
DAY: Final = 86_400
CHARS_A_WORD: Final = 5.5

_SPEAKER: Final = re.compile(r"\[([^\]\n]{1,60})\] |([^\W\d_][^:\n]{0,59}): ")
_WORD: Final = re.compile(r"[^\W_]+")


def weighed(
    scores: Mapping[str, float],
    records: Sequence[Record],
    question: Question,
    access: AccessScope,
    now: datetime,
    weights: Weights,
) -> dict[str, float]:
    """Return the records' scores, each multiplied by the factors of its features; 0 to 1 as
    before."""
    meant = speaker_meant(question, records, access)
    products = {}
    for record in records:
        score = scores.get(record.id, 0.0) * _of_scope(record.scope, weights)
        score *= _of_date(record, question, now, weights)
        if record.role:
            score *= _of_turn(record, meant, weights)
        else:
            score *= weights.standing
        products[record.id] = score
    return products


def literal_first(
    scores: Mapping[str, float], records: Sequence[Record], literals: Sequence[str]
) -> dict[str, float]:
    """Put candidates with more of the literals first; scores stay from 0 to 1."""
    if not literals:
        return dict(scores)
    combined = {}
    for record in records:
        text = " ".join((record.content, *record.tags, record.evidence.source_id))
        held = sum(holds(text, literal) for literal in literals)
        combined[record.id] = (scores.get(record.id, 0.0) + held) / (1 + len(literals))
    return combined


def speaker_of(record: Record) -> str:
    """Return the name before a turn's words ("Ada: …", "[Ada] …"), empty if there is none."""
    match = _SPEAKER.match(record.content) if record.role else None
    return (match[1] or match[2]) if match else ""


def speaker_meant(
    question: Question, records: Sequence[Record], access: AccessScope
) -> Callable[[Record], bool] | None:
    """Return the test for turns of the person in the question, by name or by "I" and "you"; None if
    it names no person."""
    words = frozenset(question.words)
    spoke = {name for record in records if (name := speaker_of(record))}
    named = {name for name in spoke if words & _parts(name)}
    if named:
        return lambda record: speaker_of(record) in named
    if question.mine:
        return lambda record: _is_own(record, access)
    if question.yours:
        return lambda record: record.role == "assistant"
    return None


def _of_turn(record: Record, meant: Callable[[Record], bool] | None, weights: Weights) -> float:
    factor = _of_length(record.content, weights)
    if meant is not None and not meant(record):
        factor /= 1 + weights.speaker
    return factor * (1 - weights.question) if asks(record.content) else factor


def _of_date(record: Record, question: Question, now: datetime, weights: Weights) -> float:
    """Return the factor for the asked date, or else for the age of a turn."""
    at = record.provenance.at
    if question.dates:
        fit = how_well(question.dates, at.astimezone(question.zone), record.content)
        return (1 + weights.date * fit) / (1 + weights.date)
    if record.tier is not Tier.EPISODIC:
        return 1.0
    days = max(0.0, (now - at).total_seconds() / DAY)
    return float(1 - weights.recency * (1 - 0.5 ** (days / weights.half_life_days)))


def _of_length(text: str, weights: Weights) -> float:
    words = min(len(text) / CHARS_A_WORD, weights.long_turn)
    return float((math.log(2 + words) / math.log(2 + weights.long_turn)) ** weights.length)


def _of_scope(scope: Scope, weights: Weights) -> float:
    """Return the factor of the owner: the person's own memories come before the project's, and
    these before everybody's."""
    match scope:
        case Scope.USER:
            return 1.0
        case Scope.PROJECT:
            return weights.project
        case Scope.GLOBAL:
            return weights.everybody


def _is_own(record: Record, access: AccessScope) -> bool:
    return record.role == "user" and record.provenance.person in access.persons


def _parts(name: str) -> frozenset[str]:
    return frozenset(part.casefold() for part in _WORD.findall(name) if len(part) > 1)


LEXICAL: Final = "bm25"
VECTOR: Final = "vector"
RERANKER: Final = "reranker"


def alike(hits: Sequence[SearchHit], rules: SearchRules) -> list[SearchHit]:
    """Return the hits by vectors that may belong to the question. Their certainty is the cosine
    above `least_alike`, relative to chance: a full list is one of many memories."""
    memories = MANY if len(hits) >= rules.depth else len(hits)
    return [
        SearchHit(hit.id, hit.score, certainty(hit.score - rules.least_alike, memories))
        for hit in hits
        if hit.score >= rules.least_alike
    ]


def related(
    searches: Mapping[str, Sequence[SearchHit]], question: Question, rules: SearchRules
) -> bool:
    """True if a hit is about the subject of the question; false if all may be there by chance.
    Identifiers, quotations and questions of one or two words are exact: found or not. True without
    hits as well."""
    if question.exact or question.literals or not any(searches.values()):
        return True
    words, vectors = (
        max((hit.certainty for hit in searches.get(name, ())), default=0.0)
        for name in (LEXICAL, VECTOR)
    )
    dated = rules.dated if question.dates or question.time else 0.0
    if not searches.get(VECTOR):
        return words + dated >= rules.certain
    together = words + rules.alike * vectors + dated
    return words >= rules.certain_alone or together >= rules.certain_together


def fused(searches: Mapping[str, Sequence[SearchHit]], rules: SearchRules) -> dict[str, float]:
    """Return every candidate with its score, 0 to 1. A missing search leaves its weight to the
    other; neither the order of the searches matters nor that of hits with the same score."""
    weights = {LEXICAL: rules.lexical, VECTOR: rules.vector}
    there = {name: weights[name] for name, hits in searches.items() if hits and weights[name] > 0}
    whole = sum(there.values()) or 1.0
    totals: dict[str, float] = {}
    for name in sorted(there):
        for id_, score in scaled(name, searches[name], rules).items():
            totals[id_] = totals.get(id_, 0.0) + there[name] / whole * score
    return totals


def scaled(name: str, hits: Sequence[SearchHit], rules: SearchRules) -> dict[str, float]:
    """Return the hits of one search, scaled so that the best is 1 and none is below 0."""
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


def ranks(hits: Sequence[SearchHit]) -> dict[str, int]:
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
