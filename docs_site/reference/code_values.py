"""Parts of the pages on the program's own interfaces, written from the code: methods and values."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from docs_site.reference.tables import code, table

OPEN: Final = "<!-- not run: written from the code -->\n```python"


class ValueField(NamedTuple):
    """One field of a value, as its class declares it."""

    name: str
    kind: str
    """The type, as the code writes it."""
    default: str
    """The default, as the code writes it; empty if the field is required."""
    meaning: str
    """The text under the field; empty without one."""


def methods(protocol: type) -> Iterator[str]:
    """The signature of each method in a code block, then its documentation."""
    for node in _body(protocol):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        is_property = any(
            isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list
        )
        yield f"{OPEN}\n{'@property' + chr(10) if is_property else ''}{_signature(node)}\n```\n"
        text = ast.get_docstring(node)
        if text:
            yield f"{wrapped(text)}\n"


def value(shown: type) -> str:
    """A frozen value or an error: its documentation and the table of its fields, or its
    constructor."""
    lines = [f"### `{shown.__name__}`\n", f"{wrapped(inspect.getdoc(shown) or '')}\n"]
    constructors = [
        _signature(node)
        for node in _body(shown)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    if constructors:
        lines.append(f"{OPEN}\n{constructors[0]}\n```\n")
    rows = [
        (code(one.name), code(one.kind), code(one.default) or "required", one.meaning)
        for one in fields(shown)
    ]
    if rows:
        lines += [*table(("Field", "Type", "Default", "Meaning"), rows), ""]
    return "\n".join(lines)


def fields(shown: type) -> list[ValueField]:
    """The public fields of a value, with the text under each."""
    body = _body(shown)
    found = []
    for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
            continue
        if node.target.id.startswith("_"):
            continue
        found.append(
            ValueField(
                node.target.id,
                ast.unparse(node.annotation).strip("'\""),
                _default(node.value),
                _text(after),
            )
        )
    return found


def _default(given: ast.expr | None) -> str:
    """The default of a field, without the options of `field(…)`; empty if it is required."""
    if given is None:
        return ""
    if isinstance(given, ast.Call) and ast.unparse(given.func) == "field":
        options = {one.arg: one.value for one in given.keywords}
        if "default_factory" in options:
            made = ast.unparse(options["default_factory"])
            return {"dict": "{}", "tuple": "()"}.get(made, f"{made}()")
        given = options.get("default")
    return ast.unparse(given).replace("''", '""') if given is not None else ""


def _text(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def modules(values: Iterable[type]) -> str:
    """The modules from which the values are imported, as code."""
    names = list(dict.fromkeys(f"`{_importable(shown)}`" for shown in values))
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _importable(shown: type) -> str:
    """The module that defines a value, or the package around it that exports the value."""
    package = shown.__module__.rpartition(".")[0]
    exported = getattr(sys.modules.get(package), "__all__", ())
    return package if shown.__name__ in exported else shown.__module__


def wrapped(text: str) -> str:
    """A documentation with its paragraphs in lines of at most 120 characters."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(textwrap.fill(" ".join(one.split()), 120) for one in paragraphs)


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}: ..."


def _body(shown: type) -> list[ast.stmt]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(shown)))
    (definition,) = tree.body
    return definition.body if isinstance(definition, ast.ClassDef) else []
