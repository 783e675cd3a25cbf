"""Reads a YAML file into plain values with the line of every key.

Scalars follow YAML 1.2: only `true` and `false` are booleans, `yes`, `on`, `012`, `12:30` and dates
stay text. Duplicate keys, custom tags and files over the limits are refused.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import yaml

from parley.config.problems import Path as KeyPath
from parley.config.problems import Problem, SettingsError, dotted

MAX_BYTES: Final = 256 * 1024
MAX_VALUES: Final = 20_000
"""Values of a whole file, including those that aliases repeat."""
MAX_DEPTH: Final = 20

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"

_BOOL: Final = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_INT: Final = re.compile(r"^[-+]?(?:0|[1-9][0-9]{0,30})$")
_FLOAT: Final = re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$")
_NULL: Final = re.compile(r"^(?:~|null|Null|NULL|)$")
_MERGE: Final = re.compile(r"^<<$")
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_KINDS: Final = ("map", "seq", "bool", "int", "float", "null", "str")
_TAGS: Final = {f"tag:yaml.org,2002:{kind}" for kind in _KINDS}
_FORMS: Final = {
    "tag:yaml.org,2002:bool": (_BOOL,),
    "tag:yaml.org,2002:int": (_INT,),
    "tag:yaml.org,2002:float": (_FLOAT, _INT),
    "tag:yaml.org,2002:null": (_NULL,),
}
"""The forms of a text that an explicit tag, such as `!!int`, may make something else of."""
_QUOTED: Final = re.compile(r"'[^'\s,]{4,}'")
"""Parts of the file in the parser's messages, which may belong to a secret."""


class _YamlLoader(yaml.SafeLoader):
    """The safe loader with the scalars of YAML 1.2."""


_YamlLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", _BOOL, "tTfF"),
    ("int", _INT, "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("null", _NULL, ["~", "n", "N", ""]),
    ("merge", _MERGE, "<"),
):
    _YamlLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, list(_first))


@dataclass(slots=True)
class YamlDocument:
    """The values of a file, and the line of each."""

    values: dict[str, Value]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    """The line of each value, from 1, by its path."""


def read_yaml(path: Path) -> YamlDocument:
    """Read and check a file. Raises `SettingsError`, whose texts never quote the file."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _refused("", f"{path} does not exist.", "`parley init` writes one.") from None
    except OSError as error:
        raise _refused("", f"{path} cannot be read: {error.strerror}.") from None
    if len(raw) > MAX_BYTES:
        raise _refused("", f"{path} is larger than {MAX_BYTES // 1024} KiB.")
    try:
        return parse_yaml(raw.decode("utf-8"), str(path))
    except UnicodeDecodeError:
        raise _refused("", f"{path} is not UTF-8 text.") from None


def parse_yaml(text: str, name: str) -> YamlDocument:
    """Parse the text of a file called `name`. Raises `SettingsError`."""
    try:
        loader = _YamlLoader(text)
        return _ValueBuilder(loader, name).document(loader.get_single_node())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        origin = f"{name} line {mark.line + 1}" if mark else name
        reason = _QUOTED.sub("(not shown)", str(error.problem or error.context))
        advice = "Check the indentation there, and put the value in quotes."
        raise _refused(origin, f"is not valid YAML: {reason}.", advice) from None
    except yaml.YAMLError:
        raise _refused(name, "is not valid YAML: a character that is not allowed.") from None
    except RecursionError:
        raise _refused(name, f"is nested deeper than {MAX_DEPTH} levels.") from None


class _ValueBuilder:
    """Turns nodes into values, counts them and records their lines."""

    def __init__(self, loader: _YamlLoader, name: str) -> None:
        self._loader = loader
        self._name = name
        self._left = MAX_VALUES
        self._lines: dict[KeyPath, int] = {}
        self._problems: list[Problem] = []

    def document(self, root: yaml.Node | None) -> YamlDocument:
        """The values of a whole file."""
        values = {} if root is None else self._value(root, ())
        if values is None:
            values = {}
        if not isinstance(values, dict):
            self._problem((), root, "should be sections with keys, such as `assistant:`.")
        if self._problems:
            raise SettingsError(self._problems)
        assert isinstance(values, dict)  # noqa: S101 -- for mypy; the problem above raised
        return YamlDocument(values, self._lines)

    def _problem(self, path: KeyPath, node: yaml.Node | None, text: str, advice: str = "") -> None:
        line = f" line {node.start_mark.line + 1}" if node is not None else ""
        self._problems.append(Problem(dotted(path), text, advice, f"{self._name}{line}"))

    def _value(self, node: yaml.Node, path: KeyPath) -> Value:
        self._left -= 1
        if self._left < 0:
            raise _refused(self._name, f"has more than {MAX_VALUES} values, aliases included.")
        if len(path) > MAX_DEPTH:
            raise _refused(self._name, f"is nested deeper than {MAX_DEPTH} levels.")
        if node.tag not in _TAGS:
            self._problem(path, node, "has a YAML tag, which is not allowed here.")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._item(child, (*path, n)) for n, child in enumerate(node.value)]
        if (forms := _FORMS.get(node.tag)) and not any(form.match(node.value) for form in forms):
            self._problem(path, node, "has a YAML tag that does not fit its value.")
            return None
        value: Value = self._loader.construct_object(node)
        if isinstance(value, str) and not _is_text(value):
            self._problem(path, node, "has an escape such as \\ud800 that is no character.")
            return None
        return value

    def _item(self, node: yaml.Node, path: KeyPath) -> Value:
        self._lines[path] = node.start_mark.line + 1
        return self._value(node, path)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Value]:
        own: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        for key_node, value_node in node.value:
            key, line = key_node.value, key_node.start_mark.line + 1
            if not isinstance(key, str) or not _is_text(key):
                self._problem(path, key_node, "has a key that is not a plain word.")
            elif key_node.tag == _MERGE_TAG:
                merged = {**self._merge(value_node, path, line), **merged}
            elif key in own:
                text = f"is duplicated; the first one is in line {self._lines[(*path, key)]}."
                self._problem((*path, key), key_node, text, "Keep one of them.")
            else:
                self._lines[(*path, key)] = line
                own[key] = self._value(value_node, (*path, key))
        return {**merged, **own}

    def _merge(self, node: yaml.Node, path: KeyPath, line: int) -> dict[str, Value]:
        """The values of `<<:`: a mapping, or several, of which the first has precedence."""
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        result: dict[str, Value] = {}
        for each in nodes:
            value = self._value(each, (*path, "<<"))
            if not isinstance(value, dict):
                self._problem((*path, "<<"), node, "should name a section (an alias such as *a).")
                continue
            for key, item in value.items():
                self._lines.setdefault((*path, key), line)
                result.setdefault(key, item)
        return result


def _is_text(value: str) -> bool:
    """False for half a pair of UTF-16, which an escape of YAML can name."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _refused(origin: str, text: str, advice: str = "") -> SettingsError:
    return SettingsError([Problem(origin, text, advice)])
