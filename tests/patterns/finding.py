"""All patterns of the program and of the libraries it runs on, each with its place and its use."""

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from redos.calls import ANYHOW, Call, Use, call_at, calls_in, literal_pattern, nodes_of
from tests.patterns.recorder import PACKAGES

ROOT: Final = Path(__file__).resolve().parents[2]
_SECONDS: Final = 150
_ENGINE: Final = re.compile(r"\b(?:re|regex|sre_compile)\b")


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """A pattern; `place` is file:line, the file as seen from the tree or from the libraries."""

    place: str
    pattern: str | bytes
    flags: int
    use: Use
    own: bool

    @property
    def file(self) -> str:
        """The file of its place."""
        return self.place.rpartition(":")[0]

    @property
    def package(self) -> str:
        """The package of the program, the library, or the part of Python's own."""
        return self.file.removeprefix("python/").partition("/")[0]


@functools.cache
def sources() -> tuple[Path, ...]:
    """All source files of the program."""
    return tuple(path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py")))


@functools.cache
def _records() -> tuple[dict[str, object], ...]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.patterns.recorder"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=_SECONDS,
    )
    return tuple(json.loads(done.stdout))


@functools.cache
def found_patterns() -> tuple[Found, ...]:
    """Those that were compiled, and those that stand in a call that was not made."""
    return tuple(
        sorted({*_compiled(), *written_patterns()}, key=lambda found: (found.place, repr(found)))
    )


def _compiled() -> Iterator[Found]:
    for record in _records():
        file, line = Path(str(record["file"])), int(str(record["line"]))
        own = file in sources()
        text = str(record["pattern"])
        pattern = text.encode("latin-1") if record["bytes"] else text
        call = _call(file, line, own=own)
        for use in call.uses if call else ANYHOW:
            place = f"{_short(file)}:{call.first if call else line}"
            yield Found(place, pattern, int(str(record["flags"])), use, own)


def _written() -> Iterator[Found]:
    for file in sources():
        for call in calls_in(file, sources()):
            written = literal_pattern(call)
            if written is not None:
                pattern, flags = written
                for use in call.uses:
                    yield Found(f"{_short(file)}:{call.first}", pattern, flags, use, own=True)


@functools.cache
def written_patterns() -> tuple[Found, ...]:
    """Those that stand in a call of the program as they are, read without starting it."""
    return tuple(sorted(set(_written()), key=lambda found: (found.place, repr(found))))


def unseen_calls() -> list[str]:
    """Calls of `re` in the program from which no pattern is known: the check is blind there."""
    seen = {result.place for result in found_patterns()}
    places = (
        f"{_short(file)}:{call.first}" for file in sources() for call in calls_in(file, sources())
    )
    return [place for place in places if place not in seen]


def unusual_imports() -> list[str]:
    """Files that reach the engine by another name, which the search for calls does not know."""
    return [
        f"{_short(file)}:{node.lineno}"
        for file in sources()
        if _ENGINE.search(file.read_text("utf-8"))
        for node in nodes_of(file)
        if isinstance(node, ast.stmt | ast.expr) and _is_unusual(node)
    ]


def _is_unusual(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(
                n.name in {"regex", "sre_compile"} or (n.name == "re" and n.asname) for n in names
            )
        case ast.ImportFrom(module="re" | "regex"):
            return True
        case ast.Attribute(value=ast.Name(id="re"), attr="Scanner" | "template"):
            return True
    return False


def _call(file: Path, line: int, *, own: bool) -> Call | None:
    try:
        return call_at(file, line, sources() if own else ())
    except (OSError, SyntaxError):
        return None


def _short(file: Path) -> str:
    if file.is_relative_to(ROOT) and "site-packages" not in file.parts:
        return file.relative_to(ROOT).as_posix()
    _, result, rest = file.as_posix().rpartition("/site-packages/")
    return rest if result else f"python/{file.relative_to(Path(re.__file__).parents[1]).as_posix()}"
