"""The arguments of tools, as models send them, and the short ids by which they name memories.

A short id is "mem-" and eight hexadecimal digits of the whole id. It is valid only for memories
that this turn showed to the model, so a guess or an external text reaches no other memory.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import from_json

from gateway.errors import ToolError
from memory.model.record import SHORT_ID

MAX_PROBLEMS: Final = 5


class Arguments(BaseModel):
    """The arguments of a tool: known names and exact types only. Null for an optional one counts as
    left out, because many models write every name. A list or an object in a string, and a number or
    a truth value written in another form, are read where no text is expected."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _as_models_write(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        fields, kinds = cls.model_fields, _kinds_of(cls)
        read = {
            name: as_declared(kinds[name], value) if name in kinds else value
            for name, value in given.items()
        }
        return {
            name: value
            for name, value in read.items()
            if value is not None or name not in fields or fields[name].is_required()
        }


MAX_WRITTEN: Final = 100_000
"""Characters of a list, an object or a number that is written in a string."""
MAX_WHOLE: Final = 2**53
"""The largest whole number that a decimal number stands for exactly."""
_LITERALS: Final = {"true": True, "false": False}
_WHOLE_NUMBER: Final = re.compile(r"[+-]?\d{1,15}(?:\.0{1,15})?", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?", re.ASCII)


def as_declared(kinds: frozenset[object], value: object) -> object:
    """Return a value as one of the types that a field declares, where another form means the same:
    5 for 5.0 and "5", a list for its JSON text, None for "null". Any other value is unchanged, for
    the validation to judge."""
    if isinstance(value, float) and int in kinds and float not in kinds:
        return int(value) if value.is_integer() and abs(value) <= MAX_WHOLE else value
    if not isinstance(value, str) or len(value) > MAX_WRITTEN:
        return value
    written = value.strip()
    if NoneType in kinds and written in ("null", ""):
        return None
    if str in kinds:
        return value
    if bool in kinds and written.casefold() in _LITERALS:
        return _LITERALS[written.casefold()]
    if int in kinds and _WHOLE_NUMBER.fullmatch(written):
        return int(written.partition(".")[0])
    if float in kinds and _NUMBER.fullmatch(written):
        return float(written)
    return _parsed(written, kinds, value)


def _parsed(written: str, kinds: frozenset[object], value: str) -> object:
    if not (list in kinds and written[:1] == "[") and not (dict in kinds and written[:1] == "{"):
        return value
    try:
        return from_json(written, allow_inf_nan=False)
    except ValueError:
        return value


@lru_cache(1_000)
def _kinds_of(model: type[BaseModel]) -> Mapping[str, frozenset[object]]:
    return {name: _kinds(field.annotation) for name, field in model.model_fields.items()}


def _kinds(declared: object) -> frozenset[object]:
    """Return the types of the values of an annotation: `str` also for texts of a `Literal`, `dict`
    also for a model."""
    origin, inner = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return _kinds(inner[0])
    if origin in (Union, UnionType):
        return frozenset().union(*map(_kinds, inner))
    if origin is Literal:
        return frozenset(map(type, inner))
    if isinstance(origin, type):
        return frozenset({dict if issubclass(origin, Mapping) else list})
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return frozenset({dict})
    return frozenset({declared})


A = TypeVar("A", bound=Arguments)


def read_arguments(model: type[A], arguments: Mapping[str, object]) -> A:
    """Return the arguments of a tool. Raises `ToolError` for those that cannot be used."""
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc']) or 'arguments'}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_input=False)[:MAX_PROBLEMS]
        )
        raise ToolError(f"these arguments cannot be used: {problems}") from None


MAX_SHOWN: Final = 1_000
"""Memories of one turn that have short ids."""
_WHOLE: Final = re.compile(r"mem-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class ShownIds:
    """The ids that the model reads in one turn."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def add(self, memory_ids: Iterable[str]) -> None:
        """Note ids that the model is about to read."""
        for memory_id in memory_ids:
            if len(self._ids) < MAX_SHOWN:
                self._ids.add(memory_id)

    def named(self, name: str) -> str | None:
        """Return the full id that the model means; None if none or two of this name were shown. A
        full id is returned unchanged: the store checks the access."""
        short = name.strip().strip("[]()").casefold()
        if _WHOLE.fullmatch(short) is not None:
            return short
        if len(short) < SHORT_ID:
            return None
        matches = [one for one in self._ids if one.startswith(short)]
        return matches[0] if len(matches) == 1 else None
