"""The reference of the configuration, generated from the model.

`python -m parley.config.reference_page` writes it to docs/reference/configuration.md, between its
markers.
"""

import ast
import functools
import inspect
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from msgspec import Struct
from pydantic import BaseModel, SecretStr

from gateway.platforms import Discovery, discover
from gateway.text import HOLE, NO_TEXT, Sentence, Text, verbatim
from parley.config.problems import Path as KeyPath
from parley.config.problems import dotted
from parley.config.schema import (
    Shape,
    allowed_words,
    item_of,
    mapping_of,
    may_be_none,
    paths,
    section_of,
    shapes,
)
from parley.config.sections import OWN_PLATFORMS
from parley.config.settings import settings_model

BEGIN: Final = "<!-- reference: written by python -m parley.config.reference_page -->"
END: Final = "<!-- end of reference -->"
_KINDS: Final = {bool: "true or false", int: "whole number", float: "number"}


class Key(Struct, frozen=True):
    """One key: its path, type, default and meaning."""

    path: str
    kind: str
    """The type, as the page shows it."""
    default: str
    meaning: str


class Group(Struct, frozen=True):
    """A section with its keys."""

    path: str
    """The keys of the section, joined by points."""
    meaning: str
    """The sentence of the section."""
    keys: tuple[Key, ...]


def groups(platforms: Discovery) -> Iterator[Group]:
    """All sections, in the order of the model."""
    model = settings_model(platforms.manifests)
    yield from _groups(model, ())


def markdown(platforms: Discovery) -> str:
    """The reference as Markdown, a table per section."""
    lines: list[str] = []
    for group in groups(platforms):
        if group.path:
            lines += [f"### `{group.path}`", "", group.meaning, ""]
        lines += ["| Key | Type | Default | Meaning |", "|---|---|---|---|"]
        for key in group.keys:
            name = key.path.removeprefix(f"{group.path}.")
            default = f"`{key.default}`" if key.default else ""
            lines.append(f"| `{name}` | {key.kind} | {default} | {_cell(key.meaning)} |")
        lines.append("")
    return "\n".join(lines)


@functools.cache  # as many as the configuration has models
def documented(section: type[BaseModel]) -> Mapping[str, str]:
    """The text under each field of a model, including those of its bases. The first call for all
    models takes a twentieth of a second of the processor: not on an event loop."""
    texts: dict[str, str] = {}
    for base in reversed(section.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            texts |= texts_in(base.__module__).get(base.__qualname__, {})
    described = {n: f.description for n, f in section.model_fields.items() if f.description}
    return {**texts, **described}


@functools.cache  # as many as the configuration has modules
def texts_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the texts under the fields of each class at the top of a module, by its name. Each
    module is parsed once: `inspect.getsource` of a class parses all of its module."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError, SyntaxError):
        return {}
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {one.name: dict(_texts_under(one.body)) for one in classes}


def _texts_under(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, text in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            yield field.target.id, " ".join(str(text.value.value).split())


def explained(meaning: str) -> Text:
    """The text under a field as a sentence; the catalogues have those of `meanings`. Its braces,
    as in `issues/{number}`, stay."""
    braces = tuple((name, verbatim(f"{{{name}}}")) for name in dict.fromkeys(HOLE.findall(meaning)))
    return Sentence(meaning, braces) if meaning else NO_TEXT


def meanings(platforms: Discovery) -> Iterator[tuple[str, str]]:
    """The path and the text of each key whose value is shown to people: all but the sections by
    name, whose values are shown one by one."""
    for path, section in paths(settings_model(platforms.manifests)):
        meaning = documented(section).get(str(path[-1]), "")
        shape = section.model_fields[str(path[-1])].annotation
        by_name = mapping_of(shape)
        if meaning and (by_name is None or section_of(by_name[1]) is None):
            yield dotted(path), meaning


def _groups(section: type[BaseModel], path: KeyPath) -> Iterator[Group]:
    texts = documented(section)
    own: list[Key] = []
    below: list[tuple[type[BaseModel], KeyPath]] = []
    for name, field in section.model_fields.items():
        key_path = (*path, name)
        mapping, item = mapping_of(field.annotation), item_of(field.annotation)
        inner = section_of(field.annotation)
        if inner is None and mapping is not None:
            inner, key_path = section_of(mapping[1]), (*key_path, "<name>")
        elif inner is None and item is not None:
            inner, key_path = section_of(item), (*key_path, "0")
        if inner is not None and not (item and inner in section.__mro__):
            below.append((inner, key_path))
        if inner is None or mapping is not None or item is not None:
            own.append(_key(section, name, (*path, name), texts.get(name, "")))
    if own:
        meaning = " ".join((inspect.getdoc(section) or "").split()) if path else ""
        yield Group(".".join(map(str, path)), meaning, tuple(own))
    for inner, key_path in below:
        if key_path[-2:-1] == ("accounts",):
            continue  # the same keys as the platform's own
        yield from _groups(inner, key_path)


def _key(section: type[BaseModel], name: str, path: KeyPath, text: str) -> Key:
    annotation = section.model_fields[name].annotation
    if not text and name == "accounts":
        text = "Further accounts of this platform, by a name of your choice; the same keys."
    return Key(".".join(map(str, path)), kind_of(annotation), _default(section, name), text)


def kind_of(annotation: Shape) -> str:
    """The type of a key in words."""
    words = allowed_words(annotation)
    if words:
        return ", ".join(f"`{word}`" for word in words)
    if mapping_of(annotation) is not None:
        return "section by name"
    item = item_of(annotation)
    if item is not None:
        return f"list of {kind_of(item)}" if section_of(item) is None else "list of sections"
    options = shapes(annotation)
    if SecretStr in options:
        return "secret"
    return next((_KINDS[shape] for shape in options if shape in _KINDS), "text")


def _default(section: type[BaseModel], name: str) -> str:
    field = section.model_fields[name]
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value in (None, {}, ()) or may_be_none(field.annotation):
        return ""
    if isinstance(value, SecretStr) or value == "":
        return ""
    if isinstance(value, tuple | list | frozenset | set):
        return json.dumps([str(v) for v in value])
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def with_reference(page: str) -> str:
    """The page with a fresh reference between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{markdown(own_platforms())}\n{END}{after}"


def own_platforms() -> Discovery:
    """Our platforms alone: the documentation does not depend on what else is installed."""
    manifests = discover().manifests
    return Discovery({name: manifests[name] for name in OWN_PLATFORMS if name in manifests})


def main() -> None:
    """Write the reference into docs/reference/configuration.md, or into the file that is named."""
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reference/configuration.md")
    page.write_text(with_reference(page.read_text(encoding="utf-8")), "utf-8")


if __name__ == "__main__":
    main()
