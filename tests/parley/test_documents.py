"""What the documentation says is so: links lead somewhere, commands exist, code is the code."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from parley.settings import load
from parley.settings.reference import own_platforms
from tests.parley.cli.kit import PROGRAM, ROOT, environment

PAGES = [
    ROOT / name
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/configuration.md",
        "docs/dependencies.md",
        "docs/deploy.md",
        "docs/adapters.md",
        "docs/api.md",
        "examples/parley-adapter-lines/README.md",
    )
]
GROUPS = ("outbox", "memory", "audit")
"""Commands that have commands of their own."""
EXAMPLE = ROOT / "examples" / "parley-adapter-lines"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)[^)]*\)")


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [text for kind, text in BLOCK.findall(page.read_text("utf-8")) if kind == language]


def commands(program: str) -> list[str]:
    """The lines of all shell blocks that call a program."""
    lines = [line for page in PAGES for text in blocks(page, "sh") for line in text.splitlines()]
    calls = (line.removeprefix(".venv/bin/") for line in lines)
    return sorted({call for call in calls if call.startswith(f"{program} ")})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_within_the_repository_leads_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text("utf-8"))
    dead = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert dead == []


@pytest.mark.parametrize("call", commands("parley"))
def test_every_command_of_the_documentation_exists(call: str) -> None:
    _, command, *arguments = call.split()
    names = [command, *(arguments[:1] if command in GROUPS else ())]
    run = subprocess.run(
        [*PROGRAM, *names, "--help"],
        env=environment(None),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0
    for option in (a for a in arguments if a.startswith("-")):
        assert option in run.stdout


@pytest.mark.parametrize("call", commands("make"))
def test_every_make_target_of_the_documentation_exists(call: str) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("$(VENV)", ".venv")
    makefile = makefile.replace("$(RUN_STAMP)", ".venv/.run-stamp")
    target = call.split()[1]
    assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("text", blocks(ROOT / "README.md", "yaml"))
def test_the_configuration_of_the_readme_loads(tmp_path: Path, text: str) -> None:
    path = tmp_path / "parley.yaml"
    path.write_text(text, "utf-8")
    env = dict.fromkeys(re.findall(r"\$\{([A-Z_]+)\}", text), "x" * 20)
    settings = load(path, env, own_platforms())
    assert {a.platform for a in settings.accounts()} == {"telegram", "slack"}


@pytest.mark.parametrize("language", ["python", "toml"])
def test_the_pieces_of_the_adapter_page_are_the_example_s(language: str) -> None:
    code = "\n".join(
        path.read_text("utf-8")
        for pattern in ("parley_lines/*.py", "pyproject.toml")
        for path in EXAMPLE.glob(pattern)
    )
    pieces = blocks(ROOT / "docs" / "adapters.md", language)
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
    told = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    assert {name for name in names if not re.search(rf"\b{re.escape(name)}\b", told)} == set()


def test_the_reference_can_be_written_as_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    copy = tmp_path / "configuration.md"
    copy.write_text(re.sub(r"^\| `.*$", "| stale |", page, flags=re.MULTILINE), "utf-8")
    module = (sys.executable, "-m", "parley.settings.reference", str(copy))
    subprocess.run(module, env=environment(None), check=True)
    assert copy.read_text("utf-8") == page
