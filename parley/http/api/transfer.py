"""Export and import over HTTP."""

from typing import Annotated, Final, Literal

from pydantic import StringConstraints

from gateway.errors import BadInput
from gateway.ports.action import PROGRAMS, Effect, Input, Nothing, Output, action
from memory.commands.privacy import taken_in
from memory.transfer.exporter import personal_file
from memory.transfer.importer import LineReport
from parley.http.api.operations import ApiCall

MAX_FILE: Final = 1024 * 1024
MAX_IMPORT: Final = 2 * MAX_FILE
"""Bytes of the body: the file as a JSON string, where a quotation mark takes two."""


class ImportBody(Input):
    """The file of an export, unchanged."""

    file: Annotated[str, StringConstraints(min_length=1, max_length=MAX_FILE)]


class ExportOut(Output):
    """Everything that is stored about the person: a header and JSON lines."""

    file: str


class ImportedEntryOut(Output):
    """The outcome of an entry of an import. `line` counts from 1; the header is line 1. `id` is the
    id of the memory, or of its review."""

    line: int
    outcome: Literal["stored", "known", "waiting", "refused", "left", "unreadable"]
    reason: str
    id: str | None


class ImportOut(Output):
    """The outcome of each entry, in order."""

    entries: list[ImportedEntryOut]


@action("Export everything that is stored about you", by=PROGRAMS, effect=Effect.READS)
async def give_out(call: ApiCall, given: Nothing) -> ExportOut:
    """The same as `/privacy export`."""
    data, _ = await personal_file(call.handle)
    return ExportOut(file=data.decode())


@action("Import the memories of an export", by=PROGRAMS, effect=Effect.WRITES)
async def bring_in(call: ApiCall, given: ImportBody) -> ImportOut:
    """The same as `/privacy import`."""
    data = given.file.encode("utf-8", "replace")
    try:
        reports = [one async for one in taken_in(call.handle, data, turns=call.turns)]
    except BadInput as error:
        code = "no_export" if error.code == BadInput.code else error.code
        raise BadInput(str(error), code=code, where="body.file") from None
    return ImportOut(entries=[_entry(one) for one in reports])


def _entry(report: LineReport) -> ImportedEntryOut:
    return ImportedEntryOut(
        line=report.line, outcome=report.outcome.value, reason=report.reason, id=report.id or None
    )
