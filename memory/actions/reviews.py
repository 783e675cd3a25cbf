"""Decisions of people and their programs about entries that wait for review."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import StringConstraints

from gateway.ports.action import IN_BROWSER, PEOPLE, PROGRAMS, Effect, Input, Output, Said, action
from memory.actions.call import Limit, MemoryCall, OneId
from memory.actions.memories import NotKept
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import MAX_ARGUMENT, Kind, Scope
from memory.model.scope import AccessScope
from memory.service.review import MAX_REASON
from memory.stores.reviews import ReviewItem

ReviewTarget = Literal["soul", "bible", "pool"]


class ReviewPage(Input):
    """The number of entries to return."""

    limit: Limit = 20


class Approve(OneId):
    """The entry; `keep_both`: the memory that it would replace stays too."""

    keep_both: bool = False


class ApproveAs(OneId):
    """The entry, and the text that is stored instead."""

    text: Annotated[str, StringConstraints(max_length=MAX_ARGUMENT)]


class Reject(OneId):
    """The reason of a rejection, for the history."""

    reason: Annotated[str, StringConstraints(max_length=MAX_REASON)] = ""


class ReviewOut(Output):
    """An entry that waits for a decision; `target` is the document that it would rewrite, null for
    a memory."""

    id: str
    content: str
    target: ReviewTarget | None
    type: Kind
    scope: Scope
    yours: bool
    reason: Said
    checks_failed: list[str]
    submitted_at: datetime


class ReviewsOut(Output):
    """The entries that wait for your decision, oldest first."""

    reviews: list[ReviewOut]


class DecisionOut(Output):
    """A decision of a review. Its text was deleted with the decision."""

    id: str
    decision: Literal["approved", "rejected"]
    target: ReviewTarget | None
    type: Kind
    scope: Scope
    reason: Said
    note: str
    submitted_at: datetime
    decided_at: datetime | None


class DecisionsOut(Output):
    """Decisions, the latest first."""

    decisions: list[DecisionOut]


class DecidedOut(Output):
    """The decision; `memory_id` is set if a memory was stored, `notices` say what is to be known of
    it."""

    id: str
    decision: Literal["approved", "rejected"]
    memory_id: str | None = None
    notices: list[Said] = []  # noqa: RUF012 - pydantic copies it


@action(
    "List the entries that wait for your decision",
    by=IN_BROWSER | PROGRAMS,
    effect=Effect.READS,
)
async def waiting(call: MemoryCall, given: ReviewPage) -> ReviewsOut:
    """Return the entries that wait for a decision."""
    found = await call.handle.review.waiting(given.limit)
    return ReviewsOut(reviews=[_review(call.handle.access, one) for one in found])


@action("List your decisions", by=PROGRAMS, effect=Effect.READS)
async def decisions(call: MemoryCall, given: ReviewPage) -> DecisionsOut:
    """Return the decisions, without their text."""
    found = await call.handle.review.decided(given.limit)
    return DecisionsOut(decisions=[_decision(one) for one in found])


@action("Approve an entry", by=PEOPLE, effect=Effect.WRITES)
async def approve(call: MemoryCall, given: Approve) -> DecidedOut:
    """Store an entry. Raises `NotFound`, and `NotKept` for one that cannot be stored."""
    result = await call.handle.review.approve(given.id, keep_both=given.keep_both)
    if result.outcome is not Outcome.STORED:
        raise NotKept(result)
    memory, notices = result.memory_id or None, list(result.notices)
    return DecidedOut(id=given.id, decision="approved", memory_id=memory, notices=notices)


@action(
    "Store another text instead of an entry",
    by=IN_BROWSER,
    effect=Effect.WRITES,
)
async def approve_as(call: MemoryCall, given: ApproveAs) -> WriteResult:
    """Store another text, or have it wait. Raises `NotFound` and `NotKept`."""
    result = await call.handle.review.approve_as(given.id, given.text)
    if result.outcome not in (Outcome.STORED, Outcome.REVIEW):
        raise NotKept(result, "body.text")
    return result


@action("Reject an entry", by=PEOPLE, effect=Effect.WRITES)
async def reject(call: MemoryCall, given: Reject) -> DecidedOut:
    """Discard an entry. Raises `NotFound`."""
    await call.handle.review.reject(given.id, given.reason)
    return DecidedOut(id=given.id, decision="rejected")


def target_of(pending: ReviewItem) -> ReviewTarget | None:
    """Return the document that an entry would rewrite, or that it goes to a pool; None for a
    memory."""
    if not pending.target:
        return None
    if pending.share is not None:
        return "pool"
    return "soul" if pending.target == "soul" else "bible"


def _decision(pending: ReviewItem) -> DecisionOut:
    return DecisionOut(
        id=pending.id,
        decision="approved" if pending.state == "approved" else "rejected",
        target=target_of(pending),
        type=pending.record.kind,
        scope=pending.record.scope,
        reason=pending.reason,
        note=pending.note,
        submitted_at=pending.submitted_at,
        decided_at=pending.decided_at,
    )


def _review(access: AccessScope, pending: ReviewItem) -> ReviewOut:
    record = pending.record
    return ReviewOut(
        id=pending.id,
        content=record.content,
        target=target_of(pending),
        type=record.kind,
        scope=record.scope,
        yours=record.provenance.person in access.persons,
        reason=pending.reason,
        checks_failed=list(pending.failed),
        submitted_at=pending.submitted_at,
    )
