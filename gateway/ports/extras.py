"""The extras of a message that only one platform has: typed in its adapter, JSON elsewhere."""

from functools import cache
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from gateway.message import Extras


class PlatformExtras(Protocol):
    """A frozen dataclass of an adapter; each of its fields has a default and is JSON."""

    @property
    def details(self) -> str:
        """The extras in a few words without a person's text, such as "2 mentions, @everyone";
        empty where there is nothing to say."""
        ...


Kind = TypeVar("Kind", bound=PlatformExtras)


def packed(extras: PlatformExtras) -> Extras | None:
    """The extras as a message carries them; None where all are the defaults."""
    if extras == type(extras)():
        return None
    return Extras(to_jsonable_python(extras), extras.details)


def unpacked(kind: type[Kind], extras: Extras | None) -> Kind:
    """The extras of a message as their adapter's type. Raises pydantic's `ValidationError`."""
    return kind() if extras is None else _reader(kind).validate_python(extras.values)


def counted(number: int, name: str) -> str:
    """ "2 mentions"; empty for none."""
    return f"{number} {name}{'s' * (number != 1)}" if number else ""


@cache
def _reader(kind: type[Kind]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
