"""Every sentence of the product, found in its sources."""

import ast
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_javascript
from jinja2.ext import babel_extract
from msgspec import Struct

from gateway.languages.html_pages import MARKED
from gateway.text import BUTTON, COMMAND
from parley.config.reference_page import meanings, own_platforms

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("adapters", "gateway", "memory", "parley")
"""The packages that speak to people."""
CALLS: Final[Mapping[str, str]] = {
    "text": "",
    "counted": "",
    "label": BUTTON,
    "described": COMMAND,
}
"""The functions of `gateway.text` whose first argument is a sentence, and its context. The first
two arguments of `counted` are its forms."""
PAGE_CALLS: Final = ("say", "say_count", "say_in")
"""The same functions in templates and scripts of pages. The first argument of `say_in` is a
context."""
_IN_CONTEXT: Final = "say_in"
_VALUES: Final = ROOT / "gateway/text.py"
"""The module of the functions, which has sentences itself."""
_REFERENCE: Final = ROOT / "docs/reference/configuration.md"
_COUNTING: Final = frozenset({"counted", "say_count"})
_NOTE: Final = "Translators:"
"""A comment above a sentence that begins so is for its translators."""
_PAGES: Final[Mapping[str, Any]] = {".html": babel_extract, ".js": extract_javascript}


class Found(Struct, frozen=True, order=True):
    """A sentence in the sources."""

    msgid: str
    plural: str
    context: str
    file: str
    """Relative to the repository."""
    line: int
    notes: tuple[str, ...]
    """What its translators need to know."""


def sentences() -> Iterator[Found]:
    """Return every sentence, in the order of files and lines."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix == ".py":
                yield from _in_module(path)
            elif path.suffix in _PAGES:
                yield from _in_page(path)
    yield from _of_configuration()


def template() -> Catalog:
    """Return a catalogue with every sentence once, and no translations."""
    catalog = Catalog(project="Parley", charset="utf-8", fuzzy=False)
    for found in sentences():
        key = (found.msgid, found.plural) if found.plural else found.msgid
        catalog.add(key, context=found.context or None, auto_comments=found.notes)
    return catalog


def _in_module(path: Path) -> Iterator[Found]:
    source = path.read_text(encoding="utf-8")
    if "gateway.text import" not in source and path != _VALUES:
        return
    tree = ast.parse(source, path)
    called = {
        name.asname or name.name: name.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "gateway.text"
        for name in node.names
        if name.name in CALLS
    }
    if path == _VALUES:
        called = dict(zip(CALLS, CALLS, strict=True))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in called
        ):
            call = called[node.func.id]
            words = [_constant(path, one) for one in node.args[: 1 + (call in _COUNTING)]]
            notes = _notes(source.split("\n"), node.lineno)
            yield _found(words, CALLS[call], path, node.lineno, notes)


def _constant(path: Path, node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError(
        f"{path}, line {node.lineno}: a sentence is a constant, not {ast.unparse(node)}"
    )


def _notes(lines: list[str], line: int) -> tuple[str, ...]:
    above: list[str] = []
    for text in reversed(lines[: line - 1]):
        if not text.strip().startswith("#"):
            return ()
        above.insert(0, text.strip("# "))
        if above[0].startswith(_NOTE):
            return (" ".join(above).removeprefix(_NOTE).strip(),)
    return ()


def _in_page(path: Path) -> Iterator[Found]:
    read, source = _PAGES[path.suffix], BytesIO(path.read_bytes())
    keywords: dict[str, None] = dict.fromkeys(PAGE_CALLS)
    for line, call, messages, comments in read(
        source, keywords, (_NOTE,), {"parse_template_string": True}
    ):
        words = list(messages) if isinstance(messages, tuple) else [messages]
        notes = tuple(note.removeprefix(_NOTE).strip() for note in comments)
        if call == _IN_CONTEXT:
            context, msgid = words[:2]
            if not context or not msgid:
                raise ValueError(f"{path}, line {line}: a context and its sentence are constants")
            yield _found([msgid], context, path, line, notes)
        elif call in PAGE_CALLS and words[0]:
            yield _found(words[: 1 + (call in _COUNTING)], "", path, line, notes)
    for line, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        for marked in MARKED.finditer(text) if path.suffix == ".html" else ():
            yield _found([marked[1]], "", path, line, ())


def _of_configuration() -> Iterator[Found]:
    """Return the text of each key of the configuration, in the order of the reference."""
    for number, (key, meaning) in enumerate(meanings(own_platforms())):
        yield _found([meaning], "", _REFERENCE, number, (f"It explains the key {key}.",))


def _found(words: list[str], context: str, path: Path, line: int, notes: tuple[str, ...]) -> Found:
    plural = words[1] if len(words) > 1 else ""
    return Found(words[0], plural, context, str(path.relative_to(ROOT)), line, notes)
