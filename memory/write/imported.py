"""A memory that comes back from an export: what it keeps of its own history, and what it does not.

When it was written, how long it is kept, what it replaced and what replaced it are kept. Source,
trust and evidence are kept where a signature proves that this program gave them out; otherwise they
are those of an import.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.grounding.decision import ImportState
from memory.model.record import Evidence, Provenance, Record, Tier, Trust
from memory.model.trust import InputKind


@dataclass(frozen=True, slots=True)
class ProvenHistory:
    """What a signature proves of a memory: `said` is its provenance, `why` its evidence."""

    said: Provenance
    why: Evidence
    confirmed: bool = False
    derived_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedHistory:
    """`id` is the memory's own, so that the same one is not brought in twice. `proven` is None for
    what nothing proves."""

    id: str
    at: datetime
    expires_at: datetime | None = None
    superseded_by: str = ""
    superseded_at: datetime | None = None
    proven: ProvenHistory | None = None


def import_state(past: ImportedHistory | None) -> ImportState:
    """The part of a claim that tells whether, and how well proven, it comes from a file."""
    if past is None:
        return ""
    return "imported" if past.proven is None else "restored"


def is_proven(past: ImportedHistory | None) -> bool:
    """True for what a signature proves to have been kept here."""
    return past is not None and past.proven is not None


def imported_kind(past: ImportedHistory, *, others: bool) -> InputKind:
    """The way in of what a file holds. Markers of low-trust text are changed in all of it but in
    what is proven to have had more."""
    if past.proven is not None and past.proven.said.trust is not Trust.LOW:
        return InputKind.EXPLICIT
    return InputKind.OTHERS_WORDS if others else InputKind.IMPORT


def with_imported_history(
    record: Record,
    past: ImportedHistory,
    now: datetime,
    lives: timedelta,
    *,
    suspicious: bool = False,
) -> Record:
    """The new record with its history. Nothing is dated ahead, and nothing lives longer than what
    is written today with that date. What is `suspicious` today gets no trust back. It does not go
    back to the message that asks for the import, so it does not go with it either."""
    at = min(past.at, now)
    expires = None
    if record.tier is Tier.EPISODIC:
        expires = min(at + lives, past.expires_at or at + lives)
    replaced_at = min(past.superseded_at or now, now) if past.superseded_by else None
    dated = replace(
        record,
        id=past.id,
        provenance=replace(record.provenance, at=at, message_id=""),
        evidence=replace(record.evidence, captured_at=at),
        expires_at=expires,
        superseded_by=past.superseded_by,
        superseded_at=replaced_at,
        derived_from=(),
    )
    return dated if past.proven is None else _proven(dated, past.proven, suspicious=suspicious)


def _proven(record: Record, proven: ProvenHistory, *, suspicious: bool) -> Record:
    """The record with what is proven of it; who brings it in, and that nobody reads along, are
    those of today."""
    told = proven.said
    said = replace(
        record.provenance,
        source=told.source,
        trust=Trust.LOW if suspicious else told.trust,
        message_id=told.message_id,
        channel=told.channel,
        tool=told.tool,
        external=told.external,
    )
    return replace(
        record,
        provenance=said,
        evidence=replace(proven.why, claim=record.content),
        confirmed=proven.confirmed and not suspicious,
        derived_from=proven.derived_from,
    )
