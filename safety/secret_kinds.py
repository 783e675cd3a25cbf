"""What a kind of secret is, and how the table of kinds is written."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from safety.patterns import Element, Pattern, literal, some

ALNUM: Final = "[A-Za-z0-9]"
KEY: Final = "[A-Za-z0-9_-]"
DOTTED: Final = "[A-Za-z0-9_.=-]"
HEX: Final = "[a-f0-9]"
ANY_HEX: Final = "[A-Fa-f0-9]"
UPPER: Final = "[A-Z0-9]"
BASE64: Final = "[A-Za-z0-9+/=]"


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


def token(name: str, anchor: str, chars: str, least: int, most: int) -> SecretKind:
    """A definite kind with a prefix that nothing else begins with."""
    return SecretKind(
        name, Level.DEFINITE, Pattern((*literal(anchor), *some(chars, least, most)), anchor)
    )


def short(name: str, anchor: str, chars: str, least: int, most: int) -> SecretKind:
    """A definite kind whose prefix is short, so that it must stand alone."""
    elements = (*literal(anchor), *some(chars, least, most))
    return SecretKind(name, Level.DEFINITE, Pattern(elements, anchor), alone=True)


def exact(name: str, anchor: str, chars: str, length: int) -> SecretKind:
    """A definite kind of one length."""
    elements = (*literal(anchor), *some(chars, length, length))
    return SecretKind(name, Level.DEFINITE, Pattern(elements, anchor), alone=True, exact=True)


def row(name: str, anchor: str, *parts: tuple[Element, ...], alone: bool = False) -> SecretKind:
    """A definite kind of several parts, one of which contains `anchor`."""
    elements = tuple(element for part in parts for element in part)
    return SecretKind(name, Level.DEFINITE, Pattern(elements, anchor), alone=alone)
