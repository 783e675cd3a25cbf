"""`/soul` and `/bible`: show, rewrite and undo the documents."""

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.errors import BadInput, NotFound
from gateway.message import Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT
from memory.actions import documents as on
from memory.actions.call import MemoryCall, in_chat
from memory.commands import texts
from memory.commands.open_questions import Questions
from memory.ports.documents import LABELS
from memory.service.handle import MemoryHandle, Writable
from memory.text.display import one_line, quoted

OR_UNDO: Final = "a text, or: undo"
SPECS: Final = (
    CommandSpec(
        "soul",
        "Show or change how you behave towards me",
        True,
        "text",
        True,
        OR_UNDO,
        allowed=IN_CHAT,
    ),
    CommandSpec(
        "bible",
        "Show or change the notes of this project",
        True,
        "text",
        True,
        OR_UNDO,
        allowed=IN_CHAT,
    ),
)
UNDO: Final = "undo"

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

    async def figures(self, handle: MemoryHandle) -> str:
        """Return the age of the chosen project's figures; for an operator also the last problem."""
        access = handle.access
        if not access.project:
            return ""
        kept = await handle.documents.read("heartbeat")
        at = kept.synced_at if kept else None
        parts = (
            f"The status of this project is from {at:%Y-%m-%d %H:%M} UTC."
            if at
            else texts.NO_FIGURES
        )
        problem = await self._problem(access.tenant, access.project)
        if not problem:
            return parts
        why = f": {one_line(problem)}" if access.operates else "."
        return f"{parts} Its last update failed{why}"

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
        return Reply(outcome_text(document, written, "_"))

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
        return Reply(texts.NO_DOCUMENT.format(label=LABELS[document], name=document))
    if not found.content:
        return Reply(texts.NO_DOCUMENT.format(label=LABELS[document], name=document))
    at = found.written_at.date()
    ways = texts.DOCUMENT_WAYS.format(number=found.version, at=at, name=document)
    parts = [quoted(found.content), ways]
    if found.warning:
        parts.append(f"_{found.warning}_")
    return Reply("\n\n".join(parts))


def outcome_text(document: Writable, written: on.WrittenOut, mark: str = "") -> str:
    """Return the outcome of a change that was saved or proposed, with its notices between `mark`,
    the sign of italics."""
    text = texts.PROPOSED
    if written.document is not None:
        text = f"Saved as version {written.document.version} of the {LABELS[document]}."
    return "\n\n".join((text, *(f"{mark}{notice}{mark}" for notice in written.notices)))
