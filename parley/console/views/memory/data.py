"""The stored data of the viewer by kind, its export, and its erasure."""

import asyncio
from datetime import tzinfo
from typing import Final, Literal

from pydantic import Field

from gateway.languages.formats import zone_sign
from gateway.people import Role
from gateway.ports.action import Input, Output
from gateway.ports.rights import in_person, to_read
from gateway.text import (
    ENGLISH,
    NO_TEXT,
    Text,
    text,
)
from memory.actions.documents import PlanOut
from memory.commands.texts import kind_of_rows
from memory.model.record import Record
from memory.service.handle import MemoryHandle
from memory.text.display import quoted
from memory.transfer.exporter import personal_file
from parley.console.route import AnyRoute, ConsoleRoute, File, RefusedWithResult
from parley.console.said import Said
from parley.console.services import MEMORY_OFF, ConsoleServices
from parley.console.text import csv_text
from parley.console.viewer import Viewer
from parley.console.views.memory.accounts import deliver
from parley.console.views.memory.documents import PATH
from parley.console.views.memory.memories import plan_of
from parley.http.api.errors import CallRefused

DATA: Final = f"{PATH}/data"
MAX_KINDS: Final = 100
# Translators: the words that a person types to erase everything, in small letters.
PHRASE: Final = text("erase everything")
NOT_ERASED: Final = text("Nothing was erased. To erase, write: {phrase}", phrase=PHRASE)
CSV_COLUMNS: Final = (
    *("id", "kind", "role", "text", "tags", "scope", "project", "source", "trust", "place"),
    *("stored_at", "expires_at", "superseded_by"),
)


class DataQuery(Input):
    """The page has no parameters."""


class DataExportQuery(Input):
    """The form of the file: "jsonl" has everything and can be imported again; "md" and "csv" have
    preferences and memories to read."""

    form: Literal["jsonl", "md", "csv"] = "jsonl"


class EraseForm(Input):
    """`confirm` is the phrase that the page names."""

    confirm: str = Field(default="", max_length=50)


class KindOut(Output):
    """The number of stored entries of one kind; `name` is the table, `label` its content."""

    name: str
    label: Said
    count: int


class DataOut(Output):
    """The stored data about all linked accounts, by kind. `person` is the account that an erasure
    erases, `linked` are the others, which keep theirs. `erased` entries are gone after an erasure;
    `problem` is the reason of a refused one."""

    person: str
    linked: tuple[str, ...] = Field(default=(), max_length=10)
    kinds: tuple[KindOut, ...] = Field(default=(), max_length=MAX_KINDS)
    plan: PlanOut | None = None
    phrase: Said = PHRASE
    erased: int | None = None
    problem: Said = NO_TEXT


async def data(viewer: Viewer, services: ConsoleServices, _params: DataQuery) -> DataOut:
    """Return the kinds with their numbers."""
    return await _shown(viewer, await services.memory_of(viewer))


async def export(viewer: Viewer, services: ConsoleServices, params: DataExportQuery) -> File:
    """Return a file with what is stored about the viewer."""
    handle = await services.memory_of(viewer)
    zone = handle.request.zone
    name = f"parley-{handle.request.at.astimezone(zone):%Y-%m-%d}.{params.form}"
    if params.form == "jsonl":
        content, _ = await personal_file(handle)
        return File(
            name=name,
            content_type="application/jsonl; charset=utf-8",
            content=content.decode("utf-8", "replace"),
        )
    records = [one async for one in handle.read.own()]
    await handle.read.note_export(len(records))
    if params.form == "csv":
        text = await asyncio.to_thread(_as_csv, records, zone)
        return File(name=name, content_type="text/csv; charset=utf-8", content=text)
    soul = await handle.documents.read("soul")
    preferences = soul.content if soul else ""
    text = await asyncio.to_thread(_as_markdown, viewer, preferences, records, zone)
    return File(name=name, content_type="text/markdown; charset=utf-8", content=text)


