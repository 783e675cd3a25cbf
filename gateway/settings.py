"""The base of the sections of the configuration, and the types of their keys.

The text under a field of a section is its documentation: `docs/reference/configuration.md` has it.
"""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints


class Section(BaseModel):
    """Base of all sections: unknown keys are refused, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _id_as_text(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


Id = Annotated[
    str,
    BeforeValidator(_id_as_text),
    StringConstraints(min_length=1, max_length=200, strip_whitespace=True),
]
"""An id of a platform, bare or as "platform:id"; numbers need no quotes."""
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
