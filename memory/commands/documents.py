"""`/soul` and `/bible`: show, rewrite and undo the documents."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from gateway.errors import BadInput, NotFound
from gateway.message import Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT
from gateway.text import NO_TEXT, Moment, Sentence, Text, described, joined, text, verbatim
from memory.actions import documents as on
from memory.actions.call import MemoryCall, in_chat
from memory.commands import texts
from memory.commands.open_questions import Questions
from memory.service.handle import MemoryHandle, Writable
from memory.text.display import italic, one_line, paragraphs, quoted

OR_UNDO: Final = described("a text, or: undo")
SPECS: Final = (
    CommandSpec(
        "soul",
        described("Show or change how I behave towards you"),
        True,
        "text",
        True,
        OR_UNDO,
        allowed=IN_CHAT,
    ),
    CommandSpec(
        "bible",
        described("Show or change the notes of this project"),
        True,
        "text",
        True,
        OR_UNDO,
        allowed=IN_CHAT,
    ),
)
UNDO: Final = "undo"
FIGURES_FROM: Final = text("The status of this project is from {at}.")
UPDATE_FAILED: Final = text("Its last update failed.")
UPDATE_FAILED_BY: Final = text("Its last update failed: {problem}")
SAVED: Final[Mapping[str, Sentence]] = {
    "soul": text("Saved as version {number} of the preferences."),
    "bible": text("Saved as version {number} of the project notes."),
}

SyncProblem = Callable[[str, str], Awaitable[str]]
"""Returns the reason why the last sync of a tenant's project failed, or an empty text."""


class DocumentCommands:
    """One command, one method. Raises `BadInput` with words for the person."""

    def __init__(self, sync_problem: SyncProblem, questions: Questions) -> None:
        self._problem = sync_problem
        self._questions = questions

    async def soul(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        """Show or change the person's preferences, in a direct message."""
        if caller.place.audience is not Audience.DIRECT:
            raise BadInput(texts.ONLY_PRIVATE)
        return await self._done(handle, caller, "soul", text)

    async def bible(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        """Show or change the project notes; changes by others are proposed to the operators."""
        return await self._done(handle, caller, "bible", text)

    async def figures(self, handle: MemoryHandle) -> Text:
        """Return the age of the chosen project's figures; for an operator also the last problem."""
        access = handle.access
        if not access.project:
            return NO_TEXT
        kept = await handle.documents.read("heartbeat")
        at = kept.synced_at if kept else None
        status = FIGURES_FROM.of(at=Moment(at)) if at else texts.NO_FIGURES
        problem = await self._problem(access.tenant, access.project)
        if not problem:
            return status
        failed = UPDATE_FAILED
        if access.operates:
            failed = UPDATE_FAILED_BY.of(problem=verbatim(one_line(problem)))
        return joined((status, failed), " ")

    async def _done(
        self, handle: MemoryHandle, caller: Caller, document: Writable, text: str
    ) -> Reply:
        if not text:
            return await _shown(in_chat(handle, caller), document)
        if text.casefold() == UNDO:
            written = await self._undone(handle, caller, document)
        else:
            given = on.DocumentText(document=document, content=text)
            written = await on.write(in_chat(handle, caller), given)
        return Reply(outcome_text(document, written, italic))

    async def _undone(
        self, handle: MemoryHandle, caller: Caller, document: Writable
    ) -> on.WrittenOut:
        """Restore the previous version; a repetition of the command restores the same one."""
        number = int(await self._questions.target_of(caller.id) or 0)
        if not number:
            number = await handle.documents.undone_version(document)
            await self._questions.keep_target(caller.id, str(caller.principal.person), str(number))
        given = on.Restore(document=document, version=number)
        return await on.restore(in_chat(handle, caller), given)


async def _shown(call: MemoryCall, document: Writable) -> Reply:
    try:
        found = await on.read(call, on.DocumentName(document=document))
    except NotFound:
        return Reply(texts.NO_DOCUMENT[document])
    if not found.content:
        return Reply(texts.NO_DOCUMENT[document])
    at = Moment(found.written_at, "day")
    ways = texts.DOCUMENT_WAYS[document].of(number=found.version, at=at)
    warning = italic(found.warning) if found.warning else None
    return Reply(paragraphs(verbatim(quoted(found.content)), ways, warning))


def outcome_text(
    document: Writable, written: on.WrittenOut, marked: Callable[[Text], Text] = lambda said: said
) -> Text:
    """Return the outcome of a change that was saved or proposed, with its notices `marked`."""
    said = texts.PROPOSED
    if written.document is not None:
        said = SAVED[document].of(number=written.document.version)
    return paragraphs(said, *map(marked, written.notices))
