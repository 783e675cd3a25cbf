"""Records as columns, and as rows of `memories`.

In columns times are `datetime` and lists are lists, as in exports. In rows times are microseconds
and lists are JSON (`db.values`, `db.values`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from db import Row, Statement, either
from db.values import micros, storable, time_of
from gateway.people import Audience
from memory.model.record import (
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
from memory.stores.partitions import owner_of, partitions_of
from memory.text.terms import index_terms

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
    "agent": "text",
    "agent_private": "flag",
    "from_repository": "flag",
    "evidence_fields": "text",
}
"""The columns of a record, in order. The vector is in its own table."""

COLUMNS: Final = tuple(SHAPES)
SELECTED: Final = ", ".join(f"m.{name}" for name in COLUMNS)
LEXEMES: Final = "array_to_tsvector(CAST(:lexemes AS text[]))"
"""The lexemes of PostgreSQL's index: words and partitions."""
INSERT: Final = Statement(f"""
    INSERT INTO memories ({", ".join(COLUMNS)}, owner, partitions, words, length
        {either(sqlite="", postgres=", lexemes")})
    VALUES ({", ".join(f":{name}" for name in COLUMNS)}, :owner, :partitions, :words, :length
        {either(sqlite="", postgres=f", {LEXEMES}")})
""")
_TIMES: Final = tuple(name for name, shape in SHAPES.items() if shape == "time")
_LISTS: Final = tuple(name for name, shape in SHAPES.items() if shape == "list")
_TIME_PLACES: Final = tuple(COLUMNS.index(name) for name in _TIMES)
_LIST_PLACES: Final = tuple(COLUMNS.index(name) for name in _LISTS)
# Looked up in a dictionary, because a recall reads a hundred rows.
_SCOPES: Final = {one.value: one for one in Scope}
_TIERS: Final = {one.value: one for one in Tier}
_KINDS: Final = {one.value: one for one in Kind}
_SOURCES: Final = {one.value: one for one in SourceType}
_TRUSTS: Final = {one.value: one for one in Trust}
_AUDIENCES: Final = {one.value: one for one in Audience}


def columns_of(record: Record) -> dict[str, object]:
    """Return the values of a record by column."""
    provenance, evidence = record.provenance, record.evidence
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
        "person": storable(provenance.person),
        "source": provenance.source.value,
        "trust": provenance.trust.value,
        "at": provenance.at,
        "session": storable(provenance.session),
        "message_id": storable(provenance.message_id),
        "tool": storable(provenance.tool),
        "conversation": storable(provenance.conversation),
        "room": storable(provenance.room),
        "channel": storable(provenance.channel),
        "audience": provenance.audience.value,
        "external": provenance.external,
        "claim": storable(evidence.claim),
        "captured_at": evidence.captured_at,
        "confidence": evidence.confidence,
        "source_id": storable(evidence.source_id),
        "valid_until": evidence.valid_until,
        "true_from": record.true_from,
        "true_until": record.true_until,
        "expires_at": record.expires_at,
        "supersedes": storable(record.supersedes),
        "superseded_by": storable(record.superseded_by),
        "superseded_at": record.superseded_at,
        "confirmed": record.confirmed,
        "derived_from": [storable(origin) for origin in record.derived_from],
        "agent": storable(provenance.agent),
        "agent_private": record.agent_private,
        "from_repository": provenance.from_repository,
        "evidence_fields": _json_of(evidence.fields),
    }


def values_of(record: Record) -> dict[str, object]:
    """Return the parameters of `INSERT`."""
    values = columns_of(record)
    for name in _TIMES:
        at = values[name]
        values[name] = micros(at) if isinstance(at, datetime) else None
    for name in _LISTS:
        values[name] = json.dumps(values[name], ensure_ascii=False) if values[name] else "[]"
    partitions = partitions_of(record)
    values["owner"], values["partitions"] = owner_of(record), partitions
    return values | words_of(record.content, record.tags, partitions)


def words_of(content: str, tags: Sequence[str], partitions: str) -> dict[str, object]:
    """Return the indexed words of a memory."""
    words = index_terms(content, *tags)
    lexemes = [*words.split(), *map(partition_lexeme, partitions.split())]
    return {
        "words": words,
        "length": words.count(" ") + 1 if words else 0,
        "lexemes": lexemes,
    }


def partition_lexeme(partition: str) -> str:
    """Return a partition as a lexeme, which no word equals."""
    return f"~{partition}"


def record_from(row: Row, embedding: Embedding | None = None) -> Record:
    """Return the record of a row of `SELECTED`. Fast for empty values: a recall reads 150 rows."""
    values: list[Any] = list(row)
    for place in _TIME_PLACES:
        if values[place] is not None:
            values[place] = time_of(values[place])
    for place in _LIST_PLACES:
        values[place] = () if values[place] == "[]" else json.loads(values[place])
    return record_of(values, embedding)


def record_of(values: Iterable[Any], embedding: Embedding | None = None) -> Record:
    """Return the record of values in the order of `COLUMNS`."""
    # As it lies in the row: 37 lines of one name each would not be easier to read.
    # fmt: off
    (
        id_, tenant, scope, tier, kind, _, content, project, tags, role,
        person, source, trust, at, session, message_id, tool, group, room, channel, audience,
        external, claim, captured_at, confidence, source_id, valid_until,
        true_from, true_until, expires_at, supersedes, superseded_by, superseded_at,
        confirmed, derived_from, agent, agent_private, from_repository,
        fields,
    ) = values
    # fmt: on
    provenance = Provenance(
        _SOURCES[source],
        _TRUSTS[trust],
        person,
        at,
        session,
        message_id,
        tool,
        group,
        room,
        channel,
        _AUDIENCES[audience],
        bool(external),
        agent,
        from_repository=bool(from_repository),
    )
    return Record(
        id=id_,
        tenant=tenant,
        scope=_SCOPES[scope],
        tier=_TIERS[tier],
        kind=_KINDS[kind],
        content=content,
        provenance=provenance,
        evidence=Evidence(
            claim, captured_at, confidence, source_id, valid_until, fields_of(fields)
        ),
        project=project,
        tags=tuple(tags),
        role=role,
        true_from=true_from,
        true_until=true_until,
        expires_at=expires_at,
        supersedes=supersedes,
        superseded_by=superseded_by,
        superseded_at=superseded_at,
        confirmed=bool(confirmed),
        derived_from=tuple(derived_from),
        agent_private=bool(agent_private),
        embedding=embedding,
    )


def fields_of(text: str) -> dict[str, Any]:
    """Return the further fields of evidence from their JSON, empty for none."""
    fields = json.loads(text) if text else {}
    return fields if isinstance(fields, dict) else {}


def _json_of(fields: Mapping[str, Any]) -> str:
    return storable(json.dumps(dict(fields), ensure_ascii=False)) if fields else ""


def origins_of(record: Record) -> list[str]:
    """Return the origins of a record, as they are indexed."""
    provenance = record.provenance
    messages = dict.fromkeys((*record.derived_from, provenance.message_id))
    return [origin(provenance.channel, message) for message in messages if message]


def origin(channel: str, message_id: str) -> str:
    """Return a message with its channel."""
    return storable(f"{channel}\x1f{message_id}")
