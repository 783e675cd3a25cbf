"""Quarantined work."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.ports.work_guard import Owner, WorkKind


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Work that crashed several processes and is not started any more. No content; `deaths` is its
    weight, see `gateway.inbound.crash_loop_guard`."""

    kind: WorkKind
    id: str
    owner: Owner
    deaths: int
    at: datetime


class QuarantineStore(Protocol):
    """Quarantined work of every kind. Everything raises `StoreUnavailable`."""

    async def add(self, entry: Quarantined) -> None:
        """Store an entry; a known one stays unchanged."""

    async def listed(self, limit: int) -> list[Quarantined]:
        """Return the latest, newest first."""

    async def remove(self, kind: WorkKind, item_id: str, *, discard: bool) -> bool:
        """Remove an entry, so that its work starts again, or with `discard` delete the work too.
        False if there is no such entry."""

    async def prune(
        self, before: datetime, recurring_before: datetime, recurring: Sequence[WorkKind], most: int
    ) -> int:
        """Discard entries from before then, and the oldest beyond `most`; those of the kinds
        `recurring` from before `recurring_before`. Returns how many."""
