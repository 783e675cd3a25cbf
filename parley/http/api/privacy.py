"""Privacy choices, export and import over HTTP."""

from typing import Final

from gateway.errors import BadInput
from gateway.ports.rights import TOKEN_READS, TOKEN_WRITES
from memory.commands.privacy import taken_in
from memory.service.handle import MemoryHandle
from memory.transfer.exporter import personal_file
from memory.transfer.importer import LineReport
from parley.http.api.errors import Refused
from parley.http.api.models import (
    MAX_FILE,
    ChoicesBody,
    ChoicesOut,
    EntryOut,
    ExportOut,
    ImportBody,
    ImportOut,
    Nothing,
    Plain,
)
from parley.http.api.operations import Answer, AnyOperation, Call, Operation

PATH = "/brain/choices"


def choice_operations() -> tuple[AnyOperation, ...]:
    """Return the operations on settings."""
    return (
        Operation(
            "GET",
            PATH,
            "choices",
            "Read your memory settings",
            TOKEN_READS,
            read,
            Plain,
            Nothing,
            {200: (ChoicesOut, "The settings.")},
            {404: "You do not belong to this project."},
        ),
        Operation(
            "PUT",
            PATH,
            "choose",
            "Change your memory settings; omitted ones stay unchanged",
            TOKEN_WRITES,
            choose,
            Plain,
            ChoicesBody,
            {200: (ChoicesOut, "The changed settings.")},
            {404: "You do not belong to this project."},
        ),
    )


async def read(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return the settings."""
    return Answer(200, _choices_after(call.handle, ChoicesBody()))


async def choose(call: Call, _query: Plain, body: ChoicesBody) -> Answer:
    """Change the given settings, for all linked accounts."""
    await call.handle.privacy.choose(memory=body.memory, notes=body.notes, rooms=body.rooms)
    return Answer(200, _choices_after(call.handle, body))


def _choices_after(handle: MemoryHandle, made: ChoicesBody) -> ChoicesOut:
    """Return the settings of the handle with the changes of this request."""
    chosen = handle.choices
    return ChoicesOut(
        memory=not chosen.memory_off if made.memory is None else made.memory,
        notes=chosen.notes if made.notes is None else made.notes,
        rooms=chosen.shows_private if made.rooms is None else made.rooms,
    )


MAX_IMPORT: Final = 2 * MAX_FILE
"""Bytes of the body: the file as a JSON string, where a quotation mark takes two."""
_MISSING: Final = {404: "You do not belong to this project."}


def transfer_operations() -> tuple[AnyOperation, ...]:
    """Return the operations for export and import."""
    return (
        Operation(
            "GET",
            "/brain/export",
            "export",
            "Export everything that is stored about you",
            TOKEN_READS,
            give_out,
            Plain,
            Nothing,
            {200: (ExportOut, "The file.")},
            _MISSING,
        ),
        Operation(
            "POST",
            "/brain/import",
            "import",
            "Import the memories of an export",
            TOKEN_WRITES,
            bring_in,
            Plain,
            ImportBody,
            {200: (ImportOut, "The outcome of each entry.")},
            {**_MISSING, 422: "The file is not an export, or has more than 500 entries."},
            MAX_IMPORT,
        ),
    )


async def give_out(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """The same as `/privacy export`."""
    data, _ = await personal_file(call.handle)
    return Answer(200, ExportOut(file=data.decode()))


async def bring_in(call: Call, _query: Plain, body: ImportBody) -> Answer:
    """The same as `/privacy import`."""
    data = body.file.encode("utf-8", "replace")
    try:
        reports = [one async for one in taken_in(call.handle, data, turns=call.turns)]
    except BadInput as error:
        raise Refused(422, "no_export", str(error), "body.file") from None
    return Answer(200, ImportOut(entries=[_entry(one) for one in reports]))


def _entry(report: LineReport) -> EntryOut:
    return EntryOut(
        line=report.line, outcome=report.outcome.value, reason=report.reason, id=report.id or None
    )
