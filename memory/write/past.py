"""A memory that comes back from an export: what it keeps of its own history, and what it does not.

When it was written, how long it is kept, what it replaced and what replaced it are kept. Source,
trust and place are not: they are those of whoever brings it in.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.record import Record, Tier


@dataclass(frozen=True, slots=True)
class Past:
    """`id` is the memory's own, so that the same one is not brought in twice."""

    id: str
    at: datetime
    expires_at: datetime | None = None
    superseded_by: str = ""
    superseded_at: datetime | None = None


def relived(record: Record, past: Past, now: datetime, lives: timedelta) -> Record:
    """The new record with its history. Nothing is dated ahead, and nothing lives longer than what
    is written today with that date."""
    at = min(past.at, now)
    expires = None
    if record.tier is Tier.EPISODIC:
        expires = min(at + lives, past.expires_at or at + lives)
    replaced_at = min(past.superseded_at or now, now) if past.superseded_by else None
    return replace(
        record,
        id=past.id,
        provenance=replace(record.provenance, at=at),
        evidence=replace(record.evidence, captured_at=at),
        expires_at=expires,
        superseded_by=past.superseded_by,
        superseded_at=replaced_at,
    )
