"""Imports an export line by line, through the write path."""

import asyncio
import io
import uuid
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec import Struct

from gateway.errors import BadInput, UsageError
from gateway.text import NO_TEXT, Text, joined, text, verbatim
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import ID_PREFIX, Draft, Kind, Scope, SourceType
from memory.service.handle import MemoryHandle
from memory.stores.conflicts import KeptPair, Pair
from memory.transfer.encryption import MAGIC as SEALED
from memory.transfer.encryption import Opener, is_sealed
from memory.transfer.line_format import (
    MAX_LINE,
    MAX_LINES,
    Elsewhere,
    Header,
    ImportLine,
    PairLine,
    Read,
    Unreadable,
    header_from,
    is_proven,
    line_from,
    proven_of,
)
from memory.transfer.parquet import MAGIC as PARQUET
from memory.transfer.parquet import MAX_BYTES, read_parquet
from memory.write.imports import ImportedHistory, ProvenHistory

BROUGHT_IN: Final = uuid.UUID("0b8f2c0e-6a55-4c1c-9a77-2f7a4f9a1f5e")
"""The namespace of ids for imported memories of others, or without an id."""
AHEAD: Final = timedelta(days=1)
"""The tolerated difference to another machine's clock."""
MAX_WAITING: Final = 100
NOT_OWN: Final = text(
    "it belongs to a project or to everybody: only a person's own memories are imported"
)
TOO_OLD: Final = text("it has expired")
AHEAD_OF_US: Final = text("created_at is in the future")
REPLACED: Final = text("a newer memory replaced it, and nothing proves that it was yours")
TAKEN: Final = text("its id belongs to another memory")
NO_MEMORY: Final = text("{table}: only memories are imported")
ONLY_LINES: Final = text(
    "a Parquet file can be imported only at the terminal; export JSON lines instead"
)
NO_PAIR: Final = text(
    "its two memories are not both yours and stored here, or too many pairs wait for your decision"
)
STORED_ALREADY: Final = text("it is stored already")
WAITS_ALREADY: Final = text("it already waits for a decision")
NO_TURNS: Final = text("conversations are not stored here (memory.episodic is off)")
TOO_LONG: Final = text("it is longer than {most} bytes")
TOO_MANY: Final = text("the file has more than {most} entries")
ENCRYPTED: Final = text("the file is encrypted: its key is needed")
NOT_PROVEN: Final = text("Nothing proves its origin, so it has low trust.")


class LineOutcome(StrEnum):
    """The outcome of a line."""

    STORED = "stored"
    KNOWN = "known"
    WAITING = "waiting"
    REFUSED = "refused"
    LEFT = "left"
    UNREADABLE = "unreadable"


class LineReport(Struct, frozen=True):
    """`line` counts from 1, the header being the first. `id` is the memory's, or the review's."""

    line: int
    outcome: LineOutcome
    reason: Text = NO_TEXT
    id: str = ""


Numbered = tuple[int, Read]
"""A line with its number."""
Source = Callable[[], "io.BufferedReader[Any]"]
"""Opens the file, which is read twice."""


def needs_key(file: Path) -> bool:
    """True if the file is encrypted. Raises `BadInput` if it cannot be read."""
    with _opened(file) as source:
        return is_sealed(source.read(len(SEALED)))


async def bring_in(
    handle: MemoryHandle,
    file: Path | bytes,
    key: str = "",
    *,
    turns: bool = True,
    most: int = MAX_LINES,
) -> AsyncIterator[LineReport]:
    """Import all lines of a file or of its bytes; yield the outcome of each line, in order.

    Without `turns`, turns of conversations are not imported (`memory.episodic` is off). Raises
    `BadInput`, before any line is stored, for a file that cannot be read to its end, or has more
    than `most` lines; and for bytes in Parquet, because a few of them can decompress to gigabytes.
    """
    source = _source(file)
    header = await asyncio.to_thread(_looked_through, source, key, most)
    waiting = {pending.record.id for pending in await handle.review.waiting(MAX_WAITING)}
    lines = stored = 0
    with ExitStack() as stack:
        _, entries = _contents(stack, source, key)
        one = _One(handle, header, waiting, turns)
        for number, entry in entries:
            report = await one.bring_in(number, entry)
            lines, stored = lines + 1, stored + (report.outcome is LineOutcome.STORED)
            yield report
    await handle.write.note_import(lines, stored)


