"""Actions of people, their programs and their agents on SOUL, BIBLE and HEARTBEAT.

Where a person may not change a document, the change is proposed to those who may. Every action
raises `BadInput` with words for the person where the document is not available.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import BadInput, NotFound
from gateway.ports.action import (
    EVERYBODY,
    IN_BROWSER,
    PEOPLE,
    Effect,
    Input,
    Nothing,
    Output,
    Said,
    action,
)
from gateway.text import Sentence, text, verbatim
from memory.actions.call import MAX_NUMBER, Digits, Integral, Limit, MemoryCall, Number
from memory.agents.model import Capability
from memory.documents.lines import with_line_added, with_line_changed, without_line
from memory.documents.service import SYSTEM, DocumentResult, nearly_full
from memory.model.record import MAX_DOCUMENT
from memory.ports.documents import Document, Version
from memory.service.handle import MemoryHandle, Writable

Author = Literal["you", "other", "system"]
MAX_SENT: Final = 100_000
"""Characters that are taken; the document keeps `MAX_DOCUMENT` of them."""
SentText = Annotated[str, StringConstraints(max_length=MAX_SENT)]


NOT_YET: Final[Mapping[str, Sentence]] = {
    "soul": text("No preferences yet."),
    "bible": text("No project notes yet."),
    "heartbeat": text("No status yet."),
}
NEWEST: Final[Mapping[str, Sentence]] = {
    "soul": text("The newest version of the preferences is {number}."),
    "bible": text("The newest version of the project notes is {number}."),
    "heartbeat": text("The newest version of the status is {number}."),
}


class DocumentChanged(BadInput):
    """Somebody else changed the document since the version on which a change is based; `newest` is
    its version now, None for an empty one."""

    code = "conflict"

    def __init__(self, document: Document, newest: Version | None) -> None:
        number = newest.number if newest else 0
        newest_is = NEWEST[document].of(number=verbatim(str(number)))
        super().__init__(newest_is, where="body.based_on")
        self.newest = newest


class DocumentName(Input):
    """The document to read."""

    document: Document


class DocumentPage(Input):
    """The document and the versions to return."""

    document: Writable
    limit: Limit = 20
    before: Annotated[
        int | None,
        Field(ge=1, le=MAX_NUMBER, description="Return versions older than this number."),
        Digits,
    ] = None


class DocumentChange(Input):
    """The document to change. If `based_on`, 0 for none, is no longer the newest version, nothing
    is written."""

    document: Writable
    based_on: Number | None = None


class DocumentText(DocumentChange):
    """A complete document: at most 100,000 characters, of which the document keeps the first
    10,000."""

    content: str


class Restore(DocumentChange):
    """The number of the version to restore."""

    version: Annotated[int, Field(ge=1, le=MAX_NUMBER), Integral]


class LineChange(Input):
    """The document, and the version of it that the person saw, 0 for none."""

    document: Writable
    based_on: Number


class NewLines(LineChange):
    """A text to add; several lines become several lines of the document."""

    text: SentText


class NumberedLine(LineChange):
    """The number of a line."""

    number: Number


class ChangedLine(NumberedLine):
    """The new text of a line."""

    text: SentText


class PlanOut(Output):
    """The number of your current memories, and the limit of your plan; null for no limit."""

    count: int
    limit: int | None


class DocumentOut(Output):
    """One version of a document. `characters` of `max_characters` are used; `warning` is a sentence
    about it from 9,000 on. Only a HEARTBEAT has `last_synced_at`."""

    document: Document
    version: int
    content: str
    characters: int
    max_characters: int
    warning: Said | None
    author: Author
    written_at: datetime
    last_synced_at: datetime | None = None


class BrainOut(Output):
    """All documents; null for one that does not exist, or if no project is chosen."""

    project: str | None
    soul: DocumentOut | None
    bible: DocumentOut | None
    heartbeat: DocumentOut | None
    plan: PlanOut


class VersionsOut(Output):
    """Versions, newest first; `next` is the `before` of the next page, null at the end."""

    versions: list[DocumentOut]
    next: int | None


class WrittenOut(Output):
    """The outcome of a write. A proposed text waits as `review_id` for a person who may change the
    document."""

    outcome: Literal["written", "proposed"]
    document: DocumentOut | None = None
    review_id: str | None = None
    notices: list[Said]

    @property
    def is_pending(self) -> bool:
        """True for a proposal."""
        return self.outcome == "proposed"


@action("Read all documents", by=EVERYBODY, capability=Capability.MEMORY_READ, effect=Effect.READS)
async def read_all(call: MemoryCall, given: Nothing) -> BrainOut:
    """Return every document that there is."""
    handle, project = call.handle, call.handle.access.project
    soul = await handle.documents.read("soul")
    bible = await handle.documents.read("bible") if project else None
    heartbeat = await handle.documents.read("heartbeat") if project else None
    return BrainOut(
        project=project or None,
        soul=_shown(handle, soul),
        bible=_shown(handle, bible),
        heartbeat=_shown(handle, heartbeat),
        plan=await plan_of(handle),
    )


@action("Read a document", by=EVERYBODY, capability=Capability.MEMORY_READ, effect=Effect.READS)
async def read(call: MemoryCall, given: DocumentName) -> DocumentOut:
    """Return the newest version. Raises `NotFound` without one."""
    shown = _shown(call.handle, await call.handle.documents.read(given.document))
    if shown is None:
        raise NotFound(NOT_YET[given.document])
    return shown


@action("List the versions of a document", by=PEOPLE, effect=Effect.READS)
async def versions(call: MemoryCall, given: DocumentPage) -> VersionsOut:
    """Return a page of versions."""
    every = await call.handle.documents.versions(given.document)
    older = [one for one in every if given.before is None or one.number < given.before]
    page = older[: given.limit]
    return VersionsOut(
        versions=[document_out(call.handle, one) for one in page],
        next=page[-1].number if len(older) > len(page) else None,
    )


@action(
    "Replace a document", by=EVERYBODY, capability=Capability.MEMORY_WRITE, effect=Effect.WRITES
)
async def write(call: MemoryCall, given: DocumentText) -> WrittenOut:
    """Write a new version. Raises `DocumentChanged`."""
    own = call.handle.documents
    result = await own.write(given.document, given.content, based_on=given.based_on)
    return _became(call.handle, given.document, result)


@action("Restore an earlier version of a document", by=PEOPLE, effect=Effect.WRITES)
async def restore(call: MemoryCall, given: Restore) -> WrittenOut:
    """Restore an earlier version. Raises `NotFound` and `DocumentChanged`."""
    own = call.handle.documents
    result = await own.restore(given.document, given.version, based_on=given.based_on)
    return _became(call.handle, given.document, result)


@action("Restore the previous version of a document", by=PEOPLE, effect=Effect.WRITES)
async def undo(call: MemoryCall, given: DocumentChange) -> WrittenOut:
    """Restore the previous version; a further undo goes one step further back. Raises `NotFound`
    without one, and `DocumentChanged`."""
    number = await call.handle.documents.undone_version(given.document)
    result = await call.handle.documents.restore(given.document, number, based_on=given.based_on)
    return _became(call.handle, given.document, result)


@action("Add a line to a document", by=IN_BROWSER, effect=Effect.WRITES)
async def add_line(call: MemoryCall, given: NewLines) -> WrittenOut:
    """Add lines at the end. Raises `DocumentChanged`."""
    return await _edited(
        call, given, lambda content: with_line_added(given.document, content, given.text)
    )


@action("Change a line of a document", by=IN_BROWSER, effect=Effect.WRITES)
async def edit_line(call: MemoryCall, given: ChangedLine) -> WrittenOut:
    """Change one line. Raises `DocumentChanged`."""
    return await _edited(
        *(call, given),
        lambda content: with_line_changed(given.document, content, given.number, given.text),
    )


@action("Delete a line of a document", by=IN_BROWSER, effect=Effect.WRITES)
async def delete_line(call: MemoryCall, given: NumberedLine) -> WrittenOut:
    """Delete one line; without its last line the document is empty. Raises `DocumentChanged`."""
    return await _edited(
        call, given, lambda content: without_line(given.document, content, given.number)
    )


async def plan_of(handle: MemoryHandle) -> PlanOut:
    """Return the used part of the person's plan."""
    use = await handle.read.plan_use()
    return PlanOut(count=use.count, limit=use.limit)


