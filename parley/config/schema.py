"""Inspects the model of the configuration: its keys, and the types of their values."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel

from parley.config.problems import Path as KeyPath
from parley.config.secrets import ReferencedText
from parley.config.sections import AccountName, Name
from parley.config.yaml_file import Value

Shape: TypeAlias = Any
"""A type annotation."""

_NUMBER: Final = re.compile(r"^[-+]?[0-9]{1,30}$")
_FLOAT: Final = re.compile(r"^[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?$")
_BOOLS: Final = {"true": True, "false": False, "1": True, "0": False}


def _origin(annotation: Shape) -> object:
    return get_origin(annotation)


def shapes(annotation: Shape) -> list[Shape]:
    """The alternatives of an annotation, without `Annotated` and `None`."""
    origin = _origin(annotation)
    if origin is Annotated:
        return shapes(get_args(annotation)[0])
    if origin in {Union, UnionType}:
        return [s for option in get_args(annotation) for s in shapes(option)]
    return [] if annotation is NoneType else [annotation]


def section_of(annotation: Shape) -> type[BaseModel] | None:
    """The model of an annotation; None for other types."""
    for shape in shapes(annotation):
        if isinstance(shape, type) and issubclass(shape, BaseModel):
            return shape
    return None


def mapping_of(annotation: Shape) -> tuple[Shape, Shape] | None:
    """The types of a mapping's keys and values; None for other types."""
    for shape in shapes(annotation):
        if _origin(shape) in {dict, Mapping}:
            key, value = get_args(shape)
            return key, value
    return None


def item_of(annotation: Shape) -> Shape | None:
    """The type of a list's items; None for other types."""
    for shape in shapes(annotation):
        if _origin(shape) in {list, tuple, set, frozenset, Sequence}:
            return get_args(shape)[0]
    return None


def may_be_none(annotation: Shape) -> bool:
    """True when None is a valid value."""
    origin = _origin(annotation)
    if origin is Annotated:
        return may_be_none(get_args(annotation)[0])
    if origin in {Union, UnionType}:
        return any(may_be_none(option) for option in get_args(annotation))
    return annotation is NoneType


def is_name(annotation: Shape) -> bool:
    """True for names of the user's choice, which are in lower case."""
    return annotation in (Name, AccountName)


def child(annotation: Shape, step: str | int) -> Shape | None:
    """The type at `step`; None when there is no such key."""
    if isinstance(step, int):
        return item_of(annotation)
    section = section_of(annotation)
    if section is not None:
        field = section.model_fields.get(step)
        return None if field is None else field.annotation
    mapping = mapping_of(annotation)
    return None if mapping is None else mapping[1]


def at(root: type[BaseModel], path: KeyPath) -> Shape | None:
    """The type at a path; None when there is no such key."""
    shape: Shape | None = root
    for step in path:
        shape = child(shape, step)
        if shape is None:
            return None
    return shape


def typed(value: Value, annotation: Shape) -> Value:
    """`value` with texts from outside converted to the type of their key.

    A text that cannot be converted stays a text, so that validation reports it. An empty section
    (`telegram:` alone) gets its defaults.
    """
    if annotation is None:
        return str(value) if isinstance(value, ReferencedText) else value
    if isinstance(value, ReferencedText):
        return _from_text(value, annotation)
    section, mapping, item = section_of(annotation), mapping_of(annotation), item_of(annotation)
    if value is None and (section or mapping) and not may_be_none(annotation):
        return {}
    if isinstance(value, dict) and (section or mapping):
        return {key: typed(v, child(annotation, key)) for key, v in value.items()}
    if isinstance(value, list) and item is not None:
        return [typed(v, item) for v in value]
    return value


def _from_text(text: ReferencedText, annotation: Shape) -> Value:
    options = shapes(annotation)
    if section_of(annotation) or mapping_of(annotation):
        return _json(text, dict)
    item = item_of(annotation)
    if item is not None:
        if text.lstrip().startswith("["):
            return _json(text, list)
        return [_from_text(ReferencedText(p.strip()), item) for p in text.split(",") if p.strip()]
    if bool in options:
        return _BOOLS.get(text.strip().lower(), str(text))
    if int in options and _NUMBER.match(text.strip()):
        return int(text)
    if float in options and _FLOAT.match(text.strip()):
        return float(text)
    return str(text)


def _json(text: str, kind: type) -> Value:
    try:
        value: Value = json.loads(text)
    except (ValueError, RecursionError):
        return str(text)
    return value if isinstance(value, kind) else str(text)


def paths(root: type[BaseModel], prefix: KeyPath = ()) -> Iterator[tuple[KeyPath, type[BaseModel]]]:
    """Every key of the model with its section; names in mappings appear as `<key>`."""
    for name, field in root.model_fields.items():
        path = (*prefix, name)
        yield path, root
        mapping, item = mapping_of(field.annotation), item_of(field.annotation)
        below = section_of(field.annotation)
        if mapping is not None:
            below, path = section_of(mapping[1]), (*path, "<key>")
        elif item is not None:
            below, path = section_of(item), (*path, 0)
        if below is not None:
            yield from paths(below, path)


def allowed_words(annotation: Shape) -> tuple[str, ...]:
    """The words that a key accepts; empty when it accepts other values."""
    words: list[str] = []
    for shape in shapes(annotation):
        if _origin(shape) is Literal:
            words.extend(str(w) for w in get_args(shape))
        elif hasattr(shape, "__members__"):
            words.extend(str(m.value) for m in shape)
    return tuple(words)
