"""Changes of values that are immutable for everybody but a test."""

from msgspec import Struct, structs


def force(value: object, name: str, replacement: object) -> None:
    """Set an attribute of a frozen structure or dataclass."""
    if isinstance(value, Struct):
        structs.force_setattr(value, name, replacement)
    else:
        object.__setattr__(value, name, replacement)
