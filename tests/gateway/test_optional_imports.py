"""Imports of optional libraries."""

import subprocess
import sys
from importlib import import_module
from typing import Final

import pytest

from gateway.optional_imports import unavailable
from tests.support.patience import PATIENCE

UNUSED: Final = (
    *("anthropic", "cryptography", "greenlet", "httpx2", "mcp", "openai", "rich"),
    *(
        "memory.knowledge.ingest",
        "memory.knowledge.search",
        "memory.knowledge.splitting",
        "parley.http.api.addresses",
    ),
)
"""Modules that a start does not load."""


def test_a_package_cannot_be_imported_inside_the_block_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with unavailable("wave"), pytest.raises(ImportError):
        import_module("wave")
    wave = import_module("wave")

    with unavailable("wave"):
        assert import_module("wave") is wave


def test_the_program_loads_no_module_that_a_start_does_not_use() -> None:
    code = (
        "import sys; sys.argv[1:] = ['version']; from parley.cli import entry; "
        "from contextlib import suppress\n"
        "with suppress(SystemExit): entry.main()\n"
        "import parley.app, adapters.telegram.connection, adapters.whatsapp.connection\n"
        f"print([n for n in {UNUSED} if n in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert printed.stdout.splitlines()[-1] == "[]"


def test_the_console_loads_its_templates_with_the_first_page() -> None:
    code = (
        "import sys; from parley.console.pages import Frame, PageTemplates\n"
        "pages = PageTemplates()\n"
        "before = 'jinja2' in sys.modules\n"
        "pages.render('sign_in.html', Frame('/', 'n'), problem='')\n"
        "print(before, 'jinja2' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert printed.stdout.split() == ["False", "True"]
