"""The review queue: what waits for the viewer's decision, and what was decided earlier."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.immutable import replace
from gateway.ports.action import Input, Output
from gateway.ports.rights import Credential
from gateway.text import (
    NO_TEXT,
    Text,
    text,
)
from memory.actions import reviews as on
from memory.actions.memories import NotKept
from memory.commands.memories import kept
from memory.documents.lines import difference
from memory.model.outcome import Outcome
from memory.model.record import MAX_ARGUMENT, MAX_DOCUMENT
from memory.recall.selection import without_secrets
from memory.service.handle import MemoryHandle
from memory.service.review import MAX_REASON
from memory.stores.reviews import ReviewItem, scope_of
from parley.console.names import names_of
from parley.console.reading import Excerpt, excerpts
from parley.console.route import READERS, AnyRoute, ConsoleRoute, ItemParams, RefusedWithResult
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.memory.documents import PATH, DiffOut
from parley.console.views.memory.memories import MOST_TEXT
from parley.console.views.memory.reach import (
    MAX_PROJECTS,
    Project,
    ProjectOut,
    ShownMemoryOut,
    call_in,
    handle_in,
    may_show,
    memory_out,
    projects_of,
)
from parley.console.words import DOCUMENTS

QUEUE: Final = f"{PATH}/reviews"
ONE: Final = f"{QUEUE}/{{id}}"
TEMPLATE: Final = "memory/reviews.html"
EXAMPLE: Final = {"id": "rev-00000000-0000-0000-0000-000000000000"}
MAX_WAITING: Final = 100
MAX_DECIDED: Final = 50
MAX_DIFF: Final = 2 * MAX_DOCUMENT
APPROVED: Final = text("It is stored now.")
APPROVED_OTHERWISE: Final = text("The changed text is stored.")
REJECTED: Final = text("It is discarded, and not stored.")

Target = Literal["memory", "soul", "bible", "pool"]
Decider = Literal["you", "other", "unknown"]


class ReviewQueueQuery(Input):
    """`project` names the project whose proposals are listed, empty for the chosen one."""

    project: Project = ""


class DecisionForm(ItemParams):
    """The project of the list."""

    project: Project = ""


class ApproveForm(DecisionForm):
    """`beside`: the memory that the entry would replace stays too."""

    beside: Literal["", "yes"] = ""


class RejectForm(DecisionForm):
    """The reason, for the history."""

    reason: Annotated[str, StringConstraints(max_length=MAX_REASON)] = ""


class EditReviewForm(DecisionForm):
    """The text that is stored instead."""

    text: Annotated[str, StringConstraints(max_length=MAX_ARGUMENT)]


class WaitingReviewOut(Output):
    """An entry that waits. `target` says what it would change; `changes` are those of a document.
    `reason` says why it was not stored at once, `checks` which checks it failed; `replaces`: it
    would replace a memory."""

    id: str
    entry: ShownMemoryOut
    target: Target
    label: Said
    reason: Said
    checks: tuple[str, ...] = Field(max_length=20)
    since: datetime
    replaces: bool
    changes: tuple[DiffOut, ...] = Field(max_length=MAX_DIFF)


class PastDecisionOut(Output):
    """A decision. The text is deleted with it. `by` is the account that decided, given to operators
    and of one's own; empty if it is not known."""

    id: str
    decision: Literal["approved", "rejected"]
    target: Target
    kind: str
    of: Literal["mine", "project", "everybody"]
    reason: Said
    note: str
    since: datetime
    at: datetime | None
    decider: Decider
    by: str
    by_name: str
    """The name of that account; empty if it is not known."""


class ReviewQueueOut(Output):
    """Entries that wait, the oldest first, and decided ones, the latest first. `said` is the
    outcome of an action; `problem` and `text` are those of a refused one on the entry `refused`."""

    waiting: tuple[WaitingReviewOut, ...] = Field(max_length=MAX_WAITING)
    decided: tuple[PastDecisionOut, ...] = Field(max_length=MAX_DECIDED)
    project: str
    projects: tuple[ProjectOut, ...] = Field(max_length=MAX_PROJECTS)
    said: Said = NO_TEXT
    refused: str = ""
    problem: Said = NO_TEXT
    text: str = ""


async def reviews(
    viewer: Viewer, services: ConsoleServices, params: ReviewQueueQuery
) -> ReviewQueueOut:
    """Return the queue and the decisions."""
    handle = await handle_in(viewer, services, params.project)
    return await _shown(viewer, services, handle)


async def approve(viewer: Viewer, services: ConsoleServices, params: ApproveForm) -> ReviewQueueOut:
    """Store an entry. Raises `NotFound` and `RefusedWithResult`."""
    call = await call_in(viewer, services, params.project)
    try:
        await on.approve(call, on.Approve(id=params.id, keep_both=params.beside == "yes"))
    except NotKept as refused:
        raise await _refused(viewer, services, call.handle, params.id, refused) from None
    return await _shown(viewer, services, call.handle, said=APPROVED)


async def approve_as(
    viewer: Viewer, services: ConsoleServices, params: EditReviewForm
) -> ReviewQueueOut:
    """Store another text instead of an entry. Raises `NotFound` and `RefusedWithResult`."""
    call, text = await call_in(viewer, services, params.project), params.text
    try:
        result = await on.approve_as(call, on.ApproveAs(id=params.id, text=text))
    except NotKept as refused:
        raise await _refused(viewer, services, call.handle, params.id, refused, text) from None
    said = APPROVED_OTHERWISE if result.outcome is Outcome.STORED else result.reason
    return await _shown(viewer, services, call.handle, said=said)


