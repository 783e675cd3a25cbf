"""Lists the memories of a time, and decides if they alone answer a question."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from gateway.immutable import replace
from memory.model.record import Record
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, MemoryStore
from memory.recall.time_counts import Kind
from memory.recall.time_span import TimeSpan

SLICES: Final = 6
"""The parts of a time from each of which the newest are read."""
OF_SLICE: Final = 20
"""Memories of one part that are read."""
LONG_TURN: Final = 200
"""Characters from which a longer turn counts no more."""
LISTED: Final = 0.3
"""The best score of a memory of a time without the subject of the question."""
_IMPORTANCE: Final = {"": 1.0, "user": 0.8, "assistant": 0.5}
_OTHER: Final = 0.3


class Answer(StrEnum):
    """The memories that answer a question with a time. It stands in the notes of a result."""

    WITHIN = "within_time"
    """Only what is from this time."""
    NOTHING = "nothing_then"
    """No memory: none is from this time, and the question has no other subject."""
    ANYTHING = "any_time"
    """The ordinary search, which prefers what is from this time."""


def answered_by(time: TimeSpan, *, found: bool, listed: bool) -> Answer:
    """Decide what answers a question.

    `found`: memories of this time have the subject of the question; `listed`: there are memories of
    this time. A past time ("yesterday") is meant as it is named. A weekday, a date and the present
    may be part of the subject ("what is on Tuesday?"), so they bind only a question without another
    subject, a weekday also one whose subject is found there.
    """
    if not time.subject:
        return Answer.WITHIN if listed else Answer.NOTHING
    if time.kind is Kind.PAST:
        return Answer.WITHIN if listed or found else Answer.ANYTHING
    if time.kind is Kind.WEEKDAY and found:
        return Answer.WITHIN
    return Answer.ANYTHING


async def listed_within(
    memories: MemoryStore, access: AccessScope, filters: Filter, begin: datetime, end: datetime
) -> list[list[Record]]:
    """Return visible memories that were written from `begin` to before `end`: the newest of each of
    6 equal parts, so that a long time is not only its last day. Raises `StoreUnavailable`."""
    step = (end - begin) / SLICES
    slices = []
    for number in range(SLICES):
        since = begin + number * step
        until = end if number == SLICES - 1 else since + step
        wanted = replace(filters, text="", since=since, until=until, during=None, limit=OF_SLICE)
        slices.append([match.record for match in await memories.find(access, wanted)])
    return slices


def spread(slices: Sequence[Sequence[Record]]) -> dict[str, float]:
    """Return scores of the memories of a time, above 0 to .3: the most important of each part come
    first, then the second ones."""
    scores = {}
    for records in slices:
        ordered = sorted(records, key=lambda record: (-importance(record), record.id))
        for place, record in enumerate(ordered):
            scores[record.id] = LISTED * importance(record) / (1 + place)
    return scores


def importance(record: Record) -> float:
    """Return how much a memory tells, above 0 to 1: what was learned more than a turn, a person's
    words more than the assistant's, a long turn more than a short one."""
    kind = _IMPORTANCE.get(record.role, _OTHER)
    if not record.role:
        return kind
    return kind * (0.5 + 0.5 * min(len(record.content), LONG_TURN) / LONG_TURN)


def added(scores: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    """Return scores with those of further memories behind all of them."""
    least = min((score for score in scores.values() if score > 0), default=1.0)
    behind = {id_: score * least for id_, score in more.items() if not scores.get(id_)}
    return {**scores, **behind}