@dataclass(slots=True)
class _One:
    """Imports the lines one by one."""

    handle: MemoryHandle
    header: Header
    waiting: set[str]
    turns: bool

    async def bring_in(self, number: int, entry: Read) -> LineReport:
        if isinstance(entry, Unreadable):
            return LineReport(number, LineOutcome.UNREADABLE, entry.reason)
        if isinstance(entry, PairLine):
            return await self._pair(number, entry)
        if isinstance(entry, Elsewhere):
            return LineReport(number, LineOutcome.LEFT, NO_MEMORY.of(table=verbatim(entry.table)))
        memory_id = self._id(entry.line)
        signed = is_proven(self.handle, entry.values)
        own = signed and entry.values.get("person") in self.handle.access.persons
        problem = self._problem(entry.line, own=own)
        if problem:
            return LineReport(number, LineOutcome.REFUSED, problem)
        if await self.handle.read.get(memory_id) is not None:
            return LineReport(number, LineOutcome.KNOWN, STORED_ALREADY, memory_id)
        if memory_id in self.waiting:
            return LineReport(number, LineOutcome.WAITING, WAITS_ALREADY, memory_id)
        proven = proven_of(entry.values) if own else None
        return await self._write(number, entry.line, memory_id, proven, others=signed and not own)

    def _problem(self, entry: ImportLine, *, own: bool) -> Text:
        now = self.handle.request.at
        if entry.scope != "user":
            return NOT_OWN
        if entry.role and not self.turns:
            return NO_TURNS
        if entry.created_at is not None and entry.created_at > now + AHEAD:
            return AHEAD_OF_US
        if entry.expires_at is not None and entry.expires_at <= now:
            return TOO_OLD
        return REPLACED if entry.superseded_by and not own else NO_TEXT

    async def _write(
        self,
        number: int,
        line: ImportLine,
        memory_id: str,
        proven: ProvenHistory | None,
        *,
        others: bool,
    ) -> LineReport:
        handle = self.handle
        past = ImportedHistory(
            memory_id,
            line.created_at or handle.request.at,
            line.expires_at,
            self._mapped(line.superseded_by),
            line.superseded_at,
            proven,
        )
        if line.role:
            result = await handle.write.import_turn(line.role, line.content, past, others=others)
        else:
            draft = await self._draft(line, memory_id, proven=proven is not None)
            result = await handle.write.import_memory(draft, past, others=others)
        return await self._report(number, memory_id, past, result)

    async def _report(
        self, number: int, memory_id: str, past: ImportedHistory, result: WriteResult
    ) -> LineReport:
        match result.outcome:
            case Outcome.STORED if await self.handle.read.get(memory_id) is None:
                aged = past.at < self.handle.request.at - timedelta(days=1)
                return LineReport(number, LineOutcome.REFUSED, TOO_OLD if aged else TAKEN)
            case Outcome.STORED:
                self.waiting.discard(memory_id)
                notices = joined((*result.notices, *((NOT_PROVEN,) * (past.proven is None))), " ")
                return LineReport(number, LineOutcome.STORED, notices, memory_id)
            case Outcome.REVIEW:
                self.waiting.add(memory_id)
                return LineReport(number, LineOutcome.WAITING, result.reason, result.review_id)
            case Outcome.BLOCKED if result.code == "duplicate":
                return LineReport(number, LineOutcome.KNOWN, result.reason)
            case _:
                return LineReport(number, LineOutcome.REFUSED, result.reason)

    async def _pair(self, number: int, line: PairLine) -> LineReport:
        pair = Pair(self._mapped(line.older), self._mapped(line.newer))
        kept = KeptPair(pair, line.noticed_at, line.asked_at, line.settled_at)
        stored = await self.handle.contradictions.bring_in(kept)
        if stored is None:
            return LineReport(number, LineOutcome.KNOWN, STORED_ALREADY)
        if stored:
            return LineReport(number, LineOutcome.STORED)
        return LineReport(number, LineOutcome.REFUSED, NO_PAIR)

    async def _draft(self, entry: ImportLine, memory_id: str, *, proven: bool) -> Draft:
        replaced = self._mapped(entry.supersedes)
        older = await self.handle.read.get(replaced) if replaced else None
        free = older is not None and older.superseded_by in ("", memory_id)
        if older is not None and not proven:
            free = free and older.provenance.source is SourceType.IMPORT
        return Draft(
            entry.content,
            Kind(entry.kind),
            tuple(entry.tags),
            Scope.USER,
            replaced if free else "",
            true_from=entry.true_from,
            true_until=entry.true_until,
        )

    def _id(self, entry: ImportLine) -> str:
        name = f"{entry.kind}\x1f{entry.created_at}\x1f{entry.content}"
        return self._mapped(entry.id) or self._made(name)

    def _mapped(self, memory_id: str) -> str:
        """Return the memory's own id if it was this person's; else a derived one that is always the
        same."""
        if not memory_id:
            return ""
        own = self.header.person in self.handle.access.persons
        return memory_id if own and _is_id(memory_id) else self._made(memory_id)

    def _made(self, name: str) -> str:
        access = self.handle.access
        text = f"{access.tenant}\x1f{access.person}\x1f{name}".encode("utf-8", "replace").decode()
        return f"{ID_PREFIX}{uuid.uuid5(BROUGHT_IN, text)}"


