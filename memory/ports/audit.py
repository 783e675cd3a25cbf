"""Storage of the audit log."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

AuditAction = Literal[
    "memory_write",
    "memory_read",
    "memory_delete",
    "memory_bulk_delete",
    "memory_ttl_cleanup",
    "secret_redacted",
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


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An action on memory, without content: ids, counts, sizes, codes. At most 20 details."""

    action: AuditAction
    tenant: str
    person: str
    at: datetime
    details: tuple[tuple[str, str | int], ...] = field(default=())


class AuditLog(Protocol):
    """An append-only log, chained by hashes."""

    async def append(self, entry: AuditEntry) -> None: ...


@dataclass(frozen=True, slots=True)
class Link:
    """An entry in the chain; `number` counts from 1 without gaps."""

    number: int
    entry: AuditEntry
    previous: str
    hash: str


class AuditTrail(AuditLog, Protocol):
    """An audit log that can be read."""

    async def links(self, after: int, limit: int) -> list[Link]:
        """Return entries in order, those after the number `after`."""
        ...

    async def between(self, since: datetime, until: datetime, limit: int) -> list[Link]:
        """Return the first entries from `since` to `until`, in order."""
        ...
