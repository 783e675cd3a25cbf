"""The values of a configuration with the source of each, for people: the console and the export as
YAML. Secrets are left out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

import yaml
from msgspec import Struct
from pydantic import BaseModel, SecretStr

from gateway.text import NO_TEXT, Text
from parley.config.load import Origin, Origins
from parley.config.overrides import Override
from parley.config.problems import Path as KeyPath
from parley.config.problems import dotted
from parley.config.reference_page import documented, explained
from parley.config.rules import rule_of
from parley.config.settings import Settings
from parley.config.yaml_file import Value
from safety.http.shown_address import without_secrets

Source = Literal["default", "file", "environment", "override"]
HIDDEN: Final = "set, not shown"
UNSET: Final = "not set"
_PRIVATE: Final = frozenset({"args"})
"""Keys whose texts often hold secrets, such as the arguments of a program."""
_DEFAULT: Final = Origin("file", "")


class ListedValue(Struct, frozen=True):
    """A value. `text` is what people see, one item of a list in each line; `value` is for YAML,
    None for a secret and for what is shown in part. `rule` says which values are valid. `place` is
    the line of the file, or the name of the variable."""

    path: KeyPath
    """The keys from the top of the configuration."""
    text: str
    value: Value
    secret: bool
    source: Source
    """The origin of the value."""
    place: str
    rule: Text
    """Empty for a value of a section by name."""
    meaning: Text
    """The sentences of the reference."""

    @property
    def key(self) -> str:
        """The path as the documentation writes it."""
        return dotted(self.path)


def listed(
    settings: Settings, origins: Origins, in_force: Sequence[Override]
) -> Iterator[ListedValue]:
    """Return every value of a configuration, in the order of the documentation."""
    sources = _Sources(origins, frozenset(one.path for one in in_force))
    yield from _values(settings, (), sources)


class _Sources(Struct, frozen=True):
    origins: Origins
    overridden: frozenset[tuple[str, ...]]

    def of(self, path: KeyPath, *, is_set: bool) -> tuple[Source, Origin]:
        if any(path[:length] in self.overridden for length in range(1, len(path) + 1)):
            return "override", _DEFAULT
        if not is_set:
            return "default", _DEFAULT
        for length in range(len(path), 0, -1):
            origin = self.origins.get(path[:length])
            if origin is not None:
                return origin.kind, origin
        # Without a line: a model's key of a conventional variable, or a configuration of a test.
        return ("environment" if path[-1] == "api_key" else "file"), _DEFAULT


def _values(section: BaseModel, path: KeyPath, sources: _Sources) -> Iterator[ListedValue]:
    texts = documented(type(section))
    for name, info in type(section).model_fields.items():
        value, here = getattr(section, name), (*path, name)
        is_set, meaning = name in section.model_fields_set, explained(texts.get(name, ""))
        if isinstance(value, BaseModel):
            yield from _values(value, here, sources)
        elif _is_sections(value):
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
            for step, one in pairs:
                yield from _values(one, (*here, step), sources)
        elif isinstance(value, Mapping):
            for step, one in value.items():
                inner = (*here, str(step))
                yield _listed(inner, one, sources, is_set=True, rule=NO_TEXT, meaning=meaning)
        else:
            rule = rule_of(info)
            yield _listed(here, value, sources, is_set=is_set, rule=rule, meaning=meaning)


def _is_sections(value: object) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(one, BaseModel) for one in value.values())
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], BaseModel)


def _listed(
    path: KeyPath, value: object, sources: _Sources, *, is_set: bool, rule: Text, meaning: Text
) -> ListedValue:
    source, origin = sources.of(path, is_set=is_set)
    secret = isinstance(value, SecretStr) or _holds_secrets(value)
    hidden = secret or (path[-1] in _PRIVATE and bool(value))
    plain: Value = None
    if hidden and not (origin.template and source == "file"):
        text = HIDDEN
    else:
        given = origin.template if origin.template and source == "file" else _plain(value)
        plain = _without_secrets(given)
        text = _text(plain)
        if plain != given:  # shown in part, and of no use in a file
            hidden, plain = True, None
    return ListedValue(path, text, plain, hidden, source, origin.place, rule, meaning)


def _holds_secrets(value: object) -> bool:
    return isinstance(value, Mapping) and any(isinstance(one, SecretStr) for one in value.values())


def _plain(value: object) -> Value:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


def _without_secrets(value: Value) -> Value:
    if isinstance(value, dict):
        return {name: _without_secrets(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_secrets(one) for one in value]
    if isinstance(value, str):
        return without_secrets(value)
    return value


def _text(value: Value) -> str:
    if value is None or not (value or isinstance(value, bool | int | float)):
        return UNSET
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "\n".join(str(one) for one in value)
    return str(value) if not isinstance(value, dict) else json.dumps(value, ensure_ascii=False)


def as_yaml(values: Sequence[ListedValue], at: datetime) -> str:
    """Return the values that are no defaults as a file. Secrets are named in its first lines."""
    tree: dict[Any, Any] = {}
    left_out = [one.key for one in values if one.secret and one.value is None and _is_set(one)]
    for one in values:
        if one.source == "default" or one.value is None:
            continue
        _put(tree, one.path, one.value)
    lines = [f"# Exported at {at:%Y-%m-%d %H:%M} UTC, with the overrides of the console."]
    lines += [f"# Left out, because it is or may hold a secret: {key}" for key in left_out]
    body = yaml.safe_dump(_lists(tree), sort_keys=False, allow_unicode=True, width=100)
    return "\n".join(lines) + "\n" + (body if tree else "{}\n")


def _is_set(one: ListedValue) -> bool:
    return one.source != "default"


def _put(tree: dict[Any, Any], path: KeyPath, value: Value) -> None:
    for step in path[:-1]:
        tree = tree.setdefault(step, {})
    tree[path[-1]] = value


def _lists(value: Any) -> Any:
    """Return a tree in which sections by index are lists."""
    if isinstance(value, dict):
        inner = {name: _lists(one) for name, one in value.items()}
        is_list = bool(inner) and all(isinstance(name, int) for name in inner)
        return list(inner.values()) if is_list else inner
    return value
