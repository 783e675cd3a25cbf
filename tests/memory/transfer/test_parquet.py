"""Parquet without its optional package."""

import io
import sys

import pytest

from gateway.errors import LibraryMissing
from memory.transfer.parquet import ParquetWriter


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(LibraryMissing, match="needs the library pyarrow, which is") as refused:
        ParquetWriter(io.BytesIO(), {}, lambda record: "")
    assert (refused.value.libraries, refused.value.extra) == (("pyarrow",), "parquet")
