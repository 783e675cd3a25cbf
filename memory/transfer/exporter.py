"""Exports a person's own memories: JSON lines or Parquet, encrypted or not."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal, cast

from msgspec import Struct

from gateway.errors import UsageError
from memory.model.record import Record
from memory.service.handle import MemoryHandle
from memory.stores.conflicts import KeptPair
from memory.transfer.encryption import Sealer
from memory.transfer.line_format import (
    MEMORIES,
    PROOF,
    as_line,
    header_of,
    line_of,
    pair_line_of,
    proof_of,
)
from memory.transfer.parquet import ParquetWriter

Form = Literal["jsonl", "parquet"]


class ExportOptions(Struct, frozen=True):
    """The options of an export; with a `key` the file is encrypted."""

    target: Path
    form: Form = "jsonl"
    key: str = ""
    embeddings: bool = False
    overwrite: bool = False


class _LinesWriter:
    def __init__(
        self,
        handle: MemoryHandle,
        target: BinaryIO,
        header: dict[str, object],
        *,
        embeddings: bool,
    ) -> None:
        self._handle = handle
        self._target = target
        self._embeddings = embeddings
        target.write(as_line(header))

    def add(self, record: Record) -> None:
        self._target.write(as_line(signed_line(self._handle, record, self._embeddings)))

    def add_pair(self, pair: KeptPair) -> None:
        self._target.write(as_line(pair_line_of(pair)))


async def export(handle: MemoryHandle, options: ExportOptions) -> int:
    """Write the file, oldest memory first, and after the memories the pairs that may contradict
    each other; return how many memories are in it. A Parquet file has memories only.

    Raises `BadInput` when it cannot be written, `StoreUnavailable` when memory cannot be read.
    """
    count = 0
    with ExitStack() as stack:
        file = stack.enter_context(written(options.target, overwrite=options.overwrite))
        if options.key:
            file = cast("BinaryIO", stack.enter_context(Sealer(file, options.key)))
        writer = _writer(stack, handle, file, options)
        async for record in handle.read.everything():
            writer.add(record)
            count += 1
        if isinstance(writer, _LinesWriter):
            for pair in await handle.contradictions.every():
                writer.add_pair(pair)
        await handle.read.note_export(count)
    return count


async def personal_file(handle: MemoryHandle) -> tuple[bytes, int]:
    """Everything that any store holds of the person, as JSON lines under a header: their memories
    as `export` writes them, everything else by its table; and how many entries these are."""
    rows = await handle.privacy.export_all()
    lines = [header_of(handle)]
    exported = set()
    async for record in handle.read.everything():
        exported.add(record.id)
        lines.append({"table": MEMORIES} | signed_line(handle, record))
    for row in rows:
        if row.get("table") == MEMORIES and row.get("id") in exported:
            continue
        lines.append(row)
    data = await asyncio.to_thread(lambda: b"".join(map(as_line, lines)))
    return data, len(lines) - 1


def signed_line(handle: MemoryHandle, record: Record, embedding: bool = False) -> dict[str, object]:
    """A memory as a line, with its signature where this program has a key."""
    line = line_of(record, embedding=embedding)
    proof = proof_of(handle, line)
    return line | {PROOF: proof} if proof else line


def _writer(
    stack: ExitStack, handle: MemoryHandle, file: BinaryIO, options: ExportOptions
) -> "_LinesWriter | ParquetWriter":
    header = header_of(handle)
    if options.form == "parquet":

        def sign(record: Record) -> str:
            return proof_of(handle, line_of(record))

        return stack.enter_context(ParquetWriter(file, header, sign, embeddings=options.embeddings))
    return _LinesWriter(handle, file, header, embeddings=options.embeddings)


@contextmanager
def written(target: Path, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file to write into; it takes its name, mode 0600, once everything is on the disk.

    Raises `BadInput` when `target` exists and `overwrite` is not set, or when it cannot be written;
    no file remains then.
    """
    refuse_existing(target, overwrite)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        refuse_existing(target, overwrite)
        part.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def refuse_existing(target: Path, overwrite: bool) -> None:
    """Raise `BadInput` where there is such a file and it is not to be replaced."""
    if target.exists() and not overwrite:
        raise UsageError(f"{target} exists already; --force replaces it")
