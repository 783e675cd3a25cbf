"""The kinds of secrets."""

from dataclasses import dataclass
from enum import StrEnum

from safety.patterns import Pattern


class Level(StrEnum):
    """How certain it is that a text is a secret."""

    DEFINITE = "definite"
    PROBABLE = "probable"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class SecretKind:
    """One kind of secret; `name` is a stable code, fit for logs.

    `alone` kinds begin where no letter, digit, `_`, `/` or `+` stands before. `exact` ones also
    end so: more letters make them something else. Streams look at the pattern only.
    """

    name: str
    level: Level
    pattern: Pattern
    alone: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret found at `start` to `end` of a text; it does not hold the secret itself."""

    kind: SecretKind
    start: int
    end: int