def author_of(handle: MemoryHandle, version: Version) -> Author:
    """Return who wrote a version, without other people's ids."""
    if version.author == SYSTEM:
        return "system"
    return "you" if version.author in handle.access.persons else "other"


def document_out(handle: MemoryHandle, version: Version) -> DocumentOut:
    """Return a version as an output."""
    return DocumentOut(
        document=version.document,
        version=version.number,
        content=version.content,
        characters=len(version.content),
        max_characters=MAX_DOCUMENT,
        warning=nearly_full(version.content) or None,
        author=author_of(handle, version),
        written_at=version.at,
        last_synced_at=version.synced_at,
    )


def _shown(handle: MemoryHandle, version: Version | None) -> DocumentOut | None:
    return None if version is None else document_out(handle, version)


async def _edited(call: MemoryCall, given: LineChange, edit: Callable[[str], str]) -> WrittenOut:
    own = call.handle.documents
    newest = await own.read(given.document)
    if (newest.number if newest else 0) != given.based_on:
        raise DocumentChanged(given.document, newest)
    content = edit(newest.content if newest else "")
    result = await own.write(given.document, content, based_on=given.based_on, may_be_empty=True)
    return _became(call.handle, given.document, result)


def _became(handle: MemoryHandle, document: Writable, result: DocumentResult) -> WrittenOut:
    """Return the outcome of a write. Raises `DocumentChanged`."""
    if result.written == "conflict":
        raise DocumentChanged(document, result.version)
    return WrittenOut(
        outcome=result.written,
        document=_shown(handle, result.version),
        review_id=result.review_id or None,
        notices=list(result.notices),
    )
