"""Scores features of a candidate besides its words: speaker, date, owner, length."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from memory.model.record import Record, Scope, Tier
from memory.model.scope import AccessScope
from memory.recall.dates import how_well
from memory.recall.query import Question, holds
from memory.recall.repeat_filter import asks
from memory.recall.rules import Weights

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
    it is about nobody in particular."""
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
        fit = how_well(question.dates, at, record.content)
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
