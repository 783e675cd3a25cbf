"""Actions of people, their programs and their agents on memories: search, read, store, delete."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import BadInput, NotFound
from gateway.ports.action import PROGRAMS, Effect, Empty, Input, Output, Said, action
from gateway.ports.rights import TOKENS
from gateway.text import text
from memory.actions.call import Id, Limit, MemoryCall, OneId
from memory.actions.documents import PlanOut, plan_of
from memory.agents.model import Capability
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import (
    MAX_ARGUMENT,
    MAX_TAG,
    MAX_TAGS,
    Draft,
    Kind,
    Record,
    Scope,
    Tier,
)
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.service.contradictions import Answer
from memory.service.read import ListName

MAX_QUERY: Final = 500
NO_MEMORY: Final = text("This memory does not exist, or is not yours.")
OF_EVERYBODY: Final = text("Only operators can delete memories of a project or of everybody.")
Tag = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TAG)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=MAX_TAGS)]


class MemorySearch(Input):
    """The memories to return."""

    query: Annotated[
        str,
        Field(
            max_length=MAX_QUERY,
            description="Words to search for, best match first; without words, newest first.",
        ),
    ] = ""
    tags: Annotated[Tags, Field(description="A memory must have all of these tags.")] = ()
    type: Annotated[Kind | None, Field(strict=False, description="Only memories of this kind.")] = (
        None
    )
    tier: Annotated[Tier | None, Field(strict=False, description="Only memories of this tier.")] = (
        None
    )
    list: Annotated[
        ListName | None,
        Field(description="Learned memories or chat messages; both if it is omitted."),
    ] = None
    limit: Limit = 20
    after: Annotated[Id | None, Field(description="`next` of the previous page.")] = None


class MemoryBody(Input):
    """A memory to store. The server sets its author and origin."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ARGUMENT)]
    type: Kind = Kind.FACT
    tags: Tags = ()
    scope: Scope = Scope.USER
    supersedes: Annotated[Id | None, Field(description="The memory that this one replaces.")] = None
    evidence: Annotated[
        dict[str, Any],
        Field(
            max_length=100,
            description="Further fields of the evidence, such as a ticket or a file: 5 deep, 500 "
            "values, 10,000 bytes.",
        ),
    ] = Field(default={})


class SettleBody(OneId):
    """Two memories that may contradict each other, and which of them is true: the one with `id`,
    the `other` one, or both."""

    other: Id
    true: Answer


class TrueOut(Output):
    """The ids of the memories that are true, and of the one that no longer is; null if both are."""

    true: list[str]
    replaced: str | None


class MemoryOut(Output):
    """One memory. `yours` is false for a memory of a project or of everybody that somebody else
    wrote."""

    id: str
    content: str
    type: Kind
    tier: Tier
    scope: Scope
    project: str | None
    tags: list[str]
    behavioral: bool
    yours: bool
    role: Literal["user", "assistant", "tool", "other"] | None
    source: str
    trust: Literal["high", "medium", "low"]
    confidence: float
    source_id: str | None
    evidence: Annotated[
        dict[str, Any],
        Field(
            description="Further fields of the evidence of your own memories. `source_type` is the "
            "kind of a verified source: documentation, adr, commit or issue."
        ),
    ]
    written_at: datetime
    true_from: datetime | None
    true_until: datetime | None
    expires_at: datetime | None
    supersedes: str | None
    superseded_by: str | None
    may_contradict: Annotated[
        list[str],
        Field(description="The ids of your other memories of which only one may be true."),
    ]
    confirmed: bool


class MemoriesOut(Output):
    """A page of memories; `next` is the `after` of the next page, null at the end."""

    memories: list[MemoryOut]
    next: str | None
    plan: PlanOut


class KeptOut(Output):
    """The outcome of storing a memory. With "review" it waits as `review_id` for your decision."""

    outcome: Literal["stored", "review"]
    code: str
    message: Said
    memory_id: str | None = None
    review_id: str | None = None
    content: str
    notices: list[Said]

    @property
    def is_pending(self) -> bool:
        """True for one that waits for a decision."""
        return self.outcome == "review"


class NotKept(BadInput):
    """A memory was not stored; `result` has the reason and its code."""

    def __init__(self, result: WriteResult, where: str = "body.content") -> None:
        missing = result.code == "missing"
        code, place = ("not_found", "body.supersedes") if missing else (result.code, where)
        super().__init__(result.reason, code=code, where=place)
        self.result = result


