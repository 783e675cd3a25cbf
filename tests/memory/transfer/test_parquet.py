"""Parquet without its optional package."""

import io
import re
import sys
import tomllib
from pathlib import Path

import pytest

from gateway.errors import BadInput
from memory.transfer.parquet import ParquetWriter

ROOT = Path(__file__).parents[3]


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The package `parley` of the public index is another project."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput) as refused:
        ParquetWriter(io.BytesIO(), {}, lambda record: "")
    command = re.search(r"pip install '(.*)'$", str(refused.value))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert command is not None
    assert [command[1]] == project["optional-dependencies"]["parquet"]
