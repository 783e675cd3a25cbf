"""One memory: its origin, its earlier and later versions, and what can be done with it."""

from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import NotFound
from gateway.immutable import replace
from gateway.people import Role
from gateway.ports.action import Output
from gateway.ports.rights import in_person, to_read
from gateway.text import (
    NO_TEXT,
    Text,
    counted,
    joined,
    text,
)
from memory.commands.memories import kept
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import MAX_ARGUMENT, UNDO_FOR, Kind, Record, Scope, SourceType, draft_of
from memory.model.scope import may_change
from memory.service.handle import MemoryHandle
from parley.console.names import names_of
from parley.console.route import AnyRoute, ConsoleRoute, ItemParams, RefusedWithResult
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.memory.memories import LIST, shown
from parley.console.views.memory.reach import (
    MAX_CHAIN,
    Project,
    ShownMemoryOut,
    earlier_versions,
    handle_in,
    later_versions,
    may_show,
    memory_out,
    whole,
)

ONE: Final = f"{LIST}/{{id}}"
TEMPLATE: Final = "memory/entry.html"
EXAMPLE: Final = {"id": "mem-00000000-0000-0000-0000-000000000000"}
NO_MEMORY: Final = text("This memory does not exist, or you may not see it.")
NOT_EDITABLE: Final = text("This entry cannot be changed. It can be deleted.")
SAVED: Final = text("The new text is saved. The earlier one is listed below, and can be restored.")
CONFIRMED: Final = text("Confirmed: it counts as what you asked to keep.")
RESTORED: Final = text("The earlier text is valid again.")
TAKEN_BACK: Final = counted(
    "{count} memory that the assistant noted in one turn is deleted.",
    "{count} memories that the assistant noted in one turn are deleted.",
)
AGAIN: Final = counted(
    "{count} earlier memory is valid again.", "{count} earlier memories are valid again."
)

Undo = Literal["", "replacement", "notes"]
MemoryText = Annotated[str, StringConstraints(max_length=MAX_ARGUMENT)]


class EntryQuery(ItemParams):
    """`project` is the project of the memory, if it is not the chosen one."""

    project: Project = ""


class EntryForm(EntryQuery):
    """The same, for an action."""


class EditMemoryForm(EntryForm):
    """The new text, and the kind; empty for the present one."""

    text: MemoryText
    kind: Literal["", "preference", "instruction", "correction", "decision", "fact", "context"] = ""


class MemoryApprovalOut(Output):
    """The decision that stored a memory. `by` is the account that decided, given to operators and
    of one's own; `name` is its name. `at` is None if no decision is recorded."""

    at: datetime | None = None
    by: str = ""
    name: str = ""


class MemoryPageOut(Output):
    """A memory with its versions. `undo` says what can be taken back: a "replacement" of an earlier
    text, or the "notes" that the assistant made in one turn. `said` is the outcome of an action,
    `problem` and `text` are those of a refused one; `waits`: the new text waits for a decision.
    `approval` is None for a memory that nobody had to approve. `entry` is None after it was taken
    back."""

    entry: ShownMemoryOut | None
    earlier: tuple[ShownMemoryOut, ...] = Field(default=(), max_length=MAX_CHAIN)
    later: tuple[ShownMemoryOut, ...] = Field(default=(), max_length=MAX_CHAIN)
    approval: MemoryApprovalOut | None = None
    derived_from: int = 0
    may_edit: bool = False
    may_confirm: bool = False
    undo: Undo = ""
    project: str = ""
    said: Said = NO_TEXT
    problem: Said = NO_TEXT
    text: str = ""
    waits: bool = False


async def entry(viewer: Viewer, services: ConsoleServices, params: EntryQuery) -> MemoryPageOut:
    """Return a memory. Raises `NotFound`."""
    handle = await handle_in(viewer, services, params.project)
    record = await _record(viewer, handle, params.id)
    return await _shown(viewer, services, handle, record, params.project)


async def edit(viewer: Viewer, services: ConsoleServices, params: EditMemoryForm) -> MemoryPageOut:
    """Replace a memory by another text. Raises `NotFound` and `RefusedWithResult`."""
    handle = await handle_in(viewer, services, params.project)
    record = await _record(viewer, handle, params.id)
    kind = Kind(params.kind) if params.kind else record.kind
    return await _replaced(
        viewer, services, handle, record, params, text=params.text, kind=kind, said=SAVED
    )


async def confirm(viewer: Viewer, services: ConsoleServices, params: EntryForm) -> MemoryPageOut:
    """Keep the text of a memory as what the viewer asked to keep. Raises as `edit` does."""
    handle = await handle_in(viewer, services, params.project)
    record = await _record(viewer, handle, params.id)
    return await _replaced(
        *(viewer, services, handle, record, params),
        text=record.content,
        kind=record.kind,
        said=CONFIRMED,
    )


async def undo(viewer: Viewer, services: ConsoleServices, params: EntryForm) -> MemoryPageOut:
    """Take back a replacement, or what the assistant noted in the turn of a memory. Raises
    `NotFound`."""
    handle = await handle_in(viewer, services, params.project)
    record = await _record(viewer, handle, params.id)
    if _undo_of(handle, record, await earlier_versions(handle, record)) != "notes":
        restored = await handle.write.undo_replacement(record.id)
        return await _shown(viewer, services, handle, restored, params.project, said=RESTORED)
    result = await handle.write.undo(record.id)
    again = AGAIN.of(count=len(result.restored)) if result.restored else NO_TEXT
    said = joined(filter(None, (TAKEN_BACK.of(count=len(result.gone)), again)), " ")
    return MemoryPageOut(entry=None, project=params.project, said=said)


