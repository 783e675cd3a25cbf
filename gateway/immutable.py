"""Changed copies of immutable values, for every package.

A value is a frozen `msgspec.Struct`. It is a frozen dataclass where a field is hidden from its text
or not compared, where a property is cached, or where pydantic stores it; a section of the
configuration that is a policy as well is a frozen model of pydantic.
"""

from typing import TYPE_CHECKING

__all__ = ["replace"]

if TYPE_CHECKING:
    from dataclasses import replace  # type checkers know its arguments for both kinds
else:
    import dataclasses

    from msgspec import Struct, structs

    def replace(value, /, **changes):
        """Return a copy of `value` with other values of some fields, as `copy.replace` of Python
        3.13; raises TypeError for an unknown field. Nothing validates a section's values."""
        if isinstance(value, Struct):
            return structs.replace(value, **changes)
        if dataclasses.is_dataclass(value):
            return dataclasses.replace(value, **changes)
        unknown = changes.keys() - type(value).model_fields.keys()
        if unknown:
            raise TypeError(f"{type(value).__name__} has no field {min(unknown)}")
        return value.model_copy(update=changes)
