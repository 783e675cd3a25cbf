"""A record as columns, the same in both engines, and back.

Times stay `datetime`, lists stay lists; the engine's package turns them into what it keeps.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from gateway.people import Audience
from memory.record import (
    Embedding,
    Evidence,
    Kind,
    Provenance,
    Record,
    Scope,
    SourceType,
    Tier,
    Trust,
)

Shape = Literal["text", "time", "flag", "number", "list"]

SHAPES: Final[Mapping[str, Shape]] = {
    "id": "text",
    "tenant": "text",
    "scope": "text",
    "tier": "text",
    "kind": "text",
    "behavioral": "flag",
    "content": "text",
    "project": "text",
    "tags": "list",
    "role": "text",
    "person": "text",
    "source": "text",
    "trust": "text",
    "at": "time",
    "session": "text",
    "message_id": "text",
    "tool": "text",
    "conversation": "text",
    "room": "text",
    "channel": "text",
    "audience": "text",
    "external": "flag",
    "claim": "text",
    "captured_at": "time",
    "confidence": "number",
    "source_id": "text",
    "valid_until": "time",
    "true_from": "time",
    "true_until": "time",
    "expires_at": "time",
    "supersedes": "text",
    "superseded_by": "text",
    "superseded_at": "time",
    "confirmed": "flag",
    "derived_from": "list",
}
"""Every column of a record, in order. The vector lies in a table of its own."""

COLUMNS: Final = tuple(SHAPES)
# Looked up in a dictionary, because a recall reads a hundred rows.
_SCOPES: Final = {one.value: one for one in Scope}
_TIERS: Final = {one.value: one for one in Tier}
_KINDS: Final = {one.value: one for one in Kind}
_SOURCES: Final = {one.value: one for one in SourceType}
_TRUSTS: Final = {one.value: one for one in Trust}
_AUDIENCES: Final = {one.value: one for one in Audience}


def columns_of(record: Record) -> dict[str, object]:
    """The record's values by column."""
    said, why = record.provenance, record.evidence
    return {
        "id": record.id,
        "tenant": storable(record.tenant),
        "scope": record.scope.value,
        "tier": record.tier.value,
        "kind": record.kind.value,
        "behavioral": record.behavioral,
        "content": storable(record.content),
        "project": storable(record.project),
        "tags": [storable(tag) for tag in record.tags],
        "role": record.role,
        "person": storable(said.person),
        "source": said.source.value,
        "trust": said.trust.value,
        "at": said.at,
        "session": storable(said.session),
        "message_id": storable(said.message_id),
        "tool": storable(said.tool),
        "conversation": storable(said.group),
        "room": storable(said.room),
        "channel": storable(said.channel),
        "audience": said.audience.value,
        "external": said.external,
        "claim": storable(why.claim),
        "captured_at": why.captured_at,
        "confidence": why.confidence,
        "source_id": storable(why.source_id),
        "valid_until": why.valid_until,
        "true_from": record.true_from,
        "true_until": record.true_until,
        "expires_at": record.expires_at,
        "supersedes": storable(record.supersedes),
        "superseded_by": storable(record.superseded_by),
        "superseded_at": record.superseded_at,
        "confirmed": record.confirmed,
        "derived_from": [storable(origin) for origin in record.derived_from],
    }


def record_of(row: Mapping[str, Any], embedding: Embedding | None = None) -> Record:
    """The record of a row whose times are `datetime` and whose lists are sequences."""
    return Record(
        id=row["id"],
        tenant=row["tenant"],
        scope=_SCOPES[row["scope"]],
        tier=_TIERS[row["tier"]],
        kind=_KINDS[row["kind"]],
        content=row["content"],
        provenance=_provenance(row),
        evidence=_evidence(row),
        project=row["project"],
        tags=tuple(row["tags"]),
        role=row["role"],
        true_from=row["true_from"],
        true_until=row["true_until"],
        expires_at=row["expires_at"],
        supersedes=row["supersedes"],
        superseded_by=row["superseded_by"],
        superseded_at=row["superseded_at"],
        confirmed=bool(row["confirmed"]),
        derived_from=tuple(row["derived_from"]),
        embedding=embedding,
    )


def storable(text: str) -> str:
    """The text without what a database cannot keep: U+0000 and lone surrogates become U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def origins_of(record: Record) -> list[str]:
    """The messages a record goes back to, each in its channel, as they are looked up."""
    said = record.provenance
    messages = dict.fromkeys((*record.derived_from, said.message_id))
    return [origin(said.channel, message) for message in messages if message]


def origin(channel: str, message_id: str) -> str:
    """A message in its channel."""
    return storable(f"{channel}\x1f{message_id}")


def _provenance(row: Mapping[str, Any]) -> Provenance:
    at: datetime = row["at"]
    return Provenance(
        source=_SOURCES[row["source"]],
        trust=_TRUSTS[row["trust"]],
        person=row["person"],
        at=at,
        session=row["session"],
        message_id=row["message_id"],
        tool=row["tool"],
        group=row["conversation"],
        room=row["room"],
        channel=row["channel"],
        audience=_AUDIENCES[row["audience"]],
        external=bool(row["external"]),
    )


def _evidence(row: Mapping[str, Any]) -> Evidence:
    return Evidence(
        claim=row["claim"],
        captured_at=row["captured_at"],
        confidence=row["confidence"],
        source_id=row["source_id"],
        valid_until=row["valid_until"],
    )
