"""Storage of the audit log."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct, field

AuditAction = Literal[
    "memory_write",
    "memory_read",
    "memory_delete",
    "memory_bulk_delete",
    "memory_ttl_cleanup",
    "secret_redacted",
    "secret_refused",
    "secret_kept",
    "poisoning_attempt_blocked",
    "memory_review",
    "memory_conflict",
    "memory_restore",
    "brain_write",
    "people_link",
    "memory_export",
    "memory_import",
    "memory_erase",
    "security_event",
    "access_change",
    "room_binding",
    "agent_auth",
    "pool_operation",
    "handoff",
    "cross_agent_read",
    "permission_denied",
    "console",
]


class AuditEntry(Struct, frozen=True):
    """An action on memory, without content: ids, counts, sizes, codes. At most 20 details."""

    action: AuditAction
    tenant: str
    """The tenant in which the action was done."""
    person: str
    """The `str(PersonId)` of the one who acted, or "system"."""
    at: datetime
    """The time of the action, with a time zone."""
    details: tuple[tuple[str, str | int], ...] = field(default=())


AppendEntry: TypeAlias = Callable[[AuditEntry], Awaitable[None]]
"""Adds an entry to an append-only log, chained by hashes. Raises `StoreUnavailable`."""


class Link(Struct, frozen=True):
    """An entry in the chain; `number` counts from 1 without gaps."""

    number: int
    entry: AuditEntry
    previous: str
    """The hash of the entry before; 64 zeros for the first."""
    hash: str
    """The keyed hash of this entry and the one before."""


class AuditFilter(Struct, frozen=True):
    """Entries of these tenants from `since` on and before `until`. `persons` are the only people,
    None for everybody: an entry is theirs if they acted, or if it names them. `person`, `action`
    and `what`, the detail of an action in the console, narrow this down, if they are not empty."""

    tenants: tuple[str, ...]
    since: datetime
    until: datetime
    persons: tuple[str, ...] | None = None
    person: str = ""
    action: str = ""
    what: str = ""


class AuditPage(Struct, frozen=True):
    """Entries, the latest first. `next` is the number before which the next page begins, 0 at the
    end; a page may be empty and have a next one."""

    links: tuple[Link, ...]
    """The entries with their places in the chain."""
    next: int
