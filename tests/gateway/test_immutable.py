"""Changed copies of each kind of immutable values."""

from dataclasses import FrozenInstanceError, dataclass
from typing import TypeAlias

import pytest
from msgspec import Struct

from gateway.immutable import replace
from gateway.settings import Section


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


class Configured(Section):
    platform: str
    channel: str = "general"


Kind: TypeAlias = type[Place | Stored | Configured]
KINDS = (Place, Stored, Configured)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_has_the_changed_fields_and_the_original_none(kind: Kind) -> None:
    first = kind(platform="slack")
    assert replace(first, channel="random") == kind(platform="slack", channel="random")
    assert first == kind(platform="slack")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_field_is_refused(kind: Kind) -> None:
    with pytest.raises(TypeError):
        replace(kind(platform="slack"), room="random")  # type: ignore[call-arg]  # wrong on purpose


def test_a_copy_is_checked_as_a_new_value() -> None:
    with pytest.raises(ValueError, match="has a platform"):
        replace(Place("slack"), platform="")


@pytest.mark.parametrize("kind", [Place, Stored])
def test_a_field_cannot_be_assigned(kind: type[Place | Stored]) -> None:
    with pytest.raises((AttributeError, FrozenInstanceError)):
        setattr(kind("slack"), "channel", "random")  # noqa: B010  # an assignment would not type
