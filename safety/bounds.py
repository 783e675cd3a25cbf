"""A frozen copy of JSON-like input within limits, taken before any check.

The checked copy is the used one, even if the caller changes its own object meanwhile. No step is
recursive, so nesting cannot exhaust the stack.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from msgspec import Struct

Frozen: TypeAlias = "bool | int | float | str | tuple[Frozen, ...] | Mapping[str, Frozen] | None"
"""An immutable JSON value: objects are read-only mappings, arrays are tuples."""

MAX_SHOWN: Final = 40
"""Characters of a key that an error repeats."""
MAX_NUMBER: Final = 2**63
"""The bound of whole numbers, positive and negative, that databases and other languages can
hold."""


class OutOfBounds(ValueError):
    """Refused input. `path` is its place, such as `tags[3]`; empty for the whole."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(f"{path or 'input'}: {problem}")
        self.problem = problem
        self.path = path


class InputBounds(Struct, frozen=True):
    """Limits of one input.

    `depth` counts containers inside the outermost one, `keys` those of one object, `elements` all
    values of the input, `name_bytes` one key, `total_bytes` the input as compact JSON in UTF-8.
    """

    depth: int = 5
    keys: int = 100
    elements: int = 500
    name_bytes: int = 256
    total_bytes: int = 10_000


DEFAULT: Final = InputBounds()


@dataclass(slots=True)
class _Container:
    """An object or array that is being frozen, and its place."""

    source: object
    parent: "_Container | None"
    key: str | int
    path: str
    depth: int
    children: dict[str | int, Frozen]


@dataclass(slots=True)
class _Budget:
    """The remaining part of the limits that apply to the whole input."""

    bounds: InputBounds
    elements: int = 0
    size: int = 0

    def spend(self, size: int, path: str) -> None:
        self.size += size
        if self.size > self.bounds.total_bytes:
            limit = self.bounds.total_bytes
            raise OutOfBounds(f"larger than {limit} bytes of JSON; shorten it", path)

    def count(self, path: str) -> None:
        self.elements += 1
        if self.elements > self.bounds.elements:
            raise OutOfBounds(f"more than {self.bounds.elements} values in all", path)


def snapshot(value: object, bounds: InputBounds = DEFAULT) -> Frozen:
    """Return a frozen copy of `value`.

    Objects are `dict`, arrays `list` or `tuple`; their subclasses are refused, because they can run
    code of their own. Raises `OutOfBounds` for values over the bounds, cycles, other types, keys
    that are not strings, numbers that JSON does not have, and lone surrogates.
    """
    budget = _Budget(bounds)
    if not _is_container(value):
        return _scalar(value, budget, "")
    root = _Container(value, None, "", "", 0, {})
    order = [root]
    for container in order:
        order.extend(_copy(container, budget))
    for container in reversed(order[1:]):
        if container.parent is not None:
            container.parent.children[container.key] = _freeze(container)
    return _freeze(root)


def identifier(value: object, name: str = "id", bounds: InputBounds = DEFAULT) -> str:
    """Return a key or id: a non-empty string of at most `bounds.name_bytes` bytes without control
    characters."""
    if type(value) is not str:
        raise OutOfBounds(f"must be a string, is {type(value).__name__}", name)
    if not value:
        raise OutOfBounds("is empty", name)
    if len(value) > bounds.name_bytes or _utf8(value, name) > bounds.name_bytes:
        raise OutOfBounds(f"longer than {bounds.name_bytes} bytes", name)
    if any(char < " " or char == "\x7f" for char in value):
        raise OutOfBounds("contains a control character", name)
    return value


def as_json(value: Frozen) -> str:
    """Return compact JSON of a snapshot."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)


def _is_container(value: object) -> bool:
    return type(value) in {dict, list, tuple}


def _copy(container: _Container, budget: _Budget) -> Sequence[_Container]:
    """Copy one level; return the containers in it."""
    items = _items(container, budget)
    budget.spend(2 + max(0, len(items) - 1), container.path)
    containers: list[_Container] = []
    for key, value in items:
        path = _step(container.path, key)
        budget.count(path)
        if isinstance(key, str):
            budget.spend(_json_size(key, path) + 1, path)
        container.children[key] = None
        if _is_container(value):
            containers.append(_descend(container, key, path, value, budget.bounds))
        else:
            container.children[key] = _scalar(value, budget, path)
    return containers


def _descend(
    parent: _Container, key: str | int, path: str, value: object, bounds: InputBounds
) -> _Container:
    above: _Container | None = parent
    while above is not None:
        if above.source is value:
            raise OutOfBounds("contains itself", path)
        above = above.parent
    if parent.depth >= bounds.depth:
        raise OutOfBounds(f"nested more than {bounds.depth} deep", path)
    return _Container(value, parent, key, path, parent.depth + 1, {})


def _items(container: _Container, budget: _Budget) -> list[tuple[str | int, object]]:
    """Return the present children; the size is checked before they are copied."""
    source, path, bounds = container.source, container.path, budget.bounds
    if isinstance(source, dict):
        if len(source) > bounds.keys:
            raise OutOfBounds(f"{len(source)} keys, at most {bounds.keys}", path)
        pairs = list(source.copy().items())
        return [(_name(key, path, bounds), value) for key, value in pairs]
    if not isinstance(source, list | tuple):
        raise OutOfBounds("is neither an object nor an array", path)
    if len(source) > bounds.elements:
        raise OutOfBounds(f"{len(source)} values, at most {bounds.elements}", path)
    return list(enumerate(tuple(source)))


def _name(key: object, path: str, bounds: InputBounds) -> str:
    if type(key) is not str:
        raise OutOfBounds(f"a key must be a string, is {type(key).__name__}", path)
    return identifier(key, _step(path, key), bounds)


def _scalar(value: object, budget: _Budget, path: str) -> Frozen:
    if value is None or type(value) is bool:
        budget.spend(4 if value is not False else 5, path)
        return value
    if type(value) is str:
        if len(value) > budget.bounds.total_bytes:
            budget.spend(len(value), path)
        budget.spend(_json_size(value, path), path)
        return value
    if type(value) is int:
        if not -MAX_NUMBER < value < MAX_NUMBER:
            raise OutOfBounds("a whole number beyond 64 bits", path)
        budget.spend(len(str(value)), path)
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise OutOfBounds("not a finite number", path)
        budget.spend(len(repr(value)), path)
        return value
    raise OutOfBounds(f"{type(value).__name__} is not a JSON value", path)


def _freeze(container: _Container) -> Frozen:
    if isinstance(container.source, dict):
        named = {str(key): value for key, value in container.children.items()}
        return MappingProxyType(named)
    return tuple(container.children.values())


def _json_size(text: str, path: str) -> int:
    _utf8(text, path)
    return len(json.dumps(text, ensure_ascii=False).encode())


def _utf8(text: str, path: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise OutOfBounds("contains half of a surrogate pair", path) from None


def _step(path: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    if key.isidentifier() and len(key) <= MAX_SHOWN:
        return f"{path}.{key}" if path else key
    return f"{path}[{key[:MAX_SHOWN]!a}]"
