"""The calls of `re` in source files, and the use of the patterns that they compile."""

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

COMPILING: Final = frozenset(
    {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
)
_TRIED_EVERYWHERE: Final = COMPILING - {"compile", "match", "fullmatch"}
_HARMLESS: Final = frozenset({"pattern", "flags", "groups", "groupindex"})


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """`searched`: tried at many places of one text; `again`: also behind a match. `whole`: only a
    match of all of it counts."""

    searched: bool
    whole: bool
    again: bool = True


ANYHOW: Final = frozenset({Use(searched=True, whole=False)})
"""Used where it is unknown: the costliest use."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of `re` that compiles: its lines, and the uses of what comes of it."""

    file: str
    first: int
    last: int
    uses: frozenset[Use]
    node: ast.Call


@dataclass(frozen=True, slots=True)
class _Mentions:
    """Places in a file that read a name, by name: the name itself, an attribute of it, a call of
    such an attribute."""

    itself: dict[str, list[ast.AST]]
    attributes: dict[str, list[ast.Attribute]]
    calls: dict[str, list[ast.Call]]


@functools.cache
def _text(file: Path) -> str:
    return file.read_text("utf-8")


@functools.cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree."""
    return tuple(ast.walk(ast.parse(_text(file))))


@functools.cache
def _mentions(file: Path) -> _Mentions:
    result = _Mentions(defaultdict(list), defaultdict(list), defaultdict(list))
    for node in nodes_of(file):
        match node:
            case ast.Call(func=ast.Attribute(value=value)):
                if name := _name_read(value):
                    result.calls[name].append(node)
            case ast.Name() | ast.Attribute():
                if name := _name_read(node):
                    result.itself[name].append(node)
        if isinstance(node, ast.Attribute) and (name := _name_read(node.value)):
            result.attributes[name].append(node)
    return result


@functools.cache
def calls_in(file: Path, others: tuple[Path, ...] = ()) -> tuple[Call, ...]:
    """All calls in a file; `others` may import what it compiles."""
    if "re." not in _text(file):
        return ()
    names = dict(_assigned(nodes_of(file)))
    results = []
    for node in nodes_of(file):
        method = _method_of_re(node)
        if method is None or not isinstance(node, ast.Call):
            continue
        if method == "compile":
            name = names.get(node)
            uses = ANYHOW if name is None else _uses(name, file, others)
        else:
            uses = frozenset({_use(method, node, direct=True)})
        last = node.end_lineno or node.lineno
        results.append(Call(str(file), node.lineno, last, uses, node))
    return tuple(results)


def literal_pattern(call: Call) -> tuple[str | bytes, int] | None:
    """The pattern and flags that stand in a call as they are; None where they are computed."""
    first, *others = call.node.args
    named = [keyword.value for keyword in call.node.keywords if keyword.arg == "flags"]
    try:
        pattern = ast.literal_eval(first)
    except ValueError:
        return None
    flags = 0
    for argument in (*others, *named):
        for node in ast.walk(argument):
            match node:
                case ast.Attribute(value=ast.Name(id="re"), attr=name) if name.isupper():
                    flags |= int(getattr(re, name))
    return pattern, flags


def call_at(file: Path, line: int, others: tuple[Path, ...] = ()) -> Call | None:
    """The narrowest call that covers a line."""
    covering = [call for call in calls_in(file, others) if call.first <= line <= call.last]
    return min(covering, key=lambda call: call.last - call.first, default=None)


def _method_of_re(node: ast.AST) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method)):
            return method if method in COMPILING else None
    return None


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
    """Calls whose value gets a name, directly."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield value, name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield value, name


def _uses(name: str, file: Path, others: tuple[Path, ...]) -> frozenset[Use]:
    uses: set[Use] = set()
    for each in (file, *(other for other in others if other != file)):
        if each != file and (name.startswith("_") or not _imports(each, name)):
            continue
        answer = _uses_in(_mentions(each), name)
        if answer is None:
            return ANYHOW
        uses |= answer
    return frozenset(uses) or ANYHOW


def _imports(file: Path, name: str) -> bool:
    return name in _text(file)


def _uses_in(mentions: _Mentions, name: str) -> set[Use] | None:
    """The uses of a name as a pattern; None when it goes where they cannot be seen."""
    uses: set[Use] = set()
    seen: set[ast.AST] = set()
    attributes = mentions.attributes.get(name, ())
    for node in attributes:
        seen.add(node.value)
        if node.attr not in _HARMLESS and node.attr not in COMPILING:
            return None
    for call in mentions.calls.get(name, ()):
        if isinstance(call.func, ast.Attribute) and call.func.attr in COMPILING:
            uses.add(_use(call.func.attr, call, direct=False))
            seen.add(call.func)
    if any(node not in seen for node in mentions.itself.get(name, ())):
        return None
    if any(node.attr in COMPILING and node not in seen for node in attributes):
        return None
    return uses


def _name_read(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=found, ctx=ast.Load()):
            return found
        case ast.Attribute(attr=found, ctx=ast.Load()):
            return found
    return None


def _use(method: str, call: ast.Call, *, direct: bool) -> Use:
    """The use that a call makes of a pattern. With a position it may be one of many."""
    placed = not direct and (len(call.args) > 1 or bool(call.keywords))
    if method == "fullmatch":
        return Use(searched=placed, whole=True)
    again = method != "search" or placed
    return Use(searched=method in _TRIED_EVERYWHERE or placed, whole=False, again=again)