@action("List memories", by=TOKENS, capability=Capability.MEMORY_READ, effect=Effect.READS)
async def search(call: MemoryCall, given: MemorySearch) -> MemoriesOut:
    """Return a page of memories. Working memory has one page and no search."""
    handle = call.handle
    if given.tier is Tier.WORKING:
        kept = (await handle.read.working())[: given.limit]
        shown = [memory_out(handle.access, record, {}) for record in kept]
        return MemoriesOut(memories=shown, next=None, plan=await plan_of(handle))
    if given.after is not None and await handle.read.get(given.after) is None:
        raise NotFound(NO_MEMORY, where="query.after")
    matches = await handle.read.search(
        Filter(
            text=given.query,
            tags=given.tags,
            kinds=(given.type,) if given.type else (),
            tiers=(given.tier,) if given.tier else (),
            after_id=given.after or "",
            limit=given.limit + 1,
            turns=None if given.list is None else given.list == "said",
        )
    )
    page = [match.record for match in matches[: given.limit]]
    marks = await handle.contradictions.marks() if page else {}
    return MemoriesOut(
        memories=[memory_out(handle.access, record, marks) for record in page],
        next=page[-1].id if len(matches) > len(page) else None,
        plan=await plan_of(handle),
    )


@action("Read a memory", by=TOKENS, capability=Capability.MEMORY_READ, effect=Effect.READS)
async def read(call: MemoryCall, given: OneId) -> MemoryOut:
    """Return a memory. Raises `NotFound`."""
    record = await call.handle.read.get(given.id)
    if record is None:
        raise NotFound(NO_MEMORY)
    return memory_out(call.handle.access, record, await call.handle.contradictions.marks())


@action("Delete a memory", by=PROGRAMS, effect=Effect.WRITES)
async def delete(call: MemoryCall, given: OneId) -> Empty:
    """Delete a memory. Raises `NotFound`; a visible memory of others is refused."""
    if not await call.handle.erasure.delete([given.id]):
        if await call.handle.read.get(given.id) is None:
            raise NotFound(NO_MEMORY)
        raise BadInput(OF_EVERYBODY, code="not_yours", where="path.id")
    return Empty()


@action("Restore a replaced memory", by=PROGRAMS, effect=Effect.WRITES)
async def restore(call: MemoryCall, given: OneId) -> MemoryOut:
    """Make a replaced memory valid again, beside what replaced it. Raises `NotFound`, and
    `BadInput` if the plan is full or the same is stored by now."""
    handle = call.handle
    record = await handle.contradictions.restore(given.id)
    return memory_out(handle.access, record, await handle.contradictions.marks())


@action("Say which of two memories is true", by=PROGRAMS, effect=Effect.WRITES)
async def settle(call: MemoryCall, given: SettleBody) -> TrueOut:
    """Record which of two memories is true. Raises `NotFound`."""
    decided = await call.handle.contradictions.settle(given.id, given.other, given.true)
    replaced = None if decided.replaced is None else decided.replaced.id
    return TrueOut(true=[one.id for one in decided.true], replaced=replaced)


@action("Store a memory", by=TOKENS, capability=Capability.MEMORY_WRITE, effect=Effect.WRITES)
async def remember(call: MemoryCall, given: MemoryBody) -> KeptOut:
    """Store a memory through the same write path as `/remember`. Raises `NotKept`."""
    result = await call.handle.write.remember(
        Draft(
            *(given.content, given.type, given.tags, given.scope, given.supersedes or ""),
            evidence=given.evidence,
        )
    )
    if result.outcome not in (Outcome.STORED, Outcome.REVIEW):
        raise NotKept(result)
    return KeptOut(
        outcome="stored" if result.outcome is Outcome.STORED else "review",
        code=result.code,
        message=result.reason,
        memory_id=result.memory_id or None,
        review_id=result.review_id or None,
        content=result.content,
        notices=list(result.notices),
    )


def memory_out(
    access: AccessScope, record: Record, marks: Mapping[str, Sequence[str]]
) -> MemoryOut:
    """Return a memory as an output, without other people's ids. `marks` are the ids of the memories
    that one may contradict."""
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
        may_contradict=list(marks.get(record.id, ())),
        confirmed=record.confirmed,
    )
