"""An entry of the audit as a row, the same in both engines."""

import json
from datetime import UTC, datetime
from typing import cast

from db.values import storable
from memory.store.ports import AuditAction, AuditEntry, Link


def row_of(link: Link) -> tuple[object, ...]:
    """A link as it is stored, in both engines."""
    entry = link.entry
    return (
        link.number,
        entry.at.timestamp(),
        entry.action,
        storable(entry.tenant),
        storable(entry.person),
        storable(json.dumps(entry.details, ensure_ascii=True)),
        link.previous,
        link.hash,
    )


def link_from(row: tuple[object, ...]) -> Link:
    """The link again, as it stands there; only the hash says whether it was changed."""
    number, at, action, tenant, person, details, previous, made = row
    kept = tuple((name, value) for name, value in json.loads(str(details)))
    when = datetime.fromtimestamp(float(str(at)), UTC)
    entry = AuditEntry(cast("AuditAction", action), str(tenant), str(person), when, kept)
    return Link(int(str(number)), entry, str(previous), str(made))
