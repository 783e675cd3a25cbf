"""The viewer's preferences (SOUL) and the notes of their project (BIBLE) line by line, with their
versions; the status of the project (HEARTBEAT)."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints

from gateway.errors import BadInput
from gateway.people import Role
from gateway.ports.action import Action, Input, Output
from gateway.ports.rights import Credential, in_person
from gateway.text import (
    NO_TEXT,
    Sentence,
    Text,
    text,
    verbatim,
)
from memory.actions import documents as on
from memory.actions.call import MAX_NUMBER, Digits, MemoryCall, Number
from memory.commands.documents import outcome_text
from memory.documents.figure_sources import SourceFailed
from memory.documents.lines import DiffLine, Sign, difference, lines_of
from memory.documents.service import (
    NEARLY_FULL,
    STALE_AFTER,
    nearly_full,
)
from memory.model.record import MAX_DOCUMENT
from memory.model.scope import NO_PROJECT
from memory.ports.documents import Version
from memory.service.handle import MemoryHandle, Writable
from parley.console.route import READERS, AnyRoute, ConsoleRoute, RefusedWithResult
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.words import DOCUMENTS
from parley.http.api.errors import CallRefused

PATH: Final = "/memory"
TEMPLATE: Final = "memory/documents.html"
PAGE: Final = 10
"""Versions of one page."""
MAX_LINES: Final = MAX_DOCUMENT
MAX_PROJECTS: Final = 100
MAX_DIFF: Final = 2 * MAX_DOCUMENT
SYNC_EVERY: Final = timedelta(seconds=30)
"""The time after a sync in which a further one is refused."""

CHANGED: Final[Mapping[Writable, Sentence]] = {
    "soul": text(
        "The preferences were changed meanwhile, in another tab or in a chat. Your change was not "
        "saved."
    ),
    "bible": text(
        "The project notes were changed meanwhile, in another tab or in a chat. Your change was "
        "not saved."
    ),
}
CHOSEN: Final = text("Your project is {title} now.")
NONE_CHOSEN: Final = text("No project is chosen now.")
NO_SOURCE: Final = text(
    "This project has no source of figures. The setting `heartbeat.sources` adds one."
)
TOO_EARLY: Final = text("The status was synced just now. Try again in half a minute.")
NOT_SYNCED: Final = text("The sync failed: {problem}. The status stays as it was.")
SYNCED: Final = text("The status is synced.")


class DocumentsQuery(Input):
    """The page has no parameters."""


class UndoDocumentForm(on.DocumentChange):
    """The document, and the version of it that the page showed, 0 for none."""

    based_on: Number


class RestoreDocumentForm(on.Restore):
    """The same, and the number of the version to restore."""

    based_on: Number


class ComparedVersionsQuery(Input):
    """`after` is `next` of the previous page."""

    document: Writable = "soul"
    after: Annotated[int, Field(ge=0, le=MAX_NUMBER), Digits] = 0


class DocumentLineOut(Output):
    """A line with text; `number` counts the empty ones too."""

    number: int
    text: str


class EditableDocumentOut(Output):
    """A document. `version` is 0 while there is none. `may_write`: a change is saved at once, and
    not proposed to the operators."""

    document: Writable
    label: Said
    version: int
    lines: tuple[DocumentLineOut, ...] = Field(max_length=MAX_LINES)
    characters: int
    most: int
    warn_from: int
    warning: Said
    may_write: bool
    author: on.Author | None
    at: datetime | None


class StatusOut(Output):
    """The status of the project. `old`: its figures are older than a week. `problem` is that of the
    last sync, for operators; `can_sync`: this viewer can sync it now."""

    text: str
    synced_at: datetime | None
    age: int
    old: bool
    failed: bool
    problem: str
    can_sync: bool


class DiffOut(Output):
    """A line of a comparison."""

    sign: Sign
    text: str


class ConflictOut(Output):
    """A change that was not saved: its `text`, and what others changed since the version on which
    it is based."""

    document: Writable
    label: Said
    text: str
    newest: int
    changes: tuple[DiffOut, ...] = Field(max_length=MAX_DIFF)


class ProjectChoiceOut(Output):
    """A project that the viewer may choose."""

    id: str
    title: str


class ProjectForm(Input):
    """The id of a project, or "none"."""

    project: Annotated[str, StringConstraints(min_length=1, max_length=300)]


class DocumentsOut(Output):
    """The documents. `projects` are those that the viewer may choose. `said` is the outcome of an
    action; `problem` and `text` are those of a refused one."""

    project: str
    projects: tuple[ProjectChoiceOut, ...] = Field(default=(), max_length=MAX_PROJECTS)
    soul: EditableDocumentOut
    bible: EditableDocumentOut | None
    status: StatusOut | None
    said: Said = NO_TEXT
    problem: Said = NO_TEXT
    text: str = ""
    refused_in: Writable | None = None
    conflict: ConflictOut | None = None


class VersionOut(Output):
    """A version, with the lines that changed since the one before."""

    number: int
    author: on.Author
    at: datetime
    changes: tuple[DiffOut, ...] = Field(max_length=MAX_DIFF)
    same: int
    characters: int


class ComparedVersionsOut(Output):
    """A page of versions, newest first. `next` is empty at the end."""

    document: Writable
    label: Said
    newest: int
    may_write: bool
    versions: tuple[VersionOut, ...] = Field(max_length=PAGE)
    next: str


async def documents(
    viewer: Viewer, services: ConsoleServices, _params: DocumentsQuery
) -> DocumentsOut:
    """Return the documents."""
    return await _shown(viewer, services, await services.memory_of(viewer))


async def versions(
    viewer: Viewer, services: ConsoleServices, params: ComparedVersionsQuery
) -> ComparedVersionsOut:
    """Return a page of versions with what each one changed."""
    handle = await services.memory_of(viewer)
    kept = await handle.documents.versions(params.document)
    older = [one for one in kept if not params.after or one.number < params.after]
    # Ten comparisons may take 100 ms.
    page = await asyncio.to_thread(_compared, handle, older[: PAGE + 1])
    return ComparedVersionsOut(
        document=params.document,
        label=DOCUMENTS[params.document],
        newest=kept[0].number if kept else 0,
        may_write=params.document == "soul" or handle.access.operates,
        versions=page[:PAGE],
        next=str(page[PAGE - 1].number) if len(older) > PAGE else "",
    )


async def sync_status(
    viewer: Viewer, services: ConsoleServices, _params: DocumentsQuery
) -> DocumentsOut:
    """Sync the status of the project now. Raises `CallRefused`."""
    handle = await services.memory_of(viewer)
    project, heartbeats = handle.access.project, services.heartbeats
    if not project:
        raise BadInput(NO_PROJECT, code="no_project")
    if heartbeats is None or not _has_source(services, viewer, project):
        raise CallRefused("no_source", NO_SOURCE)
    claims = services.gateway.stores.buckets
    if not await claims.claim(f"console-sync:{viewer.tenant}:{project}", SYNC_EVERY):
        raise CallRefused("too_soon", TOO_EARLY)
    try:
        await heartbeats.sync_site(project)
    except SourceFailed as error:
        raise CallRefused("not_synced", NOT_SYNCED.of(problem=verbatim(str(error)))) from None
    return await _shown(viewer, services, handle, said=SYNCED)


async def _changed(
    viewer: Viewer,
    services: ConsoleServices,
    params: on.DocumentChange | on.LineChange,
    change: Action[MemoryCall, Any, on.WrittenOut],
) -> DocumentsOut:
    """Run a change. Raises `RefusedWithResult` with the text that was not saved."""
    call, document = await services.call_of(viewer), params.document
    handle, text = call.handle, getattr(params, "text", "")
    try:
        written = await change(call, params)
    except on.DocumentChanged as changed:
        based_on, kept = params.based_on, await handle.documents.versions(document)
        base = next((one.content for one in kept if one.number == based_on), "")
        newest = changed.newest
        found = await asyncio.to_thread(difference, base, newest.content if newest else "")
        conflict = ConflictOut(
            document=document,
            label=DOCUMENTS[document],
            text=text,
            newest=newest.number if newest else 0,
            changes=tuple(DiffOut(sign=one.sign, text=one.text) for one in _visible(found)),
        )
        shown = await _shown(viewer, services, handle, conflict=conflict)
        message = CHANGED[document]
        raise RefusedWithResult(changed.code, message, changed.where, result=shown) from None
    except BadInput as error:
        if document == "bible" and not handle.access.project:
            raise
        shown = await _shown(viewer, services, handle, problem=error.text, text=text, of=document)
        raise RefusedWithResult(error.code, error.text, result=shown) from None
    return await _shown(viewer, services, handle, said=outcome_text(document, written))


async def choose_project(
    viewer: Viewer, services: ConsoleServices, params: ProjectForm
) -> DocumentsOut:
    """Choose the project of the viewer's direct messages. Raises `BadInput` for one that is not
    available."""
    handle = await services.memory_of(viewer)
    title = await handle.choose_project(params.project)
    said = CHOSEN.of(title=verbatim(title)) if title else NONE_CHOSEN
    return await _shown(viewer, services, await services.memory_of(viewer), said=said)


async def _shown(
    viewer: Viewer,
    services: ConsoleServices,
    handle: MemoryHandle,
    *,
    said: Text = NO_TEXT,
    problem: Text = NO_TEXT,
    text: str = "",
    of: Writable | None = None,
    conflict: ConflictOut | None = None,
) -> DocumentsOut:
    project = handle.access.project
    soul = await handle.documents.read("soul")
    bible = await handle.documents.read("bible") if project else None
    known = await handle.projects()
    return DocumentsOut(
        project=project,
        projects=tuple(
            ProjectChoiceOut(id=id_, title=title) for id_, title in known[:MAX_PROJECTS]
        ),
        soul=_document(handle, "soul", soul),
        bible=_document(handle, "bible", bible) if project else None,
        status=await _status(viewer, services, handle) if project else None,
        said=said,
        problem=problem,
        text=text,
        refused_in=of,
        conflict=conflict,
    )


def _document(
    handle: MemoryHandle, document: Writable, version: Version | None
) -> EditableDocumentOut:
    content = version.content if version else ""
    return EditableDocumentOut(
        document=document,
        label=DOCUMENTS[document],
        version=version.number if version else 0,
        lines=tuple(DocumentLineOut(number=one.number, text=one.text) for one in lines_of(content)),
        characters=len(content),
        most=MAX_DOCUMENT,
        warn_from=NEARLY_FULL,
        warning=nearly_full(content),
        may_write=document == "soul" or handle.access.operates,
        author=on.author_of(handle, version) if version else None,
        at=version.at if version else None,
    )


async def _status(viewer: Viewer, services: ConsoleServices, handle: MemoryHandle) -> StatusOut:
    version = await handle.documents.read("heartbeat")
    synced, sync = version.synced_at if version else None, services.memory.sync
    project = handle.access.project
    problem = await sync.problem(viewer.tenant, project) if sync else ""
    age = services.gateway.clock.now() - synced if synced else timedelta()
    return StatusOut(
        text=version.content if version else "",
        synced_at=synced,
        age=max(0, round(age.total_seconds())),
        old=age > STALE_AFTER,
        failed=bool(problem),
        problem=problem if viewer.is_operator else "",
        can_sync=viewer.is_operator and _has_source(services, viewer, project),
    )


def _has_source(services: ConsoleServices, viewer: Viewer, project: str) -> bool:
    """True if the status of this project, of the viewer's tenant, has a source."""
    heartbeats = services.heartbeats
    try:
        return heartbeats is not None and heartbeats.check(project).tenant == viewer.tenant
    except BadInput:
        return False