async def erase(viewer: Viewer, services: ConsoleServices, params: EraseForm) -> DataOut:
    """Erase everything about the viewer's account, which also ends its sessions and tokens; the
    linked accounts are asked about theirs. Raises `RefusedWithResult` without the phrase, in the
    viewer's language or in English."""
    handle = await services.memory_of(viewer)
    language = await services.gateway.policies.languages.loaded(viewer.language)
    phrases = {one.shown(PHRASE).casefold() for one in (language, ENGLISH)}
    if " ".join(params.confirm.split()).casefold() not in phrases:
        page = await _shown(viewer, handle, NOT_ERASED)
        raise RefusedWithResult("not_confirmed", NOT_ERASED, "body.confirm", result=page)
    erasure = services.memory.erasure
    if erasure is None:
        raise CallRefused("memory_off", MEMORY_OFF)
    await services.check_sending()
    caller = await services.caller_at_home(viewer)
    done = await erasure.run(handle, caller)
    await deliver(services, caller.id, done.reply.notices)
    return DataOut(person=viewer.person, erased=done.entries)


async def _shown(viewer: Viewer, handle: MemoryHandle, problem: Text = NO_TEXT) -> DataOut:
    counts = await handle.privacy.counts()
    return DataOut(
        person=viewer.person,
        linked=tuple(sorted(viewer.persons - {viewer.person})),
        kinds=tuple(
            KindOut(name=name, label=kind_of_rows(name), count=count)
            for name, count in counts[:MAX_KINDS]
        ),
        plan=await plan_of(handle),
        problem=problem,
    )


def _as_csv(records: list[Record], zone: tzinfo) -> str:
    return csv_text(CSV_COLUMNS, (_row(one, zone) for one in records))


def _row(record: Record, zone: tzinfo) -> list[object]:
    provenance = record.provenance
    return [
        *(record.id, record.kind.value, record.role, record.content, " ".join(record.tags)),
        *(record.scope.value, record.project, provenance.source.value, provenance.trust.value),
        provenance.channel,
        provenance.at.astimezone(zone).isoformat(timespec="seconds"),
        record.expires_at.astimezone(zone).isoformat(timespec="seconds")
        if record.expires_at
        else "",
        record.superseded_by,
    ]


def _as_markdown(viewer: Viewer, soul: str, records: list[Record], zone: tzinfo) -> str:
    parts = [f"# What the assistant remembers of `{viewer.person.replace('`', '')}`"]
    parts.append(f"Times are those of the time zone {zone}.")
    if soul.strip():
        parts += ["## Preferences", quoted(soul)]
    learned = [one for one in records if not one.role and one.current]
    for kind in dict.fromkeys(one.kind for one in learned):
        parts.append(f"## {kind.value.capitalize()}")
        parts += [_entry(one, zone) for one in learned if one.kind is kind]
    replaced = [one for one in records if not one.role and not one.current]
    said = [one for one in records if one.role]
    for title, group in (("Replaced memories", replaced), ("Stored messages", said)):
        if group:
            parts += [f"## {title}", *(_entry(one, zone) for one in group)]
    return "\n\n".join(parts) + "\n"


def _entry(record: Record, zone: tzinfo) -> str:
    provenance = record.provenance
    at = provenance.at.astimezone(zone)
    origin = record.role or provenance.source.value.replace("_", " ")
    written = f"{at:%Y-%m-%d %H:%M} {zone_sign(at)}"
    return f"{quoted(record.content)}\n\n_{written}, {origin}, `{record.id}`_"


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="personal_data",
        method="GET",
        path=DATA,
        allowed=to_read(Role.GUEST),
        summary=text("What is stored about you, with export and erasure"),
        run=data,
        template="memory/data.html",
        palette=text("Export and erase"),
    ),
    ConsoleRoute(
        name="export_personal_data",
        method="GET",
        path=f"{PATH}/export",
        allowed=to_read(Role.GUEST),
        summary="A file with everything that is stored about you",
        run=export,
        example={"form": "csv"},
    ),
    ConsoleRoute(
        name="erase_personal_data",
        method="POST",
        path=f"{DATA}/erase",
        allowed=in_person(Role.GUEST),
        summary="Erase everything about your account",
        run=erase,
        template="memory/data.html",
        example={"confirm": "no"},
    ),
)
