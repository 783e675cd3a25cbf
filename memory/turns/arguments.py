"""The arguments of tools, as models send them."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from gateway.errors import ToolError

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
