"""The documentation matches the code: targets of make and code samples."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from parley.config import load
from parley.config.reference_page import BEGIN, own_platforms
from parley.wiring.policies import unpriced_models
from tests.parley.cli.kit import ROOT, environment

PAGES = [
    ROOT / name
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/reference/configuration.md",
        "docs/explanation/dependencies.md",
        "docs/how-to/run-as-a-service.md",
        "docs/how-to/run-on-kubernetes.md",
        "docs/how-to/run-the-tests.md",
        "docs/how-to/write-an-adapter.md",
        "docs/tutorials/first-adapter.md",
        "docs/how-to/use-memory-over-http.md",
        "examples/parley-adapter-lines/README.md",
    )
]
EXAMPLE = ROOT / "examples" / "parley-adapter-lines"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [text for kind, text in BLOCK.findall(page.read_text("utf-8")) if kind == language]


def targets() -> list[str]:
    """Return the targets of `make` in the shell blocks of all pages."""
    lines = [line for page in PAGES for text in blocks(page, "sh") for line in text.splitlines()]
    return sorted({line.split()[1] for line in lines if line.startswith("make ")})


@pytest.mark.parametrize("target", targets())
def test_every_make_target_of_the_documentation_exists(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("$(VENV)", ".venv")
    makefile = makefile.replace("$(RUN_STAMP)", ".venv/.run-stamp")
    assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("text", blocks(ROOT / "README.md", "yaml"))
def test_a_program_starts_with_the_configuration_of_the_readme(tmp_path: Path, text: str) -> None:
    path = tmp_path / "parley.yaml"
    path.write_text(text, "utf-8")
    env = dict.fromkeys(re.findall(r"\$\{([A-Z_]+)\}", text), "x" * 20)
    settings = load(path, env, own_platforms())
    assert unpriced_models(settings) == []
    assert {a.platform for a in settings.accounts()} == {"telegram", "slack"}


@pytest.mark.parametrize("language", ["python", "toml"])
def test_the_code_of_the_adapter_page_matches_the_example(language: str) -> None:
    code = "\n".join(
        path.read_text("utf-8")
        for pattern in ("parley_lines/*.py", "pyproject.toml")
        for path in EXAMPLE.glob(pattern)
    )
    pieces = blocks(ROOT / "docs" / "how-to" / "write-an-adapter.md", language)
    assert pieces
    assert [piece for piece in pieces if piece not in code] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["openai"],
        *project["dependency-groups"]["dev"],
    ]
    names = {re.split(r"[<>=\[ ]", requirement)[0] for requirement in needed}
    text = (ROOT / "docs" / "explanation" / "dependencies.md").read_text("utf-8")
    assert {name for name in names if not re.search(rf"\b{re.escape(name)}\b", text)} == set()


def test_the_documented_command_writes_the_reference(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "configuration.md").read_text("utf-8")
    copy = tmp_path / "configuration.md"
    before, _, reference = page.partition(BEGIN)
    stale = re.sub(r"^\| `.*$", "| stale |", reference, flags=re.MULTILINE)
    copy.write_text(f"{before}{BEGIN}{stale}", "utf-8")
    module = (sys.executable, "-m", "parley.config.reference_page", str(copy))
    subprocess.run(module, env=environment(None), check=True)
    assert copy.read_text("utf-8") == page
