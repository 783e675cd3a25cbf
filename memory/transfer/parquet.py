"""An export as a Parquet file. `pyarrow` (extra `parquet`) is loaded here, when it is asked for."""

import json
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from gateway.errors import LibraryMissing, UsageError
from memory.model.record import Record
from memory.stores.rows import SHAPES
from memory.transfer.line_format import CREATED, MAX_LINES, fields_of

MAGIC: Final = b"PAR1"
HEADER: Final = b"parley"
"""Under this key the file's metadata holds the header line."""
GROUP: Final = 1_000
"""Records of a row group, and thus the number in memory at a time."""
MAX_BYTES: Final = 256 * 1024 * 1024
"""Maximum bytes of a file to import: its end contains the index, so all of it must be in memory."""


class ParquetWriter:
    """Writes records in groups; a context manager."""

    def __init__(
        self,
        target: BinaryIO,
        header: Mapping[str, object],
        sign: Callable[[Record], str],
        *,
        embeddings: bool = False,
    ) -> None:
        """`sign` gives the signature of a record, empty for none."""
        self._sign = sign
        self._arrow, parquet = _loaded()
        self._schema = _schema(self._arrow, embeddings).with_metadata(
            {HEADER: json.dumps(header, ensure_ascii=False)}
        )
        self._embeddings = embeddings
        self._writer = parquet.ParquetWriter(target, self._schema, compression="zstd")
        self._rows: list[dict[str, object]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._flush()
        self._writer.close()

    def add(self, record: Record) -> None:
        """One more row."""
        row = fields_of(record)
        row["proof"] = self._sign(record) or None
        if self._embeddings:
            vector = record.embedding
            row["embedding_model"] = vector.model if vector else None
            row["embedding"] = list(vector.vector) if vector else None
        self._rows.append(row)
        if len(self._rows) >= GROUP:
            self._flush()

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._writer.write_table(self._arrow.Table.from_pylist(rows, schema=self._schema))


def read_parquet(source: BinaryIO) -> Iterator[bytes | Mapping[str, object]]:
    """The header as JSON, and then the rows. Raises `BadInput` for what is no such file."""
    arrow, parquet = _loaded()
    try:
        file = parquet.ParquetFile(source)
        if file.metadata.num_rows > MAX_LINES:
            raise UsageError(f"the file has {file.metadata.num_rows:,} rows; at most {MAX_LINES:,}")
        names = [name for name in file.schema_arrow.names if not name.startswith("embedding")]
        yield bytes((file.schema_arrow.metadata or {}).get(HEADER, b""))
        for batch in file.iter_batches(batch_size=GROUP, columns=names):
            for row in batch.to_pylist():
                # Null means that a row has no such value.
                yield {name: value for name, value in row.items() if value is not None}
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"the Parquet file cannot be read: {str(error)[:200]}") from error


def _schema(arrow: Any, embeddings: bool) -> Any:
    types = {
        "text": arrow.string(),
        "time": arrow.timestamp("us", tz="UTC"),
        "flag": arrow.bool_(),
        "number": arrow.float64(),
        "list": arrow.list_(arrow.string()),
    }
    fields = [
        arrow.field(CREATED if name == "at" else name, types[shape])
        for name, shape in SHAPES.items()
    ]
    fields.append(arrow.field("proof", arrow.string()))
    if embeddings:
        fields += [
            arrow.field("embedding_model", arrow.string()),
            arrow.field("embedding", arrow.list_(arrow.float32())),
        ]
    return arrow.schema(fields)


def _loaded() -> tuple[Any, Any]:
    try:
        import pyarrow  # type: ignore[import-untyped] # noqa: PLC0415 - 160 MB, for those who ask
        import pyarrow.parquet  # type: ignore[import-untyped] # noqa: PLC0415 - loaded only where it is needed
    except ImportError:
        raise LibraryMissing("Parquet", ("pyarrow",), "parquet") from None
    return pyarrow, pyarrow.parquet
