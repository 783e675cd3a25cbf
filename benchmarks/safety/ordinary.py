"""Ordinary texts that nobody wrote for this measurement; a corpus that is absent is left out."""

import ast
import json
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions
from itertools import islice
from pathlib import Path
from typing import Any, Final

SHARED: Final = next(
    (
        data
        for folder in Path(__file__).resolve().parents
        if (data := folder / "shared" / "data").is_dir()
    ),
    Path("shared", "data"),
)
"""The nearest folder of this name in those above the checkout, however deep it lies."""
MAX_TEXTS: Final = 4_000
"""Texts of one corpus; from a larger one every n-th is taken."""
MAX_FILES: Final = 1_500
MAX_CHARACTERS: Final = 10_000
LINES: Final = 40
"""Lines of a piece of source code, about what people paste."""


def corpora() -> Iterator[tuple[str, list[str]]]:
    """Name and texts of each corpus that is here."""
    makers = {
        "chat turns": _turns,
        "chat questions": _questions,
        "abstracts": _abstracts,
        "platform payloads": _payloads,
        "package descriptions": _descriptions,
        "docstrings": _docstrings,
        "source code": _code,
    }
    for name, make in makers.items():
        texts = _sample(make())
        if texts:
            yield name, texts


def _sample(texts: Iterable[str]) -> list[str]:
    unique = list(dict.fromkeys(text[:MAX_CHARACTERS] for text in texts if text.strip()))
    step = max(1, -(-len(unique) // MAX_TEXTS))
    return unique[::step]


def _turns() -> Iterator[str]:
    for conversation in _json("locomo-dev.json", []):
        yield from (turn["text"] for turn in conversation["turns"])


def _questions() -> Iterator[str]:
    for conversation in _json("locomo-dev.json", []):
        yield from (question["question"] for question in conversation["questions"])


def _abstracts() -> Iterator[str]:
    data = _json("cranfield.json", {"documents": [], "queries": []})
    yield from (f"{document['title']}\n\n{document['text']}" for document in data["documents"])
    yield from (query["text"] for query in data["queries"])


def _payloads() -> Iterator[str]:
    for file in sorted((SHARED / "payloads").glob("*.json")):
        yield from _texts_in(json.loads(file.read_text("utf-8")))


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _texts_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in {"text", "content", "body", "caption"} and isinstance(item, str):
                yield item
            else:
                yield from _texts_in(item)


def _descriptions() -> Iterator[str]:
    """Yield the descriptions of packages, paragraph by paragraph."""
    for distribution in distributions():
        described = distribution.metadata.json.get("description", "")
        yield from str(described).split("\n\n")


def _docstrings() -> Iterator[str]:
    for source in _sources():
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield ast.get_docstring(node) or ""


def _code() -> Iterator[str]:
    for source in _sources():
        lines = source.splitlines()
        for begin in range(0, len(lines), LINES):
            yield "\n".join(lines[begin : begin + LINES])


def _sources() -> Iterator[str]:
    for place in ("stdlib", "purelib"):
        root = Path(sysconfig.get_path(place))
        files = (file for file in root.rglob("*.py") if "/test" not in str(file))
        half = islice(files, 0, 4 * MAX_FILES, 4)
        yield from (file.read_text("utf-8", errors="ignore") for file in half)


def _json(name: str, otherwise: Any) -> Any:
    """The data as JSON has it, `otherwise` where the file is absent."""
    file = SHARED / name
    return json.loads(file.read_text("utf-8")) if file.exists() else otherwise
