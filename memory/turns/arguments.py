"""The arguments of tools, as models send them, and the short ids by which they name memories.

A short id is "mem-" and eight hexadecimal digits of the whole id. It is valid only for memories
that this turn showed to the model, so a guess or an external text reaches no other memory.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from gateway.errors import ToolError
from memory.model.record import SHORT_ID

MAX_PROBLEMS: Final = 5


class Arguments(BaseModel):
    """The arguments of a tool: known names and exact types only. Null for an optional one counts as
    left out, because many models write every name."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        optional = {name for name, one in cls.model_fields.items() if not one.is_required()}
        return {
            name: value
            for name, value in given.items()
            if value is not None or name not in optional
        }


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
