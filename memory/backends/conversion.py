"""Converts memories to statements of a backend, and back; checks the shape of what it returns.

A returned text is external text: it may have been edited outside Parley. It is cut, sanitised and
redacted, its markers are neutralised, and it never has high trust.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Final, TypeGuard, get_args

from gateway.immutable import replace
from gateway.people import Audience
from gateway.ports.memory_backend import (
    MAX_DETAILS,
    MAX_MESSAGES,
    MAX_NAME,
    MAX_STATEMENT,
    MAX_STATEMENT_ID,
    MAX_TAG,
    MAX_TAGS,
    BackendAccess,
    Statement,
    StatementScope,
)
from memory.model.record import (
    CONFIDENCE,
    ID_PREFIX,
    Draft,
    Evidence,
    InputKind,
    Kind,
    Provenance,
    Record,
    Scope,
    SourceType,
    Tier,
    Trust,
)
from memory.model.scope import AccessScope
from memory.write.prepare import DraftRefusal, prepare
from safety.secret_detection.detect import redact_secrets
from safety.unicode import REDACTED

CACHED: Final = 5_000
"""Texts whose check is cached: question after question returns the same ones."""
YES: Final = "yes"
_SOURCES: Final = {one.value: one for one in SourceType}
_AUDIENCES: Final = {one.value: one for one in Audience}


def backend_access_of(access: AccessScope) -> BackendAccess:
    """Return the access of a request as a backend gets it."""
    return BackendAccess(
        access.tenant,
        access.person,
        access.persons,
        access.room,
        access.project,
        access.private,
        access.operates,
    )


def statement_of(record: Record) -> Statement:
    """Return a memory as a statement. Its text and tags contain no secrets: the write path removed
    them, and a check of today may know more."""
    provenance = record.provenance
    return Statement(
        tenant=record.tenant,
        id=record.id,
        text=redact_secrets(record.content).text,
        kind=record.kind.value,
        at=provenance.at,
        person=provenance.person,
        source=provenance.source.value,
        scope=record.scope.value,
        project=record.project,
        room=provenance.room,
        tags=tuple(redact_secrets(tag).text for tag in record.tags),
        channel=provenance.channel,
        messages=_messages(record),
        confirmed=record.confirmed,
        replaced_by=record.superseded_by,
        expires_at=record.expires_at,
        details=_details(record),
    )


def record_of(statement: Statement, backend: str) -> Record:
    """Return a statement as a memory, its text unchecked: `checked` follows before it is used.
    Unknown details count as missing."""
    details = statement.details
    kind, trust = Kind(statement.kind), Trust.MEDIUM
    provenance = Provenance(
        _SOURCES.get(statement.source, SourceType.TOOL_OUTPUT),
        trust,
        statement.person,
        statement.at,
        session=details.get("session", ""),
        message_id=details.get("message_id", ""),
        conversation=details.get("conversation", ""),
        room=statement.room,
        channel=statement.channel,
        audience=_AUDIENCES.get(details.get("audience", ""), Audience.DIRECT),
        external=True,
        agent=details.get("agent", ""),
        backend=backend,
        from_repository=details.get("from_repository") == YES,
    )
    evidence = Evidence(
        statement.text,
        statement.at,
        CONFIDENCE[trust],
        redact_secrets(details["source_id"]).text if "source_id" in details else "",
        _time(details, "valid_until"),
    )
    return Record(
        *(statement.id, statement.tenant, Scope(statement.scope), kind.tier, kind, statement.text),
        *(provenance, evidence),
        project=statement.project,
        tags=statement.tags,
        true_from=_time(details, "true_from"),
        true_until=_time(details, "true_until"),
        expires_at=statement.expires_at,
        supersedes=details.get("supersedes", ""),
        superseded_by=statement.replaced_by,
        superseded_at=_time(details, "superseded_at"),
        confirmed=statement.confirmed,
        derived_from=statement.messages,
        agent_private=details.get("agent_private") == YES,
    )


def checked(record: Record) -> Record | None:
    """Return the memory with its text as it may be used; None if nothing is left of it."""
    text, tags, suspicious = _checked_text(record.content, record.tags, record.kind)
    if not text:
        return None
    trust = Trust.LOW if suspicious else record.provenance.trust
    return replace(
        record,
        content=text,
        tags=tags,
        provenance=replace(record.provenance, trust=trust),
        evidence=replace(record.evidence, claim=text, confidence=CONFIDENCE[trust]),
    )


@lru_cache(CACHED)
def _checked_text(
    text: str, tags: tuple[str, ...], kind: Kind
) -> tuple[str, tuple[str, ...], bool]:
    """Return the text, the tags, and True if the text reads like an instruction."""
    longest = 4 * MAX_STATEMENT
    draft = Draft(text[:longest], kind, tags)
    prepared = prepare(draft, InputKind.WEB, Tier.SEMANTIC, limit=MAX_STATEMENT, longest=longest)
    if isinstance(prepared, DraftRefusal):
        return ("" if prepared.code == "empty" else REDACTED), (), True
    return prepared.content, prepared.tags, bool(prepared.injections)


def _messages(record: Record) -> tuple[str, ...]:
    ids = dict.fromkeys((*record.derived_from, record.provenance.message_id))
    return tuple(id_ for id_ in ids if id_)


def _details(record: Record) -> Mapping[str, str]:
    provenance, evidence = record.provenance, record.evidence
    texts = {
        "session": provenance.session,
        "message_id": provenance.message_id,
        "conversation": provenance.conversation,
        "audience": provenance.audience.value,
        "source_id": evidence.source_id,
        "supersedes": record.supersedes,
        "agent": provenance.agent,
        "agent_private": YES if record.agent_private else "",
        "from_repository": YES if provenance.from_repository else "",
    }
    times = {
        "valid_until": evidence.valid_until,
        "true_from": record.true_from,
        "true_until": record.true_until,
        "superseded_at": record.superseded_at,
    }
    texts |= {name: at.isoformat() for name, at in times.items() if at is not None}
    return {name: text for name, text in texts.items() if text}


def _time(details: Mapping[str, str], name: str) -> datetime | None:
    if name not in details:
        return None
    try:
        at = datetime.fromisoformat(details[name])
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


MAX_TEXT: Final = 100_000
"""Characters of a text that is read before it is cut; a longer one is dropped."""

_ID: Final = re.compile(rf"{ID_PREFIX}[A-Za-z0-9_-]+")
_KINDS: Final = frozenset(kind.value for kind in Kind)
_SCOPES: Final = frozenset(get_args(StatementScope))


def is_valid(value: object) -> TypeGuard[Statement]:
    """True for a statement whose every field has the documented type and size."""
    if type(value) is not Statement:
        return False
    names = (value.tenant, value.person, value.project, value.room, value.channel)
    return (
        all(_is_text(name, MAX_NAME) for name in (*names, value.source, value.replaced_by))
        and _is_text(value.id, MAX_STATEMENT_ID)
        and _ID.fullmatch(value.id) is not None
        and _is_text(value.text, MAX_TEXT)
        and _is_text(value.kind, MAX_NAME)
        and value.kind in _KINDS
        and _is_text(value.scope, MAX_NAME)
        and value.scope in _SCOPES
        and _is_time(value.at)
        and (value.expires_at is None or _is_time(value.expires_at))
        and _are_texts(value.tags, MAX_TAGS, MAX_TAG)
        and _are_texts(value.messages, MAX_MESSAGES, MAX_NAME)
        and _is_flag(value.confirmed)
        and _are_details(value.details)
    )


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_time(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _are_texts(value: object, most: int, longest: int) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) <= most
        and all(_is_text(one, longest) for one in value)
    )


def _are_details(value: object) -> bool:
    if not isinstance(value, Mapping) or len(value) > MAX_MESSAGES:
        return False
    texts = [text for pair in value.items() for text in pair]
    return all(isinstance(text, str) for text in texts) and sum(map(len, texts)) <= MAX_DETAILS
