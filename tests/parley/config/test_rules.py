"""The rule of a key, in sentences."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, SecretStr, StringConstraints

from gateway.text import Joined
from parley.config.rules import rule_of

Short = Annotated[str, StringConstraints(max_length=20)]


class Sample(BaseModel):
    switch: bool = False
    count: Annotated[int, Field(ge=1, le=3_650)] = 1
    ratio: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    maybe: Annotated[int, Field(ge=0)] | None = None
    over: Annotated[float, Field(gt=0)] = 1
    below: Annotated[int, Field(le=1)] = 1
    name: Short = ""
    letter: Annotated[str, StringConstraints(max_length=1)] = ""
    secret: SecretStr | None = None
    way: Literal["a", "b"] = "a"
    ways: tuple[Literal["a", "b"], ...] = ()
    names: Annotated[tuple[Short, ...], Field(max_length=4)] = ()
    maybe_names: tuple[Short, ...] | None = None
    numbers: tuple[int, ...] = ()
    by_name: dict[Short, int] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("switch", "`true` or `false`."),
        ("count", "A whole number. From 1 to 3,650."),
        ("ratio", "A number. More than 0, and at most 0.5."),
        ("maybe", "A whole number. At least 0."),
        ("over", "A number. More than 0."),
        ("below", "A whole number. At most 1."),
        ("name", "A text. At most 20 characters."),
        ("letter", "A text. At most 1 character."),
        ("secret", "A secret."),
        ("way", "One of `a` or `b`."),
        ("ways", "Any of `a` or `b`."),
        ("names", "A list of texts. At most 4 entries. Each has at most 20 characters."),
        ("maybe_names", "A list of texts. Each has at most 20 characters."),
        ("numbers", "A list of numbers."),
        ("by_name", "A section by name."),
    ],
)
def test_a_rule_has_the_type_and_the_bounds(key: str, rule: str) -> None:
    said = rule_of(Sample.model_fields[key])
    assert isinstance(said, Joined)
    assert said.english == rule
