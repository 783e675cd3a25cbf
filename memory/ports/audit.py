"""What was done with memory, chained, without its content."""

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
]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What happened, without content: ids, counts, sizes, codes. At most 20 details."""

    action: AuditAction
    tenant: str
    person: str
    at: datetime
    details: tuple[tuple[str, str | int], ...] = field(default=())


class AuditLog(Protocol):
    """Append-only and chained by hashes, apart from memory."""

    async def append(self, entry: AuditEntry) -> None: ...


@dataclass(frozen=True, slots=True)
class Link:
    """An entry in its place of the chain; `number` counts from 1 without gaps."""

    number: int
    entry: AuditEntry
    previous: str
    hash: str


class AuditTrail(AuditLog, Protocol):
    """An audit that can be read again."""

    async def links(self, after: int, limit: int) -> list[Link]:
        """Entries in order, from the one behind `after` on."""
        ...