def _is_id(text: str) -> bool:
    try:
        return text == f"{ID_PREFIX}{uuid.UUID(text.removeprefix(ID_PREFIX))}"
    except ValueError:
        return False


def _source(file: Path | bytes) -> Source:
    if isinstance(file, bytes):
        if file.startswith(PARQUET):
            raise BadInput(ONLY_LINES)
        return lambda: io.BufferedReader(io.BytesIO(file))
    return lambda: io.BufferedReader(_opened(file))


def _looked_through(file: Source, key: str, most: int) -> Header:
    with ExitStack() as stack:
        header, entries = _contents(stack, file, key)
        for count, _ in enumerate(entries, 1):
            if count > most:
                raise BadInput(TOO_MANY.of(most=most))
        return header


def _contents(stack: ExitStack, file: Source, key: str) -> tuple[Header, Iterator[Numbered]]:
    source: io.BufferedReader[Any] = stack.enter_context(file())
    if is_sealed(source.peek(len(SEALED))):
        if not key:
            raise BadInput(ENCRYPTED)
        source = stack.enter_context(io.BufferedReader(Opener(source, key)))
    if source.peek(len(PARQUET)).startswith(PARQUET):
        return _rows(source)
    return header_from(source.readline(MAX_LINE).removeprefix(BOM_UTF8)), _lines(source)


def _rows(source: BinaryIO) -> tuple[Header, Iterator[Numbered]]:
    whole = source.read(MAX_BYTES + 1)
    if len(whole) > MAX_BYTES:
        raise UsageError(f"a Parquet file has at most {MAX_BYTES:,} bytes; export as JSON lines")
    rows = read_parquet(io.BytesIO(whole))
    header = header_from(next(rows, b""))
    return header, ((number, line_from(row)) for number, row in enumerate(rows, 2))


def _lines(source: BinaryIO) -> Iterator[Numbered]:
    number = 1
    while line := source.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = source.readline(MAX_LINE)
            yield number, Unreadable(TOO_LONG.of(most=MAX_LINE))
        elif line.strip():
            yield number, line_from(line)


def _opened(file: Path) -> io.FileIO:
    try:
        return io.FileIO(file, "r")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
