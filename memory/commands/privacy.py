"""The settings of `/privacy` (memories in rooms, notes, and memory itself), and `/privacy import`:
memories from a file that a person sends with the command."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.message import Notice, OutboundFile, Reply
from gateway.people import Role
from gateway.ports.memory import Caller
from gateway.text import Text, counted, label, text, verbatim
from memory.commands import link_texts
from memory.commands.open_questions import ASKED_ELSEWHERE, OpenQuestion, Questions
from memory.model.scope import channel_of
from memory.service.handle import MemoryHandle
from memory.service.links import side_of
from memory.service.people import People
from memory.text.display import bullets, paragraphs
from memory.transfer.importer import LineOutcome, LineReport, bring_in

ROOMS: Final = {
    True: text(
        "In channels and groups I now also use what I know about you from elsewhere. "
        "Everybody there can read my answers."
    ),
    False: text("In channels and groups I no longer use what I know about you from elsewhere."),
}
NOTES: Final = {
    True: text("Below my answers I now tell you what I noted on my own."),
    False: text(
        "Below my answers I no longer tell you what I noted on my own. `/memories` still shows it; "
        "`/undo` deletes the latest."
    ),
}
MEMORY: Final = {
    True: text(
        "Memory is on for you again. If it is off in one conversation, write "
        "`/privacy memory on here` in it."
    ),
    False: text(
        "Memory is off for you. From now on I recall nothing and store nothing that you write: I "
        "answer each message on its own. I keep what I stored before, but do not use it; `/forget` "
        "or `/privacy erase` deletes it. `/privacy memory on` turns memory on again."
    ),
}
HERE: Final = {
    True: text("Memory is on for you again in this conversation."),
    False: text(
        "Memory is off for you in this conversation. From now on I recall nothing and store "
        "nothing that you write here: I answer each message on its own. `/privacy memory on here` "
        "turns it on again."
    ),
}
STILL_OFF: Final = text("Memory is still off everywhere: `/privacy memory on` turns it on.")


async def chosen(
    people: People, caller: Caller, what: str, rest: str, *, off_everywhere: bool
) -> Reply | None:
    """Change a setting and return the answer; None for other words after `/privacy`.
    `off_everywhere`: memory is off for this person in all conversations. Raises `BadInput` for an
    invalid setting, and `StoreUnavailable`."""
    choice, _, where = rest.partition(" ")
    if choice not in ("on", "off") or where not in ("", "here"):
        return None
    on = choice == "on"
    if what == "memory" and where:
        await people.turn_memory_here(caller, on)
        return Reply(STILL_OFF if on and off_everywhere else HERE[on])
    if where:
        return None
    match what:
        case "memory":
            await people.turn_memory(caller.principal, on)
            return Reply(MEMORY[on])
        case "notes":
            await people.show_notes(caller.principal, on)
            return Reply(NOTES[on])
        case "rooms":
            await people.show_private(caller.principal, on)
            return Reply(ROOMS[on])
    return None


MAX_ENTRIES: Final = 500
"""Entries of a file that is sent in a chat or over HTTP."""
NAMED: Final = 3
NO_FILE: Final = text(
    "Send the file that `/privacy export` gave you, and write `/privacy import` as its text. If "
    "the platform does not send a text that begins with `/`, mention me first: "
    "`@… /privacy import`."
)
UNREAD: Final = text("I did not import this file: {problem}.")
NOTHING_IN: Final = text("This file holds no memories, so nothing was imported.")
LINE_OUTCOMES: Final = {
    LineOutcome.STORED: counted("{count} imported", "{count} imported"),
    LineOutcome.KNOWN: counted("{count} stored already", "{count} stored already"),
    LineOutcome.WAITING: counted(
        "{count} waiting for your decision: `/memories review`",
        "{count} waiting for your decision: `/memories review`",
    ),
    LineOutcome.REFUSED: counted("{count} refused", "{count} refused"),
    LineOutcome.UNREADABLE: counted("{count} not readable", "{count} not readable"),
    LineOutcome.LEFT: counted(
        "{count} not imported (not a memory)", "{count} not imported (not a memory)"
    ),
}
ENTRIES: Final = counted("The file has {count} entry:", "The file has {count} entries:")
NOT_IMPORTED: Final = text("Not imported:")
LINE: Final = text("Line {line}: {reason}")
ALL_LISTED: Final = text("The file `{file}` lists all {count}.")
REPORT: Final = "import-report.txt"


async def imported(handle: MemoryHandle, caller: Caller, *, turns: bool) -> Reply:
    """Import the file of the command and return the outcome. Raises `BadInput` with words for the
    person."""
    if not caller.files:
        raise BadInput(NO_FILE)
    (file, *_) = caller.files
    if file.data is None:
        raise BadInput(UNREAD.of(problem=_said(file.problem)))
    try:
        reports = [one async for one in taken_in(handle, file.data, turns=turns)]
    except BadInput as error:
        raise BadInput(UNREAD.of(problem=_said(error.text))) from None
    return Reply(summary(reports), files=report(reports))


def taken_in(handle: MemoryHandle, data: bytes, *, turns: bool) -> AsyncIterator[LineReport]:
    """Import the entries of a small unencrypted file. Raises `BadInput`, also after too many
    imports."""
    handle.write.count_import()
    return bring_in(handle, data, turns=turns, most=MAX_ENTRIES)


def _said(problem: Text | str) -> Text:
    return verbatim(problem) if isinstance(problem, str) else problem


def summary(reports: Sequence[LineReport]) -> Text:
    """Return the number of entries by outcome, and the first reasons of failures."""
    if not reports:
        return NOTHING_IN
    counts = Counter(one.outcome for one in reports)
    lines = [
        outcome_line.of(count=counts[outcome])
        for outcome, outcome_line in LINE_OUTCOMES.items()
        if counts[outcome]
    ]
    failed = [
        one for one in reports if one.outcome in (LineOutcome.REFUSED, LineOutcome.UNREADABLE)
    ]
    why = [LINE.of(line=one.line, reason=one.reason) for one in failed[:NAMED]]
    parts: list[Text] = [ENTRIES.of(count=len(reports)), bullets(lines)]
    if why:
        parts += [NOT_IMPORTED, bullets(why)]
    if len(failed) > NAMED:
        parts.append(ALL_LISTED.of(file=verbatim(REPORT), count=len(failed)))
    return paragraphs(*parts)


def report(reports: Sequence[LineReport]) -> tuple[OutboundFile, ...]:
    """Return the outcome of each entry as a file; none if the answer already says everything."""
    if not any(one.reason for one in reports):
        return ()
    lines = [f"line {one.line}: {one.outcome.value}" + f": {one.reason.english}" * bool(one.reason)
             for one in reports]  # fmt: skip
    return (OutboundFile(REPORT, "text/plain", "\n".join(lines).encode() + b"\n"),)


YES: Final = label("Erase everything")


class Erased(Struct, frozen=True):
    """The number of deleted entries, and the answer to the person."""

    entries: int
    reply: Reply


async def has_approval(handle: MemoryHandle) -> bool:
    """Return True if an approval of this account is among what is stored. Raises
    `StoreUnavailable`."""
    return dict(await handle.privacy.counts()).get("admissions", 0) > 0


class Erasure(Struct, frozen=True):
    """Erases without a further question."""

    questions: Questions

    async def run(self, handle: MemoryHandle, caller: Caller) -> Erased:
        """Erase this identity; the notices of the answer ask its linked identities if theirs shall
        be erased too. Raises `StoreUnavailable`."""
        approved = await has_approval(handle)
        gone, others = await handle.erasure.erase_all(caller.id)
        told = link_texts.erased_elsewhere(side_of(caller))
        notices = []
        for number, other in enumerate(one.side for one in others):
            if other.place is None:
                continue
            question = OpenQuestion("erase", other.person, channel=channel_of(other.place))
            id_ = f"{caller.id}-{number}"
            buttons = await self.questions.ask(id_, question, YES, ASKED_ELSEWHERE)
            until = caller.at + ASKED_ELSEWHERE
            notices.append(Notice(other.person, other.place, told, buttons, until))
        operated = caller.principal.role.at_least(Role.OPERATOR)
        said = link_texts.erased(gone, operated=operated, approved=approved)
        reply = Reply(said, notices=tuple(notices), forgets=True)
        return Erased(gone, reply)
