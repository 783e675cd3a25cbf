"""The viewer's preferences (SOUL) and the notes of their project (BIBLE) line by line, with their
versions; the status of the project (HEARTBEAT)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import BadInput
from gateway.people import Role
from gateway.ports.rights import in_person, to_read
from memory.brain.documents import (
    NEARLY_FULL,
    STALE_AFTER,
    SYSTEM,
    BrainResult,
    nearly_full,
)
from memory.brain.figure_sources import SourceFailed
from memory.brain.lines import DiffLine, Sign, difference, lines_of
from memory.commands.documents import outcome_text
from memory.model.record import MAX_DOCUMENT
from memory.ports.brain import LABELS, Version
from memory.service.handle import MemoryHandle, OwnDocuments, Writable
from parley.console.route import (
    AnyRoute,
    ConsoleRoute,
    Params,
    RefusedWithResult,
    Result,
)
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.http.api.errors import Refused
from parley.http.api.models import MAX_NUMBER, Digits, Integral

PATH: Final = "/memory"
TEMPLATE: Final = "memory/documents.html"
PAGE: Final = 10
"""Versions of one page."""
MAX_LINES: Final = MAX_DOCUMENT
MAX_DIFF: Final = 2 * MAX_DOCUMENT
SYNC_EVERY: Final = timedelta(seconds=30)
"""The time after a sync in which a further one is refused."""

CHANGED: Final = (
    "The {label} were changed meanwhile, in another tab or in a chat. Your change was not saved."
)
NO_PROJECT: Final = "No project is chosen: write `/project` to the assistant in a direct message."
NO_SOURCE: Final = "The status of this project has no source: `heartbeat.sources` sets it."
TOO_EARLY: Final = "The status was synced just now. Try again in half a minute."
NOT_SYNCED: Final = "The sync failed: {problem}. The status stays as it was."
SYNCED: Final = "The status is synced."

Author = Literal["you", "other", "system"]
Number = Annotated[int, Field(ge=0, le=MAX_NUMBER), Integral]
MAX_SENT: Final = 100_000
"""Characters of a text that is returned with the reason if it is too long for the document."""
LineText = Annotated[str, StringConstraints(max_length=MAX_SENT)]


class DocumentsQuery(Params):
    """The page has no parameters."""


class UndoForm(Params):
    """The document whose previous version is restored; `based_on` is the version that the page
    showed, 0 for none."""

    document: Writable
    based_on: Number


class AddForm(UndoForm):
    """A text to add; several lines become several lines of the document."""

    text: LineText


class DeleteForm(UndoForm):
    """The number of the line to delete."""

    number: Number


class EditForm(DeleteForm):
    """The new text of a line."""

    text: LineText


class RestoreForm(UndoForm):
    """The number of the version to restore."""

    version: Number


class VersionsQuery(Params):
    """`after` is `next` of the previous page."""

    document: Writable = "soul"
    after: Annotated[int, Field(ge=0, le=MAX_NUMBER), Digits] = 0


class LineOut(Result):
    """A line with text; `number` counts the empty ones too."""

    number: int
    text: str


class DocumentOut(Result):
    """A document. `version` is 0 while there is none. `may_write`: a change is saved at once, and
    not proposed to the operators."""

    document: Writable
    label: str
    version: int
    lines: tuple[LineOut, ...] = Field(max_length=MAX_LINES)
    characters: int
    most: int
    warn_from: int
    warning: str
    may_write: bool
    author: Author | None
    at: datetime | None


class StatusOut(Result):
    """The status of the project. `old`: its figures are older than a week. `problem` is that of the
    last sync, for operators; `can_sync`: this viewer can sync it now."""

    text: str
    synced_at: datetime | None
    age: int
    old: bool
    failed: bool
    problem: str
    can_sync: bool


class DiffOut(Result):
    """A line of a comparison."""

    sign: Sign
    text: str


class ConflictOut(Result):
    """A change that was not saved: its `text`, and what others changed since the version on which
    it is based."""

    document: Writable
    label: str
    text: str
    newest: int
    changes: tuple[DiffOut, ...] = Field(max_length=MAX_DIFF)


class DocumentsOut(Result):
    """The documents. `said` is the outcome of an action; `problem` and `text` are those of a
    refused one."""

    project: str
    soul: DocumentOut
    bible: DocumentOut | None
    status: StatusOut | None
    said: str = ""
    problem: str = ""
    text: str = ""
    refused_in: Writable | None = None
    conflict: ConflictOut | None = None


class VersionOut(Result):
    """A version, with the lines that changed since the one before."""

    number: int
    author: Author
    at: datetime
    changes: tuple[DiffOut, ...] = Field(max_length=MAX_DIFF)
    same: int
    characters: int


class VersionsOut(Result):
    """A page of versions, newest first. `next` is empty at the end."""

    document: Writable
    label: str
    newest: int
    may_write: bool
    versions: tuple[VersionOut, ...] = Field(max_length=PAGE)
    next: str


async def documents(
    viewer: Viewer, services: ConsoleServices, _params: DocumentsQuery
) -> DocumentsOut:
    """Return the documents."""
    return await _shown(viewer, services, await services.memory_of(viewer))


async def versions(viewer: Viewer, services: ConsoleServices, params: VersionsQuery) -> VersionsOut:
    """Return a page of versions with what each one changed."""
    handle = await services.memory_of(viewer)
    _check_project(handle, params.document)
    kept = await handle.documents.versions(params.document)
    older = [one for one in kept if not params.after or one.number < params.after]
    # Ten comparisons may take 100 ms.
    page = await asyncio.to_thread(_compared, handle, older[: PAGE + 1])
    return VersionsOut(
        document=params.document,
        label=LABELS[params.document],
        newest=kept[0].number if kept else 0,
        may_write=params.document == "soul" or handle.access.operates,
        versions=page[:PAGE],
        next=str(page[PAGE - 1].number) if len(older) > PAGE else "",
    )


async def add_line(viewer: Viewer, services: ConsoleServices, params: AddForm) -> DocumentsOut:
    """Add a line."""
    return await _changed(
        *(viewer, services, params, params.text),
        lambda own: own.add_line(params.document, params.text, params.based_on),
    )


async def edit_line(viewer: Viewer, services: ConsoleServices, params: EditForm) -> DocumentsOut:
    """Change a line."""
    return await _changed(
        *(viewer, services, params, params.text),
        lambda own: own.edit_line(params.document, params.number, params.text, params.based_on),
    )


async def delete_line(
    viewer: Viewer, services: ConsoleServices, params: DeleteForm
) -> DocumentsOut:
    """Delete a line."""
    return await _changed(
        *(viewer, services, params, ""),
        lambda own: own.delete_line(params.document, params.number, params.based_on),
    )


async def undo(viewer: Viewer, services: ConsoleServices, params: UndoForm) -> DocumentsOut:
    """Restore the previous version; a further undo goes one step further back."""

    async def previous(own: OwnDocuments) -> BrainResult:
        number = await own.undone_version(params.document)
        return await own.restore(params.document, number, based_on=params.based_on)

    return await _changed(viewer, services, params, "", previous)


async def restore(viewer: Viewer, services: ConsoleServices, params: RestoreForm) -> DocumentsOut:
    """Restore an earlier version."""
    return await _changed(
        *(viewer, services, params, ""),
        lambda own: own.restore(params.document, params.version, based_on=params.based_on),
    )


async def sync_status(
    viewer: Viewer, services: ConsoleServices, _params: DocumentsQuery
) -> DocumentsOut:
    """Sync the status of the project now. Raises `Refused`."""
    handle = await services.memory_of(viewer)
    project, heartbeats = handle.access.project, services.heartbeats
    if not project:
        raise Refused(409, "no_project", NO_PROJECT)
    if heartbeats is None or not _has_source(services, viewer, project):
        raise Refused(409, "no_source", NO_SOURCE)
    claims = services.gateway.stores.buckets
    if not await claims.claim(f"console-sync:{viewer.tenant}:{project}", SYNC_EVERY):
        raise Refused(409, "too_early", TOO_EARLY)
    try:
        await heartbeats.sync_site(project)
    except SourceFailed as error:
        raise Refused(409, "not_synced", NOT_SYNCED.format(problem=error)) from None
    return await _shown(viewer, services, handle, said=SYNCED)


async def _changed(
    viewer: Viewer,
    services: ConsoleServices,
    params: UndoForm,
    text: str,
    change: Callable[[OwnDocuments], Awaitable[BrainResult]],
) -> DocumentsOut:
    """Run a change. Raises `RefusedWithResult` with the text that was not saved."""
    handle = await services.memory_of(viewer)
    document = params.document
    _check_project(handle, document)
    before = await handle.documents.versions(document)
    try:
        result = await change(handle.documents)
    except BadInput as error:
        shown = await _shown(viewer, services, handle, problem=str(error), text=text, of=document)
        raise RefusedWithResult(422, "refused", str(error), result=shown) from None
    if result.written != "conflict":
        said = outcome_text(document, result)
        return await _shown(viewer, services, handle, said=said)
    base = next((one.content for one in before if one.number == params.based_on), "")
    newest = result.version
    found = await asyncio.to_thread(difference, base, newest.content if newest else "")
    conflict = ConflictOut(
        document=document,
        label=LABELS[document],
        text=text,
        newest=newest.number if newest else 0,
        changes=tuple(DiffOut(sign=one.sign, text=one.text) for one in _visible(found)),
    )
    shown = await _shown(viewer, services, handle, conflict=conflict)
    message = CHANGED.format(label=LABELS[document])
    raise RefusedWithResult(409, "conflict", message, "body.based_on", result=shown)


async def _shown(
    viewer: Viewer,
    services: ConsoleServices,
    handle: MemoryHandle,
    *,
    said: str = "",
    problem: str = "",
    text: str = "",
    of: Writable | None = None,
    conflict: ConflictOut | None = None,
) -> DocumentsOut:
    project = handle.access.project
    soul = await handle.documents.read("soul")
    bible = await handle.documents.read("bible") if project else None
    return DocumentsOut(
        project=project,
        soul=_document(handle, "soul", soul),
        bible=_document(handle, "bible", bible) if project else None,
        status=await _status(viewer, services, handle) if project else None,
        said=said,
        problem=problem,
        text=text,
        refused_in=of,
        conflict=conflict,
    )


def _document(handle: MemoryHandle, document: Writable, version: Version | None) -> DocumentOut:
    content = version.content if version else ""
    return DocumentOut(
        document=document,
        label=LABELS[document],
        version=version.number if version else 0,
        lines=tuple(LineOut(number=one.number, text=one.text) for one in lines_of(content)),
        characters=len(content),
        most=MAX_DOCUMENT,
        warn_from=NEARLY_FULL,
        warning=nearly_full(content),
        may_write=document == "soul" or handle.access.operates,
        author=_author(handle, version) if version else None,
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
                author=_author(handle, version),
                at=version.at,
                changes=tuple(DiffOut(sign=one.sign, text=one.text) for one in changes),
                same=sum(one.sign == "same" and bool(one.text.strip()) for one in lines),
                characters=len(version.content),
            )
        )
    return tuple(found)


def _visible(lines: tuple[DiffLine, ...]) -> list[DiffLine]:
    return [one for one in lines if one.sign != "same" and one.text.strip()]


def _author(handle: MemoryHandle, version: Version) -> Author:
    if version.author == SYSTEM:
        return "system"
    return "you" if version.author in handle.access.persons else "other"


def _check_project(handle: MemoryHandle, document: Writable) -> None:
    if document == "bible" and not handle.access.project:
        raise Refused(409, "no_project", NO_PROJECT)


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="memory",
        method="GET",
        path=PATH,
        allowed=to_read(Role.GUEST),
        summary="Your preferences, project notes, memories and data",
        params=DocumentsQuery,
        result=DocumentsOut,
        run=documents,
        template=TEMPLATE,
        menu="My memory",
    ),
    ConsoleRoute(
        name="document_versions",
        method="GET",
        path=f"{PATH}/versions",
        allowed=to_read(Role.GUEST),
        summary="The versions of your preferences or project notes, with what each changed",
        params=VersionsQuery,
        result=VersionsOut,
        run=versions,
        template="memory/versions.html",
        example={"document": "soul"},
    ),
    ConsoleRoute(
        name="add_line",
        method="POST",
        path=f"{PATH}/lines/add",
        allowed=in_person(Role.GUEST),
        summary="Add a line to your preferences or project notes",
        params=AddForm,
        result=DocumentsOut,
        run=add_line,
        template=TEMPLATE,
        example={"document": "soul", "text": "Short answers.", "based_on": "0"},
    ),
    ConsoleRoute(
        name="edit_line",
        method="POST",
        path=f"{PATH}/lines/edit",
        allowed=in_person(Role.GUEST),
        summary="Change a line of your preferences or project notes",
        params=EditForm,
        result=DocumentsOut,
        run=edit_line,
        template=TEMPLATE,
        example={"document": "soul", "number": "1", "text": "Long answers.", "based_on": "1"},
    ),
    ConsoleRoute(
        name="delete_line",
        method="POST",
        path=f"{PATH}/lines/delete",
        allowed=in_person(Role.GUEST),
        summary="Delete a line of your preferences or project notes",
        params=DeleteForm,
        result=DocumentsOut,
        run=delete_line,
        template=TEMPLATE,
        example={"document": "soul", "number": "1", "based_on": "1"},
    ),
    ConsoleRoute(
        name="undo_document",
        method="POST",
        path=f"{PATH}/versions/undo",
        allowed=in_person(Role.GUEST),
        summary="Restore the previous version of your preferences or project notes",
        params=UndoForm,
        result=DocumentsOut,
        run=undo,
        template=TEMPLATE,
        example={"document": "soul", "based_on": "1"},
    ),
    ConsoleRoute(
        name="restore_version",
        method="POST",
        path=f"{PATH}/versions/restore",
        allowed=in_person(Role.GUEST),
        summary="Restore an earlier version of your preferences or project notes",
        params=RestoreForm,
        result=DocumentsOut,
        run=restore,
        template=TEMPLATE,
        example={"document": "soul", "version": "1", "based_on": "1"},
    ),
    ConsoleRoute(
        name="sync_status",
        method="POST",
        path=f"{PATH}/status/sync",
        allowed=in_person(Role.OPERATOR),
        summary="Sync the status of the chosen project now",
        params=DocumentsQuery,
        result=DocumentsOut,
        run=sync_status,
        template=TEMPLATE,
    ),
)
