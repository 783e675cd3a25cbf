"""What waits for its owner's word."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from memory.model.record import Record
from memory.model.scope import AccessScope

ReviewState = Literal["pending", "approved", "rejected"]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A memory that waits for its owner's word. `reason` says why it was not stored at once."""

    id: str
    record: Record
    reason: str
    submitted_at: datetime
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    state: ReviewState = "pending"
    decided_at: datetime | None = None
    note: str = ""
    target: str = ""
    """Empty for a memory; "bible" for a proposal to rewrite a project's document."""


class ReviewStore(Protocol):
    """The review queue: at most 100 a person, 10,000 in all, a history of 10,000."""

    async def add(self, access: AccessScope, pending: ReviewItem) -> bool:
        """False when the queue is full, the person's or all of it."""
        ...

    async def waiting(self, access: AccessScope, limit: int) -> list[ReviewItem]:
        """What waits for this person's word, oldest first; for operators also what waits for a
        project of theirs."""
        ...

    async def proposed(self, access: AccessScope, projects: Sequence[str]) -> dict[str, int]:
        """How many entries wait for an operator's word in each of these projects, and under ""
        for everybody of the tenant; nothing for whoever is no operator."""
        ...

    async def get(self, access: AccessScope, review_id: str) -> ReviewItem | None: ...

    async def take(
        self, access: AccessScope, review_id: str, state: ReviewState, note: str, now: datetime
    ) -> ReviewItem | None:
        """Decide, once: the entry goes to the first who asks, None to everybody else. Its text
        goes with it: what stays is who, where, when, why and how it was decided."""
        ...

    async def put_back(self, access: AccessScope, pending: ReviewItem) -> None:
        """What was taken could not be stored: it waits again, as it was."""
        ...

    async def history(self, access: AccessScope, limit: int) -> list[ReviewItem]:
        """What was decided, the latest first, without its text."""
        ...
