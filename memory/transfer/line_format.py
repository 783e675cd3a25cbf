"""The format of an export (docs/how-to/manage-memory-on-the-command-line.md), and its signatures:
an import believes what a signature proves."""

import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from msgspec import Struct
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import from_json, to_json

from gateway.errors import BadInput
from gateway.people import Audience
from gateway.text import Text, text, verbatim
from memory.model.record import (
    MAX_DOCUMENT,
    MAX_TAGS,
    Embedding,
    Evidence,
    Provenance,
    Record,
    SourceType,
    Trust,
)
from memory.service.handle import MemoryHandle
from memory.stores.conflicts import KeptPair
from memory.stores.rows import SHAPES, columns_of
from memory.stores.rows import fields_of as evidence_fields
from memory.write.imports import ProvenHistory

FORMAT: Final = "parley-memory"
VERSION: Final = 1
MAX_LINE: Final = 256 * 1024
"""Bytes of one line: a turn of 10,000 characters, twice, and a vector fit into it."""
MAX_LINES: Final = 200_000
"""Memories of one file."""
MAX_PROBLEMS: Final = 3
MEMORIES: Final = "memories"
PAIRS: Final = "memory_conflicts"
"""Pairs of memories that may contradict each other."""
TABLES: Final = frozenset(
    (
        "memory_reviews",
        PAIRS,
        "memory_sessions",
        "brain_documents",
        "turns",
        "conversation_notes",
        "waiting_turns",
        "inbox",
        "outbox",
        "traces",
        "archived_conversations",
        "takeovers",
        "text_grants",
        "usage",
        "usage_days",
        "spent",
        "people_links",
        "link_requests",
        "people_projects",
        "people_choices",
        "agents",
        "pool_invitations",
        "agent_sessions",
        "pools",
        "pool_members",
        "pool_memories",
        "agent_handoffs",
        "agent_events",
        "people_direct_places",
        "person_tokens",
        "adapter_state",
        "quarantine",
        "people_names",
        "feedback",
        "admissions",
        "pairing_requests",
        "approvers",
        "first_contacts",
        "people_languages",
        "proactive_sent",
        "proactive_waiting",
        "catchup_messages",
        "appointments",
        "console_sessions",
        "console_links",
        "config_versions",
    )
)
"""Kinds of data that `/privacy export` contains in addition to memories."""
NO_EXPORT: Final = text(
    "line 1: this is not an export of Parley, which begins with "
    '{"format":"parley-memory","version":1}'
)
LATER_VERSION: Final = text("line 1: the file has version {version}; this program reads {known}")
NO_OBJECT: Final = text("it is not a JSON object")
NO_TABLE: Final = text("the table is unknown")
CREATED: Final = "created_at"

_KindName = Literal["preference", "fact", "instruction", "context", "correction", "decision"]
_Id = Annotated[str, StringConstraints(max_length=100)]


class Header(BaseModel):
    """The first line. `person` is whose memories follow."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    format: Literal["parley-memory"]
    """The mark of an export of Parley."""
    version: Annotated[int, Field(ge=1)]
    """The version of the format, from 1."""
    exported_at: AwareDatetime | None = None
    """The time of the export, with a time zone; None if it is not given."""
    person: Annotated[str, StringConstraints(max_length=500)] = ""


class ImportLine(BaseModel):
    """A memory in an import. Trust, source and place are not part of it; they are read only if a
    signature proves them."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
    """The text: 1 to 10,000 characters."""
    kind: _KindName = "fact"
    """The kind of memory."""
    id: _Id = ""
    """The id in the export; empty for a new one."""
    tags: Annotated[list[str], Field(max_length=MAX_TAGS)] = Field(default_factory=list)
    """Words to find it by, at most 10."""
    scope: Literal["user", "project", "global"] = "user"
    """The owner: the person, their project, or the tenant."""
    role: Literal["", "user", "assistant", "tool", "other"] = ""
    """The speaker of a turn; empty for what was learned."""
    created_at: AwareDatetime | None = None
    """The time of writing; None for the time of the import."""
    true_from: AwareDatetime | None = None
    """The beginning of the time in which it is true; None for no beginning."""
    true_until: AwareDatetime | None = None
    """The end of that time; None for no end."""
    expires_at: AwareDatetime | None = None
    """The time of its deletion; None for the one that its kind has."""
    supersedes: _Id = ""
    """The id of the memory that it replaced; empty for none."""
    superseded_by: _Id = ""
    """The id of the memory that replaced it; empty for none."""
    superseded_at: AwareDatetime | None = None
    """The time of its replacement; None while it is current."""


class PairLine(BaseModel):
    """The documented fields of a pair. Its times are seconds since 1970, or texts."""

    model_config = ConfigDict(frozen=True)

    older: Annotated[_Id, StringConstraints(min_length=1)]
    """The id of the older memory."""
    newer: Annotated[_Id, StringConstraints(min_length=1)]
    """The id of the newer memory."""
    noticed_at: AwareDatetime
    """The time of the comparison."""
    asked_at: AwareDatetime | None = None
    """The time of the last question; None if the person was not asked."""
    settled_at: AwareDatetime | None = None
    """The time of the answer; None while it is open."""


Values = Mapping[str, object]


class ImportEntry(Struct, frozen=True):
    """A memory of a file, and all fields of its line, by which a signature can be checked."""

    line: ImportLine
    values: Values
    """All fields of the line as they were read."""


class Unreadable(Struct, frozen=True):
    """The reason why a line is not valid."""

    reason: Text


class Elsewhere(Struct, frozen=True):
    """A line of `/privacy export` that is no memory; `table` is its kind of data."""

    table: str


