"""Storage of the audit log."""

from datetime import datetime
from typing import Literal, Protocol

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
    person: str
    at: datetime
    details: tuple[tuple[str, str | int], ...] = field(default=())


class AuditLog(Protocol):
    """An append-only log, chained by hashes."""

    async def append(self, entry: AuditEntry) -> None: ...


class Link(Struct, frozen=True):
    """An entry in the chain; `number` counts from 1 without gaps."""

    number: int
    entry: AuditEntry
    previous: str
    hash: str


class AuditFilter(Struct, frozen=True):
    """Entries of these tenants from `since` on and before `until`. `persons` are the only people,
    None for everybody: an entry is theirs if they acted, or if it names them. `person` and `action`
    narrow this down, if they are not empty."""

    tenants: tuple[str, ...]
    since: datetime
    until: datetime
    persons: tuple[str, ...] | None = None
    person: str = ""
    action: str = ""


class AuditPage(Struct, frozen=True):
    """Entries, the latest first. `next` is the number before which the next page begins, 0 at the
    end; a page may be empty and have a next one."""

    links: tuple[Link, ...]
    next: int
