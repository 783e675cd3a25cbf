"""Writes what is a person's own into a file: JSON lines or Parquet, sealed or not."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, cast

from memory.handle import MemoryHandle
from memory.record import Record
from memory.transfer.files import written
from memory.transfer.lines import as_line, header_of, line_of
from memory.transfer.parquet import ParquetWriter
from memory.transfer.sealing import Sealer

Form = Literal["jsonl", "parquet"]


@dataclass(frozen=True, slots=True)
class ExportWish:
    """What is wanted. With a `key` the file is sealed."""

    target: Path
    form: Form = "jsonl"
    key: str = ""
    embeddings: bool = False
    overwrite: bool = False


class _Writer(Protocol):
    def add(self, record: Record) -> None: ...


class _LinesWriter:
    def __init__(self, target: BinaryIO, header: dict[str, object], *, embeddings: bool) -> None:
        self._target = target
        self._embeddings = embeddings
        target.write(as_line(header))

    def add(self, record: Record) -> None:
        self._target.write(as_line(line_of(record, embedding=self._embeddings)))


async def export(handle: MemoryHandle, wish: ExportWish) -> int:
    """Write the file, oldest memory first; how many are in it.

    Raises `BadInput` when it cannot be written, `StoreUnavailable` when memory cannot be read.
    """
    count = 0
    with ExitStack() as stack:
        file = stack.enter_context(written(wish.target, overwrite=wish.overwrite))
        if wish.key:
            file = cast("BinaryIO", stack.enter_context(Sealer(file, wish.key)))
        writer = _writer(stack, file, wish, header_of(handle.reach.person, handle.occasion.at))
        async for record in handle.everything():
            writer.add(record)
            count += 1
        await handle.note_export(count)
    return count


def _writer(
    stack: ExitStack, file: BinaryIO, wish: ExportWish, header: dict[str, object]
) -> _Writer:
    if wish.form == "parquet":
        return stack.enter_context(ParquetWriter(file, header, embeddings=wish.embeddings))
    return _LinesWriter(file, header, embeddings=wish.embeddings)
