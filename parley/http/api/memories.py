"""Memories and reviews over HTTP."""

from typing import Final, Literal

from gateway.errors import NotFound
from gateway.ports.rights import TOKEN_READS, TOKEN_WRITES, TokenScope, by_agent_too
from memory.agents.model import Capability
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import Draft, Record, Tier
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.reviews import ReviewItem
from parley.http.api.documents import plan_of
from parley.http.api.errors import Refused
from parley.http.api.models import (
    DecidedOut,
    DecisionOut,
    DecisionsOut,
    KeptOut,
    MemoriesOut,
    MemoriesQuery,
    MemoryBody,
    MemoryOut,
    Nothing,
    Plain,
    RejectBody,
    ReviewOut,
    ReviewsOut,
    ReviewsQuery,
)
from parley.http.api.operations import Answer, AnyOperation, Call, Operation

NO_MEMORY: Final = "This memory does not exist, or is not yours."
_MISSING: Final = {404: "It does not exist, or is not yours."}
_CONFLICTS: Final = ("quota", "queue_full", "no_project", "memory_off")
"""Codes of refusals that depend on stored data or settings, not on the text."""


def memory_operations() -> tuple[AnyOperation, ...]:
    """Return the operations on memories and reviews."""
    return (
        *_of_all(),
        *_of_one("/brain/memories/{id}"),
        *_of_reviews(),
        *_of_one_review("/brain/reviews/{id}"),
    )


def _of_all() -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "GET",
            "/brain/memories",
            "memories",
            "List memories",
            by_agent_too(TokenScope.READ, Capability.MEMORY_READ),
            search,
            MemoriesQuery,
            Nothing,
            {200: (MemoriesOut, "A page of memories.")},
            {404: "You do not belong to this project, or `after` is not a memory of yours."},
        ),
        Operation(
            "POST",
            "/brain/memories",
            "remember",
            "Store a memory",
            by_agent_too(TokenScope.WRITE, Capability.MEMORY_WRITE),
            remember,
            Plain,
            MemoryBody,
            {201: (KeptOut, "Stored."), 202: (KeptOut, "It waits for review.")},
            {
                404: "The memory that it supersedes does not exist, or is not yours.",
                409: "It is stored already, the plan or the review queue is full, memory is off, "
                "or no project is chosen.",
                422: "No part of it can be stored.",
            },
        ),
    )


def _of_one(one: str) -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "GET",
            one,
            "memory",
            "Read a memory",
            by_agent_too(TokenScope.READ, Capability.MEMORY_READ),
            read,
            Plain,
            Nothing,
            {200: (MemoryOut, "The memory.")},
            _MISSING,
        ),
        Operation(
            "DELETE",
            one,
            "forget",
            "Delete a memory",
            TOKEN_WRITES,
            delete,
            Plain,
            Nothing,
            {204: (None, "Deleted.")},
            _MISSING,
        ),
    )


def _of_reviews() -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "GET",
            "/brain/reviews",
            "reviews",
            "List the entries that wait for your decision",
            TOKEN_READS,
            waiting,
            ReviewsQuery,
            Nothing,
            {200: (ReviewsOut, "The entries, oldest first.")},
            {404: "You do not belong to this project."},
        ),
        Operation(
            "GET",
            "/brain/decisions",
            "decisions",
            "List your decisions",
            TOKEN_READS,
            decisions,
            ReviewsQuery,
            Nothing,
            {200: (DecisionsOut, "The decisions, the latest first.")},
            {404: "You do not belong to this project."},
        ),
    )


def _of_one_review(review: str) -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "POST",
            f"{review}/approve",
            "approve",
            "Approve an entry",
            TOKEN_WRITES,
            approve,
            Plain,
            Nothing,
            {200: (DecidedOut, "Stored.")},
            {
                **_MISSING,
                409: "It is stored already, the plan is full, or memory is off.",
                422: "It cannot be stored.",
            },
        ),
        Operation(
            "POST",
            f"{review}/reject",
            "reject",
            "Reject an entry",
            TOKEN_WRITES,
            reject,
            Plain,
            RejectBody,
            {200: (DecidedOut, "Rejected.")},
            _MISSING,
        ),
    )


async def search(call: Call, query: MemoriesQuery, _body: Nothing) -> Answer:
    """Return a page of memories. Working memory has one page and no search."""
    if query.tier is Tier.WORKING:
        kept = (await call.handle.read.working())[: query.limit]
        shown = [memory_out(call.handle.access, record) for record in kept]
        return Answer(200, MemoriesOut(memories=shown, next=None, plan=await plan_of(call.handle)))
    if query.after is not None and await call.handle.read.get(query.after) is None:
        raise Refused(404, "not_found", NO_MEMORY, "query.after")
    matches = await call.handle.read.search(
        Filter(
            text=query.query,
            tags=query.tags,
            kinds=(query.type,) if query.type else (),
            tiers=(query.tier,) if query.tier else (),
            after_id=query.after or "",
            limit=query.limit + 1,
            turns=None if query.list is None else query.list == "said",
        )
    )
    page = [match.record for match in matches[: query.limit]]
    return Answer(
        200,
        MemoriesOut(
            memories=[memory_out(call.handle.access, record) for record in page],
            next=page[-1].id if len(matches) > len(page) else None,
            plan=await plan_of(call.handle),
        ),
    )


