"""Everything that a page names exists: pages, headings, files of the program, commands, options."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup

from parley.cli.main import LazyCommand, app
from parley.config.reference_page import own_platforms

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*/*.md"),
    ]
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")
FILE = re.compile(r"(?:adapters|benchmarks|gateway|memory|parley|safety|simulators|tests)/[\w./-]+")

by_name = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def prose(page: Path) -> str:
    """A page without its code."""
    return CODE.sub("", BLOCK.sub("", page.read_text("utf-8")))


def headings(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub names them."""
    text = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text("utf-8")), re.MULTILINE)
    words = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in text)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in words}


def leads_somewhere(page: Path, link: str) -> bool:
    """Return True if the file and the heading in it exist."""
    path, _, heading = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return False
    return not heading or target.suffix != ".md" or heading in headings(target)


@by_name
def test_every_relative_link_has_a_target(page: Path) -> None:
    links = [path or source for path, source in LINK.findall(prose(page))]
    within = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in within if not leads_somewhere(page, link)] == []


@by_name
def test_every_named_file_exists(page: Path) -> None:
    named = [text for text in CODE.findall(page.read_text("utf-8")) if FILE.fullmatch(text)]
    assert [text for text in named if not (ROOT / text).exists()] == []


NAMED_PAGE = re.compile(r"docs/(?:tutorials|how-to|reference|explanation)/[\w/-]+\.md(?:#[\w-]+)?")
NAMING = sorted(
    file
    for pattern in (
        *("adapters/**/*.py", "db/**/*.py", "gateway/**/*.py", "memory/**/*.py", "parley/**/*.py"),
        *("safety/**/*.py", "release/**/*.py", "config/*.yaml", "deploy/**/*", "Makefile"),
        "tests/**/*.py",
    )
    for file in ROOT.glob(pattern)
    if file.suffix in {".py", ".yaml", ".service", ".txt", ".html", ""} and file.is_file()
)
"""Files of the program, its deployment and its tests, which may name a page."""


def test_every_page_and_heading_that_the_program_names_exists() -> None:
    named = {
        (str(file.relative_to(ROOT)), found)
        for file in NAMING
        for found in NAMED_PAGE.findall(file.read_text("utf-8"))
    }
    assert len(named) > 40
    assert [one for one in sorted(named) if not leads_somewhere(ROOT / "README.md", one[1])] == []


def test_no_file_names_a_page_outside_of_the_four_folders() -> None:
    loose = re.compile(r"\bdocs/[\w-]+\.md\b")
    for file in (*PAGES, *NAMING):
        if not file.is_relative_to(ROOT / "tests"):
            found = set(loose.findall(file.read_text("utf-8"))) - {"docs/index.md"}
            assert not found, f"{file}: {found}"


Commands = Iterator[tuple[tuple[str, ...], TyperCommand]]


@pytest.mark.parametrize("platform", sorted(own_platforms().manifests))
def test_every_setting_of_a_platform_is_in_a_table_of_its_page(platform: str) -> None:
    page = (ROOT / "docs" / "reference" / "platforms" / f"{platform}.md").read_text("utf-8")
    matches = {
        key for row in re.findall(r"^\| (.*?) \|", page, re.MULTILINE) for key in CODE.findall(row)
    }
    settings = own_platforms().manifests[platform].settings
    assert set(settings.model_fields) - matches == set()


def commands(path: tuple[str, ...], group: TyperGroup) -> Commands:
    """Every command there is below a group, with the words that lead to it."""
    for name, below in group.commands.items():
        if isinstance(below, TyperGroup):
            yield from commands((*path, name), below)
        elif isinstance(below, LazyCommand):
            yield (*path, name), below.load()


COMMANDS = dict(commands((), app))
GROUPS = {path[:1] for path in COMMANDS if len(path) > 1}


def calls(page: Path) -> list[str]:
    """The calls of `parley` on a page, without its name and without comments."""
    text = page.read_text("utf-8")
    blocks = "".join(block for kind, block in BLOCK.findall(text) if kind == "sh")
    matches = (
        line.removeprefix(".venv/bin/") for line in (*blocks.splitlines(), *CODE.findall(text))
    )
    return [
        line.removeprefix("parley ").partition(" #")[0]
        for line in matches
        if line.startswith("parley ")
    ]


def wrong_in(call: str) -> str:
    """Return the unknown part of a call; empty if there is none."""
    words = tuple(call.split())
    if words in GROUPS or words in {("--help",), ("--version",)}:
        return ""
    path = next((words[:n] for n in (2, 1) if words[:n] in COMMANDS), None)
    if path is None:
        return f"no command {call}"
    offered = {"--help"}.union(*((*p.opts, *p.secondary_opts) for p in COMMANDS[path].params))
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return " ".join(given - offered)


@by_name
def test_every_documented_command_and_option_exists(page: Path) -> None:
    assert [wrong for call in calls(page) if (wrong := wrong_in(call))] == []


def test_every_command_is_documented() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    names = [" ".join(path) for path in COMMANDS]
    assert [name for name in names if not re.search(rf"\bparley {name}\b", text)] == []
