"""The review queue for one request: memories and documents that wait for a decision."""

import asyncio
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from gateway.errors import NotFound
from gateway.immutable import replace
from gateway.text import Text, counted, joined, text
from memory.model.outcome import STORED, Outcome, WriteResult
from memory.model.record import InputKind, Record, draft_of
from memory.service.dependencies import RequestMemory
from memory.service.write import MEMORY_OFF
from memory.stores.reviews import ReviewItem, ShareProposal
from memory.text.display import quoted_lines
from memory.write.notices import naming
from safety.secret_detection.detect import redact_and_cut

MAX_REASON: Final = 500
MAX_PROJECTS: Final = 5
"""Projects that are named at most: each may cost a request to its platform."""
SHARED: Final = text("Shared.")
NOT_WAITING: Final = text("No decision is open under this id. It may have been decided already.")
REMOVES: Final = counted("It removes {count} line: {lines}.", "It removes {count} lines: {lines}.")
EDITED: Final = "edited"
"""The note of an entry that was decided with another text."""


class Proposals(Struct, frozen=True):
    """The number of open proposals in a project; `project` is empty for the whole tenant."""

    project: str
    title: str
    count: int


class MemoryReview(RequestMemory, frozen=True):
    """Lists and decides what waits for this person."""

    async def waiting(self, limit: int = 10) -> list[ReviewItem]:
        """Return the open entries, oldest first. The reason names the memory that an entry would
        replace, while that memory exists."""
        waiting = await self.dependencies.reviews.waiting(self.access, limit)
        return [await self._naming(item) for item in waiting]

    async def decided(self, limit: int = 10) -> list[ReviewItem]:
        """Return the decided entries without their text, latest first."""
        return await self.dependencies.reviews.history(self.access, limit)

    async def approval(self, memory: Record) -> ReviewItem | None:
        """Return the decision that stored a memory; None if no decision is kept, or it is not this
        person's to read."""
        return await self.dependencies.reviews.approval(self.access, memory)

    async def proposed(self) -> list[Proposals]:
        """Return the projects in which proposals wait for this operator.

        The list is empty for other people, and in a room, where others would learn the names of
        the projects.
        """
        if self.access.room or not self.access.operates:
            return []
        people = self.dependencies.people
        titles = dict(await people.projects(self.request))
        counts = await self.dependencies.reviews.proposed(self.access, tuple(titles))
        projects = [project for project in titles if project in counts][:MAX_PROJECTS]
        member = await asyncio.gather(
            *(people.reaches(self.request, project) for project in projects)
        )
        proposals = [
            Proposals(project, titles[project], counts[project])
            for project, is_member in zip(projects, member, strict=True)
            if is_member
        ]
        return proposals + ([Proposals("", "", counts[""])] if "" in counts else [])

    async def approve(self, review_id: str, *, keep_both: bool = False) -> WriteResult:
        """Store an open entry; `keep_both` also keeps the memory that it would replace. Raises
        `NotFound` if no entry with this id waits for this person.

        The memory is stored before the decision is recorded. After a crash in between the entry is
        still open, and storing it again changes nothing.
        """
        item = await self.dependencies.reviews.get(self.access, review_id)
        if item is None or item.state != "pending":
            raise NotFound(NOT_WAITING)
        if not self.choices.remembered:
            return WriteResult(Outcome.REFUSED, "memory_off", MEMORY_OFF)
        if item.share is not None:
            return await self._approve_share(item, item.share)
        if item.target:
            return await self._approve_document(review_id)
        result = await self.dependencies.path.approve(
            self.request, self.access, item, keep_both=keep_both
        )
        if result.outcome is Outcome.REFUSED:
            return result
        try:
            await self._take(item.id, "approved", "")
        except NotFound:
            decided = await self.dependencies.reviews.get(self.access, item.id)
            if decided is None or decided.state == "rejected":
                await self.dependencies.memories.delete(self.access, [item.record.id])
            raise
        await self.audit("memory_review", decision="approved", review=review_id)
        return result

    async def approve_as(self, review_id: str, text: str) -> WriteResult:
        """Store an open entry with another text, as what this person asks to keep. The entry is
        decided if that text is stored, or waits as an entry of its own. Raises `NotFound` if no
        memory with this id waits for this person."""
        item = await self.dependencies.reviews.get(self.access, review_id)
        if item is None or item.state != "pending" or item.target:
            raise NotFound(NOT_WAITING)
        if not self.choices.remembered:
            return WriteResult(Outcome.REFUSED, "memory_off", MEMORY_OFF)
        result = await self.dependencies.path.write(
            self.request, self.access, draft_of(item.record, text), InputKind.EXPLICIT
        )
        if result.outcome not in (Outcome.STORED, Outcome.REVIEW):
            return result
        stored = result.outcome is Outcome.STORED
        try:
            await self._take(item.id, "approved" if stored else "rejected", EDITED)
        except NotFound:
            await self.dependencies.memories.delete(self.access, [result.memory_id])
            raise
        decision = "approved" if stored else "rejected"
        await self.audit("memory_review", decision=decision, review=review_id, edited=1)
        return result

    async def reject(self, review_id: str, reason: str = "") -> None:
        """Discard an open entry. Raises `NotFound` if no entry with this id waits for this
        person."""
        item = await self._take(review_id, "rejected", redact_and_cut(reason, MAX_REASON))
        await self.dependencies.memories.delete(self.access, [item.record.id])
        await self.audit("memory_review", decision="rejected", review=review_id)

    async def _naming(self, item: ReviewItem) -> ReviewItem:
        if item.target in ("soul", "bible"):
            lost = await self.dependencies.documents.would_drop(self.access, item)
            return replace(item, reason=removing(item.reason, lost)) if lost else item
        if not item.record.supersedes:
            return item
        old = await self.dependencies.memories.get(self.access, item.record.supersedes)
        if old is None or not old.current:
            return item
        return replace(item, reason=naming(item.reason, old.content))

    async def _approve_document(self, review_id: str) -> WriteResult:
        item = await self._take(review_id, "approved", "")
        try:
            await self.dependencies.documents.accept(self.request, self.access, item)
        except BaseException:
            await self.dependencies.reviews.put_back(self.access, item)
            raise
        await self.audit("memory_review", decision="approved", review=review_id)
        return WriteResult(Outcome.STORED, "stored", STORED, item.record.content)

    async def _approve_share(self, item: ReviewItem, proposal: ShareProposal) -> WriteResult:
        """Share what an agent proposed; a share that was decided meanwhile ends again."""
        shares = self.dependencies.shares
        if shares is None:
            raise NotFound(NOT_WAITING)
        await shares.approve(item, proposal)
        try:
            await self._take(item.id, "approved", "")
        except NotFound:
            await shares.undo(item, proposal)
            raise
        await self.audit("memory_review", decision="approved", review=item.id)
        return WriteResult(Outcome.STORED, "shared", SHARED, item.record.content)

    async def _take(
        self, review_id: str, state: Literal["approved", "rejected"], note: str
    ) -> ReviewItem:
        now = self.dependencies.clock.now()
        item = await self.dependencies.reviews.take(
            self.access, review_id, state, note, now, self.dependencies.audit.hashed
        )
        if item is None:
            raise NotFound(NOT_WAITING)
        return item


def removing(reason: Text, lost: Sequence[str]) -> Text:
    """Return the reason of a document's review with the lines that it would remove."""
    return joined((reason, REMOVES.of(count=len(lost), lines=quoted_lines(lost))), " ")