Read = ImportEntry | PairLine | Unreadable | Elsewhere


def header_of(handle: MemoryHandle) -> dict[str, object]:
    """The first line of an export of a person. All times of the file are in UTC; `zone` is the time
    zone in which the person reads them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": _text(handle.request.at),
        "zone": str(handle.request.zone),
        "person": handle.access.person,
    }


def pair_line_of(kept: KeptPair) -> dict[str, object]:
    """A pair as a JSON object."""
    times = {
        "noticed_at": kept.noticed_at,
        "asked_at": kept.asked_at,
        "settled_at": kept.settled_at,
    }
    ids = {"table": PAIRS, "older": kept.pair.older, "newer": kept.pair.newer}
    return ids | {name: _text(time) for name, time in times.items()}


def fields_of(record: Record) -> dict[str, object]:
    """Every field of a record by its documented name; times are `datetime`, the vector is apart."""
    values = columns_of(record)
    return {CREATED if name == "at" else name: value for name, value in values.items()}


def line_of(record: Record, *, embedding: bool = False) -> dict[str, object]:
    """A record as a JSON object."""
    values = {name: _text(value) for name, value in fields_of(record).items()}
    if embedding and record.embedding is not None:
        values["embedding"] = embedding_of(record.embedding)
    return values


def embedding_of(embedding: Embedding) -> dict[str, object]:
    """A vector with its model's name."""
    return {"model": embedding.model, "vector": list(embedding.vector)}


def as_line(values: Mapping[str, object]) -> bytes:
    """A JSON object as one line."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def header_from(line: bytes | Values) -> Header:
    """The header of a file. Raises `BadInput` when this is none, or of a later version."""
    try:
        header = Header.model_validate_json(to_json(_values(line)))
    except (ValidationError, ValueError):
        raise BadInput(NO_EXPORT) from None
    if header.version > VERSION:
        raise BadInput(
            LATER_VERSION.of(version=verbatim(str(header.version)), known=verbatim(str(VERSION)))
        )
    return header


def line_from(line: bytes | Values) -> Read:
    """A memory or a pair of a file, or the reason why it is invalid, which never repeats its
    text."""
    try:
        values = _values(line)
    except ValueError:
        return Unreadable(NO_OBJECT)
    table = values.get("table", MEMORIES)
    try:
        if table == PAIRS:
            return PairLine.model_validate_json(to_json(values))
        if table == MEMORIES:
            return ImportEntry(ImportLine.model_validate_json(to_json(values)), values)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)[:MAX_PROBLEMS]
        return Unreadable(verbatim("; ".join(_problem(problem) for problem in problems)))
    known = isinstance(table, str) and table in TABLES
    return Elsewhere(str(table)) if known else Unreadable(NO_TABLE)


def _values(line: bytes | Values) -> Values:
    """Return the values of a line, read once, so that the checked values are the stored ones.
    Raises `ValueError` unless it is a JSON object."""
    if not isinstance(line, bytes):
        return {name: _text(value) for name, value in line.items()}
    values = from_json(line)
    if not isinstance(values, dict):
        raise ValueError("no object")
    return values


def _problem(problem: Any) -> str:
    path = ".".join(str(part) for part in problem["loc"])
    return f"{path}: {problem['msg']}" if path else str(problem["msg"])


def _text(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value


PROOF: Final = "proof"
LENGTH: Final = 64
FIELDS: Final = tuple(sorted(CREATED if name == "at" else name for name in SHAPES))


def proof_of(handle: MemoryHandle, values: Mapping[str, object]) -> str:
    """The signature of a line; empty where this program has no key."""
    return handle.read.signature(_signed(values))


def is_proven(handle: MemoryHandle, values: Mapping[str, object]) -> bool:
    """Return True if this program exported this line, in this tenant, unchanged."""
    fields, made = values.get(PROOF), proof_of(handle, values)
    if not (isinstance(fields, str) and len(fields) == LENGTH and fields.isascii() and made):
        return False
    return hmac.compare_digest(fields, made) and values.get("tenant") == handle.access.tenant


def proven_of(values: Mapping[str, object]) -> ProvenHistory:
    """Return the statements of a line about itself, which count only if a signature proves them."""
    provenance = Provenance(
        source=SourceType(str(values["source"])),
        trust=Trust(str(values["trust"])),
        person=str(values["person"]),
        at=_time(values[CREATED]),
        message_id=str(values["message_id"]),
        tool=str(values["tool"]),
        channel=str(values["channel"]),
        audience=Audience.DIRECT,
        external=bool(values["external"]),
        agent=str(values.get("agent", "")),
        from_repository=bool(values.get("from_repository")),
    )
    until = values.get("valid_until")
    evidence = Evidence(
        claim=str(values["claim"]),
        captured_at=_time(values["captured_at"]),
        confidence=float(str(values["confidence"])),
        source_id=str(values["source_id"]),
        valid_until=None if until is None else _time(until),
        fields=evidence_fields(str(values.get("evidence_fields", ""))),
    )
    origins = values["derived_from"]
    derived = tuple(map(str, origins)) if isinstance(origins, list) else ()
    return ProvenHistory(
        *(provenance, evidence, bool(values["confirmed"]), derived),
        agent_private=bool(values.get("agent_private")),
    )


def _signed(values: Mapping[str, object]) -> str:
    """Return the signed text: the documented fields in one order, without nulls."""
    kept = {name: values[name] for name in FIELDS if values.get(name) is not None}
    return json.dumps(kept, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _time(value: object) -> datetime:
    return datetime.fromisoformat(str(value))
