"""A statement as the text of a Markdown file: front matter, an empty line, the statement.

Front matter is written as JSON values, which are YAML too; a line that a person wrote by hand may
also be a plain text. Keys that are not ours stay when a file is written again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, get_args

from gateway.ports.memory_backend import (
    MAX_DETAILS,
    MAX_MESSAGES,
    MAX_NAME,
    MAX_STATEMENT_ID,
    MAX_TAG,
    MAX_TAGS,
    Statement,
    StatementScope,
)

FENCE: Final = "---"
PREFIX: Final = "mem-"
MAX_KEYS: Final = 60
KINDS: Final = ("preference", "fact", "instruction", "context", "correction", "decision")
OWN: Final = frozenset(
    (
        *("id", "kind", "date", "source", "tags", "said_by", "room", "channel", "messages"),
        *("confirmed", "replaced_by", "expires", "details"),
    )
)
"""The keys that this package writes."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The folder that a file is in: a person's, a project's, or everybody's in a tenant."""

    tenant: str
    scope: StatementScope
    id: str = ""

    def __post_init__(self) -> None:
        if self.scope not in get_args(StatementScope):
            raise ValueError(f"there is no scope {self.scope!r}")


@dataclass(frozen=True, slots=True)
class Note:
    """The text of a file in parts; `others` are lines with keys of other programs."""

    front: Mapping[str, object]
    body: str
    others: tuple[str, ...] = ()


def read_note(text: str) -> Note:
    """Return the parts of a file. A file without front matter is all body."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != FENCE:
        return Note({}, "\n".join(lines).strip())
    ends = [number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE]
    if not ends:
        return Note({}, "\n".join(lines).strip())
    front: dict[str, object] = {}
    others: list[str] = []
    for line in lines[1 : ends[0]][:MAX_KEYS]:
        key, colon, value = line.partition(":")
        if colon and key.strip() in OWN:
            front[key.strip()] = _value(value.strip())
        elif line.strip():
            others.append(line)
    return Note(front, "\n".join(lines[ends[0] + 1 :]).strip(), tuple(others))


def written(statement: Statement, others: tuple[str, ...] = ()) -> str:
    """Return the text of a statement's file."""
    said_by = statement.person if statement.scope != "user" else ""
    expires = statement.expires_at
    values: dict[str, object] = {
        "id": statement.id,
        "kind": statement.kind,
        "date": statement.at.isoformat(),
        "source": statement.source,
        "tags": list(statement.tags),
        "said_by": said_by,
        "room": statement.room,
        "channel": statement.channel,
        "messages": list(statement.messages),
        "confirmed": statement.confirmed,
        "replaced_by": statement.replaced_by,
        "expires": expires.isoformat() if expires is not None else "",
        "details": dict(statement.details),
    }
    given = {key: value for key, value in values.items() if value}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in given.items()]
    return "\n".join((FENCE, *lines, *others, FENCE, "", statement.text, ""))


def statement_of(note: Note, owner: Owner, id_: str, changed: datetime) -> Statement:
    """Return the statement of a file in the folder of `owner`. The folder decides the tenant and
    the owner, never the text; `id_` and `changed` are for a file without an id and a date."""
    front = note.front
    expires = _text(front, "expires")
    return Statement(
        tenant=owner.tenant,
        id=_id(front) or id_,
        text=note.body,
        kind=_text(front, "kind") if front.get("kind") in KINDS else "fact",
        at=_time(_text(front, "date")) or changed,
        person=owner.id if owner.scope == "user" else _text(front, "said_by"),
        source=_text(front, "source"),
        scope=owner.scope,
        project=owner.id if owner.scope == "project" else "",
        room=_text(front, "room"),
        tags=_texts(front, "tags", MAX_TAGS, MAX_TAG),
        channel=_text(front, "channel"),
        messages=_texts(front, "messages", MAX_MESSAGES, MAX_NAME),
        confirmed=front.get("confirmed") is True,
        replaced_by=_text(front, "replaced_by"),
        expires_at=_time(expires),
        details=_details(front.get("details")),
    )


def _value(text: str) -> object:
    """Return a JSON value, or a plain text as people write it."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _id(front: Mapping[str, object]) -> str:
    id_ = _text(front, "id")
    plain = id_.replace("-", "").replace("_", "")
    sound = id_.startswith(PREFIX) and plain.isascii() and plain.isalnum()
    return id_ if sound and len(id_) <= MAX_STATEMENT_ID else ""


def _text(front: Mapping[str, object], key: str) -> str:
    value = front.get(key)
    return value[:MAX_NAME] if isinstance(value, str) else ""


def _texts(front: Mapping[str, object], key: str, most: int, longest: int) -> tuple[str, ...]:
    value = front.get(key)
    if isinstance(value, str):
        value = [part.strip() for part in value.strip("[]").split(",")]
    texts = value if isinstance(value, list) else []
    return tuple(text[:longest] for text in texts if isinstance(text, str) and text)[:most]


def _details(value: object) -> Mapping[str, str]:
    """Return the details; none if they are more than Parley takes back."""
    pairs = value.items() if isinstance(value, dict) else ()
    details = {key: text for key, text in pairs if isinstance(text, str)}
    size = sum(len(key) + len(text) for key, text in details.items())
    return details if size <= MAX_DETAILS and len(details) <= MAX_MESSAGES else {}


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
