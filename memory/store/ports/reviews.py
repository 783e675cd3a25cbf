"""What waits for its owner's word."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from memory.record import Record
from memory.scope import Reach

ReviewState = Literal["pending", "approved", "rejected"]


@dataclass(frozen=True, slots=True)
class Pending:
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

    async def add(self, reach: Reach, pending: Pending) -> bool:
        """False when the queue is full, the person's or all of it."""
        ...

    async def waiting(self, reach: Reach, limit: int) -> list[Pending]:
        """What waits for this person's word, oldest first; for operators also what waits for a
        project of theirs."""
        ...

    async def proposed(self, reach: Reach, projects: Sequence[str]) -> dict[str, int]:
        """How many entries wait for an operator's word in each of these projects, and under ""
        for everybody of the tenant; nothing for whoever is no operator."""
        ...

    async def get(self, reach: Reach, review_id: str) -> Pending | None: ...

    async def take(
        self, reach: Reach, review_id: str, state: ReviewState, note: str, now: datetime
    ) -> Pending | None:
        """Decide, once: the entry goes to the first who asks, None to everybody else. Its text
        goes with it: what stays is who, where, when, why and how it was decided."""
        ...

    async def put_back(self, reach: Reach, pending: Pending) -> None:
        """What was taken could not be stored: it waits again, as it was."""
        ...

    async def history(self, reach: Reach, limit: int) -> list[Pending]:
        """What was decided, the latest first, without its text."""
        ...