async def read(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return a memory."""
    record = await call.handle.read.get(call.item)
    if record is None:
        raise NotFound(NO_MEMORY)
    return Answer(200, memory_out(call.handle.access, record))


async def delete(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Delete a memory. A visible memory of others is refused with 403."""
    if not await call.handle.erasure.delete([call.item]):
        if await call.handle.read.get(call.item) is None:
            raise NotFound(NO_MEMORY)
        raise Refused(
            403,
            "not_yours",
            "Only operators can delete memories of a project or of everybody.",
            "path.id",
        )
    return Answer(204)


async def remember(call: Call, _query: Plain, body: MemoryBody) -> Answer:
    """Store a memory through the same write path as `/remember`."""
    result = await call.handle.write.remember(
        Draft(
            *(body.content, body.type, body.tags, body.scope, body.supersedes or ""),
            evidence=body.evidence,
        )
    )
    if result.outcome not in (Outcome.STORED, Outcome.REVIEW):
        raise _not_kept(result)
    stored = result.outcome is Outcome.STORED
    return Answer(
        201 if stored else 202,
        KeptOut(
            outcome="stored" if stored else "review",
            code=result.code,
            message=result.reason,
            memory_id=result.memory_id or None,
            review_id=result.review_id or None,
            content=result.content,
            notices=list(result.notices),
        ),
    )


async def waiting(call: Call, query: ReviewsQuery, _body: Nothing) -> Answer:
    """Return the entries that wait for a decision."""
    reviews = await call.handle.review.waiting(query.limit)
    return Answer(200, ReviewsOut(reviews=[_review(call.handle.access, each) for each in reviews]))


async def decisions(call: Call, query: ReviewsQuery, _body: Nothing) -> Answer:
    """Return the decisions, without their text."""
    reviews = await call.handle.review.decided(query.limit)
    return Answer(200, DecisionsOut(decisions=[_decision(each) for each in reviews]))


async def approve(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Approve an entry."""
    result = await call.handle.review.approve(call.item)
    if result.outcome is not Outcome.STORED:
        raise _not_kept(result)
    memory = result.memory_id or None
    return Answer(200, DecidedOut(id=call.item, decision="approved", memory_id=memory))


async def reject(call: Call, _query: Plain, body: RejectBody) -> Answer:
    """Reject an entry."""
    await call.handle.review.reject(call.item, body.reason)
    return Answer(200, DecidedOut(id=call.item, decision="rejected"))


def memory_out(access: AccessScope, record: Record) -> MemoryOut:
    """Return a memory for the response, without other people's ids."""
    provenance = record.provenance
    yours = provenance.person in access.persons
    return MemoryOut(
        id=record.id,
        content=record.content,
        type=record.kind,
        tier=record.tier,
        scope=record.scope,
        project=record.project or None,
        tags=list(record.tags),
        behavioral=record.behavioral,
        yours=yours,
        role=record.role or None,
        source=provenance.source.value,
        trust=provenance.trust.value,
        confidence=record.evidence.confidence,
        source_id=record.evidence.source_id or None,
        evidence=dict(record.evidence.fields) if yours else {},
        written_at=provenance.at,
        true_from=record.true_from,
        true_until=record.true_until,
        expires_at=record.expires_at,
        supersedes=record.supersedes or None,
        superseded_by=record.superseded_by or None,
        confirmed=record.confirmed,
    )


def _target(pending: ReviewItem) -> Literal["soul", "bible", "pool"] | None:
    if not pending.target:
        return None
    if pending.share is not None:
        return "pool"
    return "soul" if pending.target == "soul" else "bible"


def _decision(pending: ReviewItem) -> DecisionOut:
    return DecisionOut(
        id=pending.id,
        decision="approved" if pending.state == "approved" else "rejected",
        target=_target(pending),
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
        target=_target(pending),
        type=record.kind,
        scope=record.scope,
        yours=record.provenance.person in access.persons,
        reason=pending.reason,
        checks_failed=list(pending.failed),
        submitted_at=pending.submitted_at,
    )


def _not_kept(result: WriteResult) -> Refused:
    if result.code == "missing":
        return Refused(404, "not_found", result.reason, "body.supersedes")
    conflict = result.code == "duplicate" or result.code in _CONFLICTS
    return Refused(409 if conflict else 422, result.code, result.reason, "body.content")