def _compared(handle: MemoryHandle, kept: list[Version]) -> tuple[VersionOut, ...]:
    found = []
    for place, version in enumerate(kept):
        lines = difference(kept[place + 1].content if kept[place + 1 :] else "", version.content)
        changes = _visible(lines)
        found.append(
            VersionOut(
                number=version.number,
                author=on.author_of(handle, version),
                at=version.at,
                changes=tuple(DiffOut(sign=one.sign, text=one.text) for one in changes),
                same=sum(one.sign == "same" and bool(one.text.strip()) for one in lines),
                characters=len(version.content),
            )
        )
    return tuple(found)


def _visible(lines: tuple[DiffLine, ...]) -> list[DiffLine]:
    return [one for one in lines if one.sign != "same" and one.text.strip()]


def _form(
    name: str,
    path: str,
    change: Action[MemoryCall, Any, on.WrittenOut],
    summary: str,
    form: type[Input] | None = None,
    **example: str,
) -> AnyRoute:
    async def run(
        viewer: Viewer,
        services: ConsoleServices,
        params: on.DocumentChange | on.LineChange,
    ) -> DocumentsOut:
        return await _changed(viewer, services, params, change)

    return ConsoleRoute(
        name=name,
        method="POST",
        path=f"{PATH}/{path}",
        allowed=change.on(Credential.SESSION),
        summary=f"{summary} your preferences or project notes",
        run=run,
        form=form or change.input,
        template=TEMPLATE,
        example={"document": "soul", "based_on": "1", **example},
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="memory",
        method="GET",
        path=PATH,
        allowed=on.read_all.on(*READERS),
        summary=text("Your preferences, project notes, memories and data"),
        run=documents,
        template=TEMPLATE,
        menu=text("My memory"),
    ),
    ConsoleRoute(
        name="document_versions",
        method="GET",
        path=f"{PATH}/versions",
        allowed=on.versions.on(*READERS),
        summary="The versions of your preferences or project notes, with what each changed",
        run=versions,
        template="memory/versions.html",
        example={"document": "soul"},
    ),
    _form(
        *("add_line", "lines/add", on.add_line, "Add a line to"),
        text="Short answers.",
        based_on="0",
    ),
    _form(
        *("edit_line", "lines/edit", on.edit_line, "Change a line of"),
        number="1",
        text="Long answers.",
    ),
    _form("delete_line", "lines/delete", on.delete_line, "Delete a line of", number="1"),
    _form(
        *("undo_document", "versions/undo", on.undo),
        *("Restore the previous version of", UndoDocumentForm),
    ),
    _form(
        *("restore_version", "versions/restore", on.restore),
        *("Restore an earlier version of", RestoreDocumentForm),
        version="1",
    ),
    ConsoleRoute(
        name="choose_project",
        method="POST",
        path=f"{PATH}/project",
        allowed=in_person(Role.GUEST),
        summary="Choose the project of your direct messages, or none",
        run=choose_project,
        template=TEMPLATE,
        example={"project": "none"},
    ),
    ConsoleRoute(
        name="sync_status",
        method="POST",
        path=f"{PATH}/status/sync",
        allowed=in_person(Role.OPERATOR),
        summary="Sync the status of the chosen project now",
        run=sync_status,
        template=TEMPLATE,
    ),
)
