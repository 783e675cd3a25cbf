"""The code of the documentation runs, loads or is parsed; `<!-- not run: REASON -->` above a block
excludes it."""

import ast
import configparser
import functools
import importlib.util
import inspect
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.exceptions import TyperException

from parley.cli.main import LazyCommand, app
from parley.config import load
from parley.config.agent_file import read_agent_file
from parley.config.reference_page import own_platforms
from tests.docs.blocks import BLOCKS, ROOT, Block, runnable

LANGUAGES = {
    *("sh", "yaml", "python", "json", "toml", "ini", "text", "mermaid"),
    *("console", "caddyfile", "nginx", "py"),
}
"""`console` is an excerpt of a screen, `text` anything that is no code, `py` a part of a program,
which is compiled only."""
PROGRAMS = {
    *(".", "cd", "cp", "export", "mkdir", "printf", "rm", "sed", "source"),
    *(
        "curl",
        "docker",
        "git",
        "helm",
        "kubectl",
        "nc",
        "openssl",
        "pg_dump",
        "pg_restore",
        "sqlite3",
        "cloudflared",
    ),
    *("pip", "pipx", "psql", "systemctl", "uv", "uvx", "ask", "put", "sudo"),
}
"""Programs of others, and functions of use-memory-over-http.md; their arguments are not checked."""
OPERATORS = {"|", "||", "&&", ";", "<", ">", ">>", "&"}
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def bare(code: str) -> str:
    """Python without white space and without the commas that a formatter adds."""
    return "".join(code.split()).replace(",)", ")").replace(",]", "]")


@functools.cache
def code() -> str:
    """The code of the program and of its examples."""
    return bare(
        "".join(
            path.read_text("utf-8")
            for folder in ("examples", "tests/attacks", "parley", "gateway")
            for path in sorted((ROOT / folder).rglob("*.py"))
        )
    )


def by_place(*languages: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", runnable(*languages), ids=lambda block: block.place)


def test_every_block_names_its_language() -> None:
    unnamed = [block.place for block in BLOCKS if block.language not in LANGUAGES]
    assert unnamed == [], f"name one of {sorted(LANGUAGES)} after the fence"


def test_every_excluded_block_says_why() -> None:
    assert [block.place for block in BLOCKS if block.reason and len(block.reason) < 10] == []


def value_of(variable: str) -> str:
    """A value that a variable in an example could have."""
    address = "postgresql://reader@127.0.0.1/figures"
    return address if variable.endswith("DATABASE") else "x" * 32


@by_place("yaml")
def test_every_configuration_loads(block: Block, tmp_path: Path) -> None:
    if block.code.startswith("ingestion:"):  # `.agent/config.yaml` of a repository
        read_agent_file(block.code.encode())
        return
    path = tmp_path / "parley.yaml"
    path.write_text(block.code, "utf-8")
    names = re.findall(r"\$\{([A-Z_]+)\}", block.code)
    load(path, {name: value_of(name) for name in names}, own_platforms())


def commands(line: str) -> Iterator[list[str]]:
    """The commands of a line of shell code, without assignments and redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words: list[str] = []
    redirected = False
    for word in lexer:
        if word in OPERATORS:
            redirected = word in {"<", ">", ">>"}
            if not redirected:
                yield words
                words = []
        elif redirected:
            redirected = False
        elif words or not ASSIGNMENT.fullmatch(word):
            words.append(word)
    yield words


def refused(words: list[str]) -> str:
    """Return the reason why a command cannot be run; empty if there is none."""
    program = words[0].removeprefix(".venv/bin/") if words else ""
    last = max((i for i, word in enumerate(words) if word.endswith("parley")), default=-1)
    if last >= 0 and program in {"parley", "docker", "uvx", "uv", "pipx", "sudo"}:
        return refused_call(words[last + 1 :]) if words[last + 1 :] or not last else ""
    if program == "make":
        target = next(word for word in [*words[1:], "test"] if "=" not in word)
        return "" if re.search(rf"^{target}:", MAKEFILE, re.MULTILINE) else f"no target {target}"
    if program in {"python", "python3"} and words[1:2] == ["-m"]:
        return "" if words[2] in {"pip", "venv"} or exists(words[2]) else f"no module {words[2]}"
    return "" if not words or program in PROGRAMS else f"an unknown program: {program}"


def exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def refused_call(words: list[str]) -> str:
    """Parse the arguments of `parley` as the program does, without running it."""
    group: TyperGroup = app
    if words in (["--help"], ["--version"]):
        return ""
    while words:
        below = group.commands.get(words[0])
        if isinstance(below, LazyCommand):
            return problem_of(below, words[1:])
        if not isinstance(below, TyperGroup):
            return f"no command {words[0]}"
        group, words = below, words[1:]
    return ""


def problem_of(command: LazyCommand, words: list[str]) -> str:
    if "--help" in words:
        return ""
    try:
        command.make_context(command.name, list(words))
    except TyperException as error:
        return str(getattr(error, "message", error))
    return ""


def lines_of(code: str) -> list[str]:
    """The lines of shell code, with continued and quoted ones joined."""
    lines: list[str] = []
    for line in code.splitlines():
        if lines and (lines[-1].endswith("\\") or not is_complete(lines[-1])):
            lines[-1] = lines[-1].removesuffix("\\") + "\n" + line
        else:
            lines.append(line)
    return lines


def is_complete(line: str) -> bool:
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return False
    return True


@by_place("sh")
def test_every_command_is_accepted(block: Block) -> None:
    if "ask()" in block.code or "$(" in block.code:
        pytest.skip("shell code that tests/parley/http/api/test_examples.py runs")
    every = [words for line in lines_of(block.code) for words in commands(line)]
    assert [problem for words in every if (problem := refused(words))] == []


@by_place("sh")
@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_every_shell_block_is_well_formed(block: Block) -> None:
    completed = subprocess.run(
        ["bash", "-n"], input=block.code, capture_output=True, text=True, check=False
    )
    assert completed.stderr == ""


@by_place("python")
async def test_every_program_runs_or_is_a_part_of_the_code(block: Block) -> None:
    if bare(block.code) in code():
        return
    compiled = compile(
        block.code, block.place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )
    running = eval(compiled, {"__name__": "documentation"})
    if inspect.isawaitable(running):
        await running


@by_place("py")
def test_every_part_of_a_program_compiles(block: Block) -> None:
    compile(block.code, block.place, "exec", dont_inherit=True)


@by_place("json")
def test_every_json_is_valid(block: Block) -> None:
    try:
        json.loads(block.code)
    except json.JSONDecodeError:
        for line in block.code.splitlines():
            json.loads(line)


@by_place("toml")
def test_every_toml_is_valid(block: Block) -> None:
    tomllib.loads(block.code)


@by_place("ini")
def test_every_ini_is_valid(block: Block) -> None:
    configparser.RawConfigParser(strict=False).read_string(block.code)
