"""The list of memories with search and filters, and the deletion of several."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Final, Literal
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct
from pydantic import Field, StringConstraints, ValidationError

from gateway.errors import BadInput, NotFound
from gateway.people import Role
from gateway.ports.action import Input, Output
from gateway.ports.rights import in_person, to_read
from gateway.text import text
from memory.actions.call import MAX_NUMBER, Integral
from memory.actions.documents import PlanOut
from memory.model.record import ID_PREFIX, Kind, Record, Scope, SourceType, Trust
from memory.model.scope import may_change
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.service.handle import MemoryHandle
from parley.console.reading import excerpts
from parley.console.route import AnyRoute, ConsoleRoute
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.conversations import Day, begin_of
from parley.console.views.memory.documents import PATH
from parley.console.views.memory.reach import (
    MAX_PROJECTS,
    Project,
    ProjectOut,
    ShownMemoryOut,
    Whose,
    earlier_versions,
    handle_in,
    may_show,
    memory_out,
    projects_of,
)

LIST: Final = f"{PATH}/entries"
PAGE: Final = 20
BY_MEANING: Final = 30
"""Results of a search by meaning, which has one page."""
MOST_TEXT: Final = 60_000
"""Bytes of texts in a page."""
MAX_BACK: Final = 2_000
NO_PAGE: Final = text(
    "The memory that ended the page before is gone. Open the list from its beginning."
)
NOTHING: Final = text("No memory is chosen. Tick the memories first.")
NONE_LEFT: Final = text("None of the chosen memories exists any more, or is yours to delete.")

MemoryId = Annotated[str, StringConstraints(pattern=rf"^{ID_PREFIX}[0-9A-Za-z-]{{1,90}}$")]
After = Annotated[str, StringConstraints(pattern=rf"^({ID_PREFIX}[0-9A-Za-z-]{{1,90}})?$")]


class MemoryListQuery(Input):
    """The filters; empty ones are off. `q` are words to search for; with `how` "meaning" it is a
    question that is answered as the assistant recalls, best first. `of`: whose memories; `project`
    names the project, empty for the chosen one. `said` are stored messages instead of what was
    learned. `replaced` includes earlier versions. `since` and `until` are days in the viewer's time
    zone, both included. `after` is `next` of the page before."""

    q: Annotated[str, Field(max_length=300)] = ""
    how: Literal["words", "meaning"] = "words"
    of: Whose = "mine"
    project: Project = ""
    kind: Literal["", "preference", "instruction", "correction", "decision", "fact", "context"] = ""
    source: Literal[
        "", "user_message", "explicit_save", "ai_inference", "tool_output", "heard", "import"
    ] = ""
    trust: Literal["", "high", "medium", "low"] = ""
    said: Literal["", "yes"] = ""
    replaced: Literal["", "yes"] = ""
    since: Day = ""
    until: Day = ""
    after: After = ""


class DeleteForm(Input):
    """The memories to delete with their earlier versions. Nothing is deleted unless `number` is the
    number of all of them, which the answer names. `project` and `back` are of the list."""

    ids: Annotated[tuple[MemoryId, ...], Field(max_length=PAGE + BY_MEANING)] = ()
    number: Annotated[int, Field(ge=0, le=MAX_NUMBER), Integral] = 0
    project: Project = ""
    back: Annotated[str, Field(max_length=MAX_BACK)] = ""


class MemoryListOut(Output):
    """A page of memories. `memory_off`: nothing is recalled or stored for the viewer. `total` is
    their number where all are on this page, None otherwise. `plan` is None without a limit.
    `project` is that of the list. `query` are the filters as a query; `next` is empty at the end.
    `by_meaning`: a model for vectors answered a search by meaning; otherwise it looked for words
    only."""

    rows: tuple[ShownMemoryOut, ...] = Field(max_length=PAGE + BY_MEANING)
    total: int | None
    plan: PlanOut | None
    memory_off: bool
    project: str
    projects: tuple[ProjectOut, ...] = Field(max_length=MAX_PROJECTS)
    by_meaning: bool
    query: str
    next: str


class DeletionOut(Output):
    """`deleted` memories are gone; or, if it is 0, `number` would be: `chosen`, and `earlier`
    versions of them. `query` leads back to the list."""

    deleted: int
    number: int
    chosen: tuple[ShownMemoryOut, ...] = Field(max_length=PAGE + BY_MEANING)
    earlier: int
    project: str
    query: str


class FoundMemories(Struct, frozen=True):
    """Memories of a page; `more` follow."""

    records: list[Record]
    more: bool = False
    by_meaning: bool = False


async def memories(
    viewer: Viewer, services: ConsoleServices, params: MemoryListQuery
) -> MemoryListOut:
    """Return a page of memories, or the results of a search. Raises `BadInput`, `NotFound`."""
    handle = await handle_in(viewer, services, params.project)
    filters = filters_of(params, viewer.zone)
    found = await _found(handle, params, filters)
    fits = not (found.more or params.after or params.q.strip())
    marks = await handle.contradictions.marks() if found.records else {}
    return MemoryListOut(
        rows=shown(viewer, services, handle, found.records, marks),
        total=len(found.records) if fits else None,
        plan=await plan_of(handle),
        memory_off=handle.choices.memory_off,
        project=handle.access.project,
        projects=await projects_of(viewer, services),
        by_meaning=found.by_meaning,
        query=query_of(params),
        next=found.records[-1].id if found.more else "",
    )


async def plan_of(handle: MemoryHandle) -> PlanOut | None:
    """Return the use of a plan with a limit, None without one: counting may then take long."""
    if handle.read.limit is None:
        return None
    use = await handle.read.plan_use()
    return PlanOut(count=use.count, limit=use.limit)


async def delete(viewer: Viewer, services: ConsoleServices, params: DeleteForm) -> DeletionOut:
    """Delete memories with their earlier versions, if their number is confirmed. Raises `BadInput`
    without a memory that can be deleted."""
    if not params.ids:
        raise BadInput(NOTHING)
    handle = await handle_in(viewer, services, params.project)
    chosen = await _deletable(viewer, handle, params.ids)
    if not chosen:
        raise BadInput(NONE_LEFT)
    all_ids = dict.fromkeys(one.id for one in chosen)
    for record in chosen:
        older = await earlier_versions(handle, record)
        all_ids |= dict.fromkeys(one.id for one in older if may_change(handle.access, one))
    query, number = _list_of(params.back), len(all_ids)
    if params.number != number:
        return DeletionOut(
            deleted=0,
            number=number,
            chosen=shown(viewer, services, handle, chosen),
            earlier=number - len(chosen),
            project=params.project,
            query=query,
        )
    gone = await handle.erasure.delete(list(all_ids), reason="console")
    return DeletionOut(
        deleted=len(gone), number=0, chosen=(), earlier=0, project=params.project, query=query
    )


def filters_of(params: MemoryListQuery, zone: str) -> Filter:
    """Return the filters for the store. Raises `BadInput` for a day that does not exist."""
    until = begin_of(params.until, zone)
    scopes = {"project": (Scope.PROJECT,), "everybody": (Scope.GLOBAL,)}
    return Filter(
        text=params.q.strip() if params.how == "words" else "",
        kinds=(Kind(params.kind),) if params.kind else (),
        own_only=params.of == "mine",
        superseded=params.replaced == "yes",
        after_id=params.after,
        limit=PAGE + 1,
        scopes=scopes.get(params.of, ()),
        since=begin_of(params.since, zone),
        until=None if until is None else until + timedelta(days=1),
        turns=params.said == "yes",
        sources=(SourceType(params.source),) if params.source else (),
        trusts=(Trust(params.trust),) if params.trust else (),
    )


def query_of(params: MemoryListQuery) -> str:
    """Return the filters as a query, without the position and the defaults."""
    given = params.model_dump(exclude={"after"}, exclude_defaults=True)
    return urlencode({name: value for name, value in given.items() if value})


def shown(
    viewer: Viewer,
    services: ConsoleServices,
    handle: MemoryHandle,
    records: Sequence[Record],
    marks: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[ShownMemoryOut, ...]:
    """Return memories for a page, the long ones cut. `marks` are the ids of the memories that one
    may contradict."""
    now = services.gateway.clock.now()
    texts = excerpts([one.content for one in records], MOST_TEXT)
    return tuple(
        memory_out(viewer, handle, record, text, now, marks.get(record.id, ()))
        for record, text in zip(records, texts, strict=True)
    )


async def _found(handle: MemoryHandle, params: MemoryListQuery, filters: Filter) -> FoundMemories:
    if params.of == "project" and not handle.access.project:
        return FoundMemories([])
    question = params.q.strip()
    if question and params.how == "meaning":
        asked = handle.request
        query = Query(
            *(question, asked.at, BY_MEANING),
            filters=filters,
            zone=asked.zone,
            languages=asked.languages,
        )
        recalled = await handle.read.recall(query)
        records = [one.record for one in recalled.results]
        return FoundMemories(records, by_meaning="vector" in recalled.searches)
    if filters.after_id and await handle.read.get(filters.after_id) is None:
        raise NotFound(NO_PAGE)
    matches = await handle.read.search(filters)
    return FoundMemories([one.record for one in matches[:PAGE]], len(matches) > PAGE)


async def _deletable(viewer: Viewer, handle: MemoryHandle, ids: Sequence[str]) -> list[Record]:
    """Return the memories with these ids that the viewer may delete."""
    found = [await handle.read.get(memory_id) for memory_id in dict.fromkeys(ids)]
    return [
        one
        for one in found
        if one is not None and may_show(viewer, one) and may_change(handle.access, one)
    ]


def _list_of(text: str) -> str:
    """Return the filters of a list, checked; empty for anything else."""
    try:
        given = dict(parse_qsl(text, max_num_fields=20))
        return query_of(MemoryListQuery.model_validate(given))
    except (ValidationError, ValueError):
        return ""


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="memory_entries",
        method="GET",
        path=LIST,
        allowed=to_read(Role.GUEST),
        summary=text("Memories with search and filters"),
        run=memories,
        template="memory/memories.html",
        palette=text("Memories"),
        example={"q": "tea", "how": "meaning"},
    ),
    ConsoleRoute(
        name="delete_memories",
        method="POST",
        path=f"{PATH}/delete",
        allowed=in_person(Role.GUEST),
        summary="Delete memories with their earlier versions",
        run=delete,
        template="memory/deletion.html",
    ),
)
