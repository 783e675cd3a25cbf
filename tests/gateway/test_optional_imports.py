"""Imports of optional libraries."""

import subprocess
import sys
from importlib import import_module

import pytest

from gateway.optional_imports import unavailable
from tests.support.patience import PATIENCE


def test_a_package_cannot_be_imported_inside_the_block_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with unavailable("wave"), pytest.raises(ImportError):
        import_module("wave")
    wave = import_module("wave")

    with unavailable("wave"):
        assert import_module("wave") is wave


def test_the_program_loads_no_library_that_it_does_not_use() -> None:
    code = (
        "import sys; sys.argv[1:] = ['version']; from parley.cli import entry; "
        "from contextlib import suppress\n"
        "with suppress(SystemExit): entry.main()\n"
        "import parley.app, adapters.telegram.connection\n"
        "print([n for n in ('anthropic', 'cryptography', 'mcp', 'openai', 'rich') "
        "if n in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert printed.stdout.splitlines()[-1] == "[]"