async def _replaced(
    viewer: Viewer,
    services: ConsoleServices,
    handle: MemoryHandle,
    record: Record,
    params: EntryQuery,
    *,
    text: str,
    kind: Kind,
    said: Text,
) -> MemoryPageOut:
    if not _may_edit(viewer, handle, record):
        message = NOT_EDITABLE
        page = await _shown(viewer, services, handle, record, params.project, problem=message)
        raise RefusedWithResult("not_editable", message, result=page)
    draft = replace(draft_of(record, text), kind=kind, supersedes=record.id)
    result = await handle.write.remember(draft)
    if result.outcome is Outcome.STORED:
        newer = await _record(viewer, handle, result.memory_id)
        own = result.notices[: -1 if result.replacement_notice else None]
        notices = joined((said, *own), " ")
        return await _shown(viewer, services, handle, newer, params.project, said=notices)
    if result.outcome is Outcome.REVIEW:
        return await _shown(
            viewer, services, handle, record, params.project, said=result.reason, waits=True
        )
    page = await _shown(
        viewer, services, handle, record, params.project, problem=_refusal(result), text=text
    )
    raise RefusedWithResult(result.code, page.problem, "body.text", result=page)


def _refusal(result: WriteResult) -> Text:
    return kept(replace(result, notices=()))


async def _record(viewer: Viewer, handle: MemoryHandle, memory_id: str) -> Record:
    record = await handle.read.get(memory_id)
    if record is None or not may_show(viewer, record):
        raise NotFound(NO_MEMORY)
    return record


async def _shown(
    viewer: Viewer,
    services: ConsoleServices,
    handle: MemoryHandle,
    record: Record,
    project: str,
    *,
    said: Text = NO_TEXT,
    problem: Text = NO_TEXT,
    text: str = "",
    waits: bool = False,
) -> MemoryPageOut:
    now = services.gateway.clock.now()
    older = [one for one in await earlier_versions(handle, record) if may_show(viewer, one)]
    newer = [one for one in await later_versions(handle, record) if may_show(viewer, one)]
    may_edit = _may_edit(viewer, handle, record)
    explicit = record.provenance.source is SourceType.EXPLICIT_SAVE
    return MemoryPageOut(
        entry=memory_out(viewer, handle, record, whole(record), now),
        earlier=shown(viewer, services, handle, older),
        later=shown(viewer, services, handle, newer),
        approval=await _approval(viewer, services, handle, record),
        derived_from=len(record.derived_from),
        may_edit=may_edit,
        may_confirm=may_edit and not explicit,
        undo=_undo_of(handle, record, older),
        project=project,
        said=said,
        problem=problem,
        text=text,
        waits=waits,
    )


async def _approval(
    viewer: Viewer, services: ConsoleServices, handle: MemoryHandle, record: Record
) -> MemoryApprovalOut | None:
    """Return who approved a memory, for people who may see the decision."""
    item = await handle.review.approval(record)
    if item is None:
        return (
            MemoryApprovalOut() if viewer.is_operator and record.scope is not Scope.USER else None
        )
    by = item.decided_by
    if not viewer.is_operator and by not in handle.access.persons:
        by = ""
    names = await names_of(viewer, services, (by,))
    return MemoryApprovalOut(at=item.decided_at, by=by, name=names.get(by, ""))


def _may_edit(viewer: Viewer, handle: MemoryHandle, record: Record) -> bool:
    """True for what was learned and is valid; not for messages, and not for what an agent keeps for
    itself or may contain text of a private repository, which a new text would show to others."""
    kept_text = not (record.role or record.agent_private or record.provenance.from_repository)
    return (
        record.current
        and kept_text
        and may_show(viewer, record)
        and may_change(handle.access, record)
    )


def _undo_of(handle: MemoryHandle, record: Record, earlier: list[Record]) -> Undo:
    provenance = record.provenance
    if not record.current or record.role or not may_change(handle.access, record):
        return ""
    own = provenance.person in handle.access.persons
    explicit = record.confirmed or provenance.source is SourceType.EXPLICIT_SAVE
    lately = handle.request.at - provenance.at < UNDO_FOR - timedelta(minutes=1)
    if own and lately and not explicit:
        return "notes"
    return "replacement" if earlier else ""


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="memory_entry",
        method="GET",
        path=ONE,
        allowed=to_read(Role.GUEST),
        summary="A memory with its origin and its versions",
        run=entry,
        template=TEMPLATE,
        example=EXAMPLE,
    ),
    ConsoleRoute(
        name="edit_memory",
        method="POST",
        path=f"{ONE}/edit",
        allowed=in_person(Role.GUEST),
        summary="Replace a memory by another text",
        run=edit,
        template=TEMPLATE,
        example={**EXAMPLE, "text": "I like tea."},
    ),
    ConsoleRoute(
        name="confirm_memory",
        method="POST",
        path=f"{ONE}/confirm",
        allowed=in_person(Role.GUEST),
        summary="Confirm a memory that the assistant concluded",
        run=confirm,
        template=TEMPLATE,
        example=EXAMPLE,
    ),
    ConsoleRoute(
        name="undo_memory",
        method="POST",
        path=f"{ONE}/undo",
        allowed=in_person(Role.GUEST),
        summary="Take back a change, or what the assistant noted",
        run=undo,
        template=TEMPLATE,
        example=EXAMPLE,
    ),
)
