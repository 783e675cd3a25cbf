"""Storage of the review queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from memory.model.record import Record
from memory.model.scope import AccessScope

ReviewState = Literal["pending", "approved", "rejected"]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A memory or document that waits for a decision; `reason` says why it was not stored."""

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
    """Empty for a memory, else the document that it would rewrite."""


class ReviewStore(Protocol):
    """The review queue: at most 100 a person, 10,000 in all, a history of 10,000."""

    async def add(self, access: AccessScope, pending: ReviewItem) -> bool:
        """Add an entry; False if the queue of the person, or of all, is full."""
        ...

    async def waiting(self, access: AccessScope, limit: int) -> list[ReviewItem]:
        """Return the entries that this person may decide, oldest first; an operator also decides
        for the project."""
        ...

    async def proposed(self, access: AccessScope, projects: Sequence[str]) -> dict[str, int]:
        """Count the entries that wait for an operator in each of these projects, and under "" for
        the whole tenant; empty for other people."""
        ...

    async def get(self, access: AccessScope, review_id: str) -> ReviewItem | None: ...

    async def take(
        self, access: AccessScope, review_id: str, state: ReviewState, note: str, now: datetime
    ) -> ReviewItem | None:
        """Decide an entry and return it; None if it is already decided. Only the decision stays
        stored, without the text."""
        ...

    async def put_back(self, access: AccessScope, pending: ReviewItem) -> None:
        """Reopen an entry that could not be stored after its approval."""
        ...

    async def history(self, access: AccessScope, limit: int) -> list[ReviewItem]:
        """Return decided entries without their text, latest first."""
        ...
