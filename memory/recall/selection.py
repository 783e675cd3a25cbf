"""Selects results: the best within the limits, without secrets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from memory.model.recollection import Recalled
from memory.model.record import Record, Scope, Tier
from memory.model.scope import AccessScope
from memory.recall.labels import label_of, labelled_line
from memory.recall.rules import Limits
from safety.secret_detection.detect import redact_secrets

SHORT: Final = 1_000
"""Characters of a text whose redaction is cached: nearly every memory."""
MAX_REMEMBERED: Final = 2_000

_ORDER = {Scope.USER: 0, Scope.PROJECT: 1, Scope.GLOBAL: 2}

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Trace:
    """The scores and ranks of each search, by id."""

    scores: Mapping[str, Mapping[str, float]]
    ranks: Mapping[str, Mapping[str, int]]

    def of(self, id_: str) -> tuple[dict[str, float], dict[str, int]]:
        """Return the scores and ranks of one memory."""
        scores = {arm: values[id_] for arm, values in self.scores.items() if id_ in values}
        return scores, {arm: values[id_] for arm, values in self.ranks.items() if id_ in values}


def best_first(scores: Mapping[str, float], records: Sequence[Record]) -> list[Record]:
    """Return records with a score above 0, the best first; of equal scores the person's own come
    before the project's, these before everybody's, and newer before older."""

    def place(record: Record) -> tuple[float, int, float, str]:
        at = -record.provenance.at.timestamp()
        return -scores[record.id], _ORDER[record.scope], at, record.id

    return sorted((record for record in records if scores.get(record.id, 0.0) > 0), key=place)


def chosen(
    ordered: Sequence[Record],
    scores: Mapping[str, float],
    trace: Trace,
    limits: Limits,
    limit: int,
    count: Count,
) -> tuple[list[Recalled], int, int]:
    """Return the results, their tokens, and the number of further candidates.

    A result that does not fit is skipped; shorter ones after it may still fit.
    """
    results: list[Recalled] = []
    room = {True: limits.episodic, False: limits.semantic}
    tokens = left_out = 0
    for record in ordered:
        episodic = record.tier is not Tier.SEMANTIC
        if len(results) == limit or not room[episodic]:
            left_out += 1
            continue
        clean = without_secrets(record)
        size = count(labelled_line(clean))
        if tokens + size > limits.tokens:
            left_out += 1
            continue
        tokens += size
        room[episodic] -= 1
        results.append(Recalled(clean, scores[record.id], *trace.of(record.id), label_of(clean)))
    return results, tokens, left_out


def without_secrets(record: Record) -> Record:
    """Return the record for use outside: credentials redacted, no vector."""
    content = _redacted(record.content)
    claim = record.evidence.claim
    clean = content if claim == record.content else _redacted(claim)
    return replace(
        record,
        content=content,
        evidence=replace(record.evidence, claim=clean),
        tags=tuple(map(_redacted, record.tags)),
        embedding=None,
    )


def displayable(record: Record) -> Record:
    """Return a stored record as it may be shown: a text that is recognised as a credential today
    may not have been one when it was stored."""
    return replace(without_secrets(record), embedding=record.embedding)


def shown_to(access: AccessScope, record: Record) -> Record:
    """Return a stored record as it may be shown to this reader. An agent sees neither person nor
    place nor messages of another person's memory."""
    return nameless_for(access, displayable(record))


def nameless_for(access: AccessScope, record: Record) -> Record:
    """Return another person's record without person, place and messages, if an agent reads it."""
    said = record.provenance
    if not access.agent or said.person in access.persons:
        return record
    nameless = replace(
        said, person="", session="", message_id="", conversation="", room="", channel=""
    )
    return replace(record, provenance=nameless, derived_from=(), supersedes="", superseded_by="")


def _redacted(text: str) -> str:
    return _remembered(text) if len(text) <= SHORT else redact_secrets(text).text


@lru_cache(MAX_REMEMBERED)
def _remembered(text: str) -> str:
    """Question after question finds the same memories of a person."""
    return redact_secrets(text).text


def rough_tokens(text: str) -> int:
    """Return the tokens of a text, an overestimate: a third of its bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)
