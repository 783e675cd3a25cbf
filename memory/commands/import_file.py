"""`/privacy import`: memories from a file that a person sends with the command."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final

from gateway.errors import BadInput
from gateway.message import OutboundFile, Reply
from gateway.ports.memory import Caller
from memory.service.handle import MemoryHandle
from memory.transfer.importer import LineOutcome, LineReport, bring_in

MAX_ENTRIES: Final = 500
"""Entries of a file that is sent in a chat or over HTTP."""
NAMED: Final = 3
NO_FILE: Final = (
    "Send the file that `/privacy export` gave you, and write `/privacy import` as its text. Where "
    "the platform takes `/` for itself, mention me before it: `@… /privacy import`."
)
UNREAD: Final = "I cannot read this file: {problem}."
NOTHING_IN: Final = "This file holds no memories, so nothing was imported."
LINE_OUTCOMES: Final = {
    LineOutcome.STORED: "imported",
    LineOutcome.KNOWN: "stored already",
    LineOutcome.WAITING: "waiting for your decision: `/memories review`",
    LineOutcome.REFUSED: "refused",
    LineOutcome.UNREADABLE: "not readable",
    LineOutcome.LEFT: "not imported (not a memory)",
}
REPORT: Final = "import-report.txt"


async def imported(handle: MemoryHandle, caller: Caller, *, turns: bool) -> Reply:
    """Import the file of the command and return the outcome. Raises `BadInput` with words for the
    person."""
    if not caller.files:
        raise BadInput(NO_FILE)
    (file, *_) = caller.files
    if file.data is None:
        raise BadInput(UNREAD.format(problem=file.problem))
    try:
        reports = [one async for one in taken_in(handle, file.data, turns=turns)]
    except BadInput as error:
        raise BadInput(UNREAD.format(problem=str(error))) from None
    return Reply(summary(reports), files=report(reports))


def taken_in(handle: MemoryHandle, data: bytes, *, turns: bool) -> AsyncIterator[LineReport]:
    """Import the entries of a small unencrypted file. Raises `BadInput`, also after too many
    imports."""
    handle.write.count_import()
    return bring_in(handle, data, turns=turns, most=MAX_ENTRIES)


def summary(reports: Sequence[LineReport]) -> str:
    """Return the number of entries by outcome, and the first reasons of failures."""
    if not reports:
        return NOTHING_IN
    counts = Counter(one.fate for one in reports)
    lines = [f"- {counts[fate]} {text}" for fate, text in LINE_OUTCOMES.items() if counts[fate]]
    failed = [one for one in reports if one.fate in (LineOutcome.REFUSED, LineOutcome.UNREADABLE)]
    why = [f"- Line {one.line}: {one.reason}" for one in failed[:NAMED]]
    entries = "1 entry" if len(reports) == 1 else f"{len(reports)} entries"
    parts = [f"The file has {entries}:", "\n".join(lines)]
    if why:
        parts += ["Not imported:", "\n".join(why)]
    if len(failed) > NAMED:
        parts.append(f"The file `{REPORT}` lists all {len(failed)}.")
    return "\n\n".join(parts)


def report(reports: Sequence[LineReport]) -> tuple[OutboundFile, ...]:
    """Return the outcome of each entry as a file; none if the answer already says everything."""
    if not any(one.reason for one in reports):
        return ()
    lines = [f"line {one.line}: {one.fate.value}" + f": {one.reason}" * bool(one.reason)
             for one in reports]  # fmt: skip
    return (OutboundFile(REPORT, "text/plain", "\n".join(lines).encode() + b"\n"),)
