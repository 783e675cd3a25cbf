"""Changed copies of both kinds of immutable values."""

from dataclasses import FrozenInstanceError, dataclass

import pytest
from msgspec import Struct

from gateway.immutable import replace


class Place(Struct, frozen=True):
    platform: str
    channel: str = "general"

    def __post_init__(self) -> None:
        if not self.platform:
            raise ValueError("a place has a platform")


@dataclass(frozen=True, slots=True)
class Stored:
    platform: str
    channel: str = "general"


@pytest.mark.parametrize("kind", [Place, Stored])
def test_a_copy_has_the_changed_fields_and_the_original_none(kind: type[Place | Stored]) -> None:
    first = kind("slack")
    assert replace(first, channel="random") == kind("slack", "random")
    assert first == kind("slack")


@pytest.mark.parametrize("kind", [Place, Stored])
def test_an_unknown_field_is_refused(kind: type[Place | Stored]) -> None:
    with pytest.raises(TypeError):
        replace(kind("slack"), room="random")  # type: ignore[call-arg]  # wrong on purpose


def test_a_copy_is_checked_as_a_new_value() -> None:
    with pytest.raises(ValueError, match="has a platform"):
        replace(Place("slack"), platform="")


@pytest.mark.parametrize("kind", [Place, Stored])
def test_a_field_cannot_be_assigned(kind: type[Place | Stored]) -> None:
    with pytest.raises((AttributeError, FrozenInstanceError)):
        setattr(kind("slack"), "channel", "random")  # noqa: B010  # an assignment would not type
