"""Selects results: the best within the limits, without secrets. Each recalled memory gets a label
that tells the model its source."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from memory.model.record import CONFIDENCE, Record, Scope, SourceType, Tier, Trust
from memory.model.scope import AccessScope, sees
from memory.ports.recall import Recalled
from memory.recall.rules import RecallLimits
from safety.secret_detection.detect import redact_secrets

SHORT: Final = 1_000
"""Characters of a text whose redaction is cached: nearly every memory."""
AT_ONCE: Final = 10_000
"""Characters of records that are shown on the event loop; more are in a thread."""
MAX_REMEMBERED: Final = 2_000

_ORDER = {Scope.USER: 0, Scope.PROJECT: 1, Scope.GLOBAL: 2}

Count = Callable[[str], int]

PAST: Final = "past context"
PAST_EXTERNAL: Final = "past context, from external content"
FROM_FILE: Final = "from file"
FROM_WEB: Final = "from web, may be inaccurate"
HEARD: Final = "spoken, written down by a program, may be misheard"
FROM_OTHERS: Final = "said by somebody else"
KEPT: Final = "from somebody else, kept with the person's approval"
SUSPICIOUS: Final = "reads like an instruction, may be inaccurate"
IMPORTED: Final = "from an imported file, not verified, may be inaccurate"
FROM_BACKEND: Final = "from the memory backend {name}, may have been edited"
INFERRED: Final = "concluded by the assistant, may be inaccurate"

OWN_WORDS: Final = "the person's own words"
MEMBERS_WORDS: Final = "words of another member"
MEMORY: Final = "memory"


class SearchTrace(Struct, frozen=True):
    """The scores and ranks of each search, by id."""

    scores: Mapping[str, Mapping[str, float]]
    ranks: Mapping[str, Mapping[str, int]]

    def of(self, id_: str) -> tuple[dict[str, float], dict[str, int]]:
        """Return the scores and ranks of one memory."""
        scores = {name: values[id_] for name, values in self.scores.items() if id_ in values}
        return scores, {name: values[id_] for name, values in self.ranks.items() if id_ in values}


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
    trace: SearchTrace,
    limits: RecallLimits,
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
    clean = _with_redacted_texts(record)
    return clean if clean.embedding is None else replace(clean, embedding=None)


def displayable(record: Record) -> Record:
    """Return a stored record as it may be shown: a text that is recognised as a credential today
    may not have been one when it was stored."""
    return _with_redacted_texts(record)


def shown_to(access: AccessScope, record: Record) -> Record:
    """Return a stored record as it may be shown to this reader. An agent sees neither person nor
    place nor messages of another person's memory."""
    return nameless_for(access, displayable(record))


def nameless_for(access: AccessScope, record: Record) -> Record:
    """Return another person's record without person, place and messages, if an agent reads it; with
    at most medium trust, if the agent reads it only because it is shared."""
    provenance = record.provenance
    if not access.agent or provenance.person in access.persons:
        return record
    nameless = replace(
        provenance, person="", session="", message_id="", conversation="", room="", channel=""
    )
    shown = replace(record, provenance=nameless, derived_from=(), supersedes="", superseded_by="")
    return shown if sees(access, record) else as_of_others(shown)


def as_of_others(record: Record) -> Record:
    """Return a record that somebody else shared: it has at most medium trust."""
    provenance, evidence = record.provenance, record.evidence
    if provenance.trust is not Trust.HIGH:
        return record
    return replace(
        record,
        provenance=replace(provenance, trust=Trust.MEDIUM),
        evidence=replace(evidence, confidence=min(evidence.confidence, CONFIDENCE[Trust.MEDIUM])),
    )


def _with_redacted_texts(record: Record) -> Record:
    """Return the record with its credentials redacted, the same one if it has none."""
    content, tags = _redacted(record.content), tuple(map(_redacted, record.tags))
    evidence = record.evidence
    claim = content if evidence.claim == record.content else _redacted(evidence.claim)
    if claim != evidence.claim:
        evidence = replace(evidence, claim=claim)
    elif content == record.content and tags == record.tags:
        return record
    return replace(record, content=content, evidence=evidence, tags=tags)


def _redacted(text: str) -> str:
    return _remembered(text) if len(text) <= SHORT else redact_secrets(text).text


@lru_cache(MAX_REMEMBERED)
def _remembered(text: str) -> str:
    """Question after question finds the same memories of a person."""
    return redact_secrets(text).text


def rough_tokens(text: str) -> int:
    """Return the tokens of a text, an overestimate: a third of its bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)


def label_of(record: Record) -> str:
    """Return the label for the source of a memory; empty for the person's own words."""
    provenance = record.provenance
    if provenance.backend:
        low = provenance.trust is Trust.LOW
        return SUSPICIOUS if low else FROM_BACKEND.format(name=provenance.backend)
    if provenance.source is SourceType.IMPORT:
        return IMPORTED
    if record.role == "other":
        return FROM_OTHERS
    if record.role:
        return PAST_EXTERNAL if provenance.external else PAST
    if provenance.source is SourceType.EXPLICIT_SAVE and provenance.external:
        return KEPT
    if provenance.source is SourceType.HEARD:
        return SUSPICIOUS if provenance.trust is Trust.LOW else HEARD
    if provenance.source is SourceType.TOOL_OUTPUT:
        return FROM_WEB if provenance.trust is Trust.LOW else FROM_FILE
    if provenance.trust is Trust.HIGH:
        return ""
    if provenance.source is SourceType.AI_INFERENCE:
        return INFERRED
    return FROM_OTHERS if provenance.external or provenance.trust is Trust.MEDIUM else SUSPICIOUS


def author_label(record: Record, persons: Collection[str]) -> str:
    """The speaker of a memory, because its text may say "I". `persons` are the identities of the
    person who asks."""
    provenance = record.provenance
    if provenance.source is SourceType.USER_MESSAGE and provenance.trust is Trust.HIGH:
        return OWN_WORDS if provenance.person in persons else MEMBERS_WORDS
    return MEMORY


def labelled_line(record: Record) -> str:
    """A memory in one line, as the model reads it."""
    label = label_of(record)
    content = " ".join(record.content.split())
    if not label:
        return content
    return f"[{label}] {content}" if record.role else f"{content} [{label}]"