async def reject(viewer: Viewer, services: ConsoleServices, params: RejectForm) -> ReviewQueueOut:
    """Discard an entry. Raises `NotFound`."""
    call = await call_in(viewer, services, params.project)
    await on.reject(call, on.Reject(id=params.id, reason=params.reason))
    return await _shown(viewer, services, call.handle, said=REJECTED)


async def _refused(
    viewer: Viewer,
    services: ConsoleServices,
    handle: MemoryHandle,
    id_: str,
    refused: NotKept,
    text: str = "",
) -> RefusedWithResult:
    """Return the refusal whose page keeps the text."""
    problem = kept(replace(refused.result, notices=()))
    page = await _shown(viewer, services, handle, refused=id_, problem=problem, text=text)
    return RefusedWithResult(refused.code, problem, refused.where, result=page)


async def _shown(
    viewer: Viewer,
    services: ConsoleServices,
    handle: MemoryHandle,
    *,
    said: Text = NO_TEXT,
    refused: str = "",
    problem: Text = NO_TEXT,
    text: str = "",
) -> ReviewQueueOut:
    waits = [one for one in await handle.review.waiting(MAX_WAITING) if _may_see(viewer, one)]
    decided = [one for one in await handle.review.decided(MAX_DECIDED) if _may_see(viewer, one)]
    names = await names_of(viewer, services, (one.decided_by for one in decided))
    return ReviewQueueOut(
        waiting=await _waiting(viewer, services, handle, waits),
        decided=tuple(_decided(viewer, handle, one, names) for one in decided),
        project=handle.access.project,
        projects=await projects_of(viewer, services),
        said=said,
        refused=refused,
        problem=problem,
        text=text,
    )


async def _waiting(
    viewer: Viewer, services: ConsoleServices, handle: MemoryHandle, waits: Sequence[ReviewItem]
) -> tuple[WaitingReviewOut, ...]:
    """Return entries for a page: documents as their changes, long texts are cut."""
    changes = {}
    for target in ("soul", "bible"):
        proposed = [one for one in waits if one.target == target]
        newest = await handle.documents.read(target) if proposed else None
        for one in proposed:
            old = newest.content if newest else ""
            changes[one.id] = await asyncio.to_thread(_difference, old, one.record.content)
    # A document may be long, and is read for secrets again.
    clean = await asyncio.to_thread(lambda: [without_secrets(one.record) for one in waits])
    texts = excerpts([one.content for one in clean], MOST_TEXT)
    now = services.gateway.clock.now()
    return tuple(
        WaitingReviewOut(
            id=one.id,
            entry=memory_out(viewer, handle, record, text, now),
            target=on.target_of(one) or "memory",
            label=DOCUMENTS.get(one.target, NO_TEXT),
            reason=one.reason,
            checks=one.failed[:20],
            since=one.submitted_at,
            replaces=bool(one.record.supersedes) and not one.target,
            changes=changes.get(one.id, ()),
        )
        for one, record, text in zip(waits, clean, texts, strict=True)
    )


def _difference(old: str, new: str) -> tuple[DiffOut, ...]:
    lines = difference(old, new)
    changed = [one for one in lines if one.sign != "same" and one.text.strip()]
    return tuple(DiffOut(sign=one.sign, text=one.text) for one in changed)


def _decided(
    viewer: Viewer, handle: MemoryHandle, one: ReviewItem, names: Mapping[str, str]
) -> PastDecisionOut:
    record = memory_out(
        viewer, handle, one.record, Excerpt(text="", characters=0), one.submitted_at
    )
    mine = one.decided_by in handle.access.persons
    return PastDecisionOut(
        id=one.id,
        decision="approved" if one.state == "approved" else "rejected",
        target=on.target_of(one) or "memory",
        kind=record.kind,
        of=record.of,
        reason=one.reason,
        note=one.note,
        since=one.submitted_at,
        at=one.decided_at,
        decider="you" if mine else "other" if one.decided_by else "unknown",
        by=one.decided_by if mine or viewer.is_operator else "",
        by_name=names.get(one.decided_by, ""),
    )


def _may_see(viewer: Viewer, one: ReviewItem) -> bool:
    """Decide if the viewer may read an entry: one of a person as its record says, and one that
    operators decide, which the store returned."""
    return may_show(viewer, replace(one.record, scope=scope_of(one)))


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="memory_reviews",
        method="GET",
        path=QUEUE,
        allowed=on.waiting.on(*READERS),
        summary=text("Memories waiting for your decision, and earlier decisions"),
        run=reviews,
        template=TEMPLATE,
        palette=text("Review"),
    ),
    ConsoleRoute(
        name="approve_review",
        method="POST",
        path=f"{ONE}/approve",
        allowed=on.approve.on(Credential.SESSION),
        summary="Store what waits for your decision",
        run=approve,
        template=TEMPLATE,
        example=EXAMPLE,
    ),
    ConsoleRoute(
        name="edit_review",
        method="POST",
        path=f"{ONE}/edit",
        allowed=on.approve_as.on(Credential.SESSION),
        summary="Store another text instead of what waits for your decision",
        run=approve_as,
        template=TEMPLATE,
        example={**EXAMPLE, "text": "I like tea."},
    ),
    ConsoleRoute(
        name="reject_review",
        method="POST",
        path=f"{ONE}/reject",
        allowed=on.reject.on(Credential.SESSION),
        summary="Discard what waits for your decision",
        run=reject,
        template=TEMPLATE,
        example=EXAMPLE,
    ),
)
