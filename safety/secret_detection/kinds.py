"""The kinds of secrets."""

from enum import StrEnum

from msgspec import Struct

from safety.patterns import Pattern


class Level(StrEnum):
    """The certainty that a text is a secret."""

    DEFINITE = "definite"
    PROBABLE = "probable"
    POSSIBLE = "possible"


class SecretKind(Struct, frozen=True):
    """A kind of secret; `name` is a stable code for logs.

    `alone` kinds begin where no letter, digit, `_`, `/` or `+` precedes. `exact` ones also end so:
    further letters make them something else. Streams use the pattern only.
    """

    name: str
    level: Level
    pattern: Pattern
    alone: bool = False
    exact: bool = False


class SecretFinding(Struct, frozen=True):
    """A secret from `start` to `end` of a text; it does not contain the secret itself."""

    kind: SecretKind
    start: int
    end: int
