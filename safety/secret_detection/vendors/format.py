"""The form of a table of key formats: one issuer's format, one row; and sets of characters.

A row is a name and the parts of the key in their order. A text is a part that reads so, a tuple is
`(characters, least, most)` or `(characters, count)`. A first text may hold several prefixes with
spaces between them. Prefixes, characters and lengths are those that issuers document, or that the
public rules of secret scanners agree on; lengths are lenient, because issuers lengthen their keys
without notice.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from safety.patterns import Element, Pattern, literal, some
from safety.secret_detection.kinds import Level, SecretKind

LETTERS: Final = "[a-z]"
DIGITS: Final = "[0-9]"
HEX: Final = "[a-f0-9]"
ANY_HEX: Final = "[A-Fa-f0-9]"
DASHED_HEX: Final = "[a-f0-9-]"
LOWER: Final = "[a-z0-9]"
LOW_WORD: Final = "[a-z0-9_]"
DASHED_LOWER: Final = "[a-z0-9-]"
UPPER: Final = "[A-Z0-9]"
ALNUM: Final = "[A-Za-z0-9]"
WORD: Final = "[A-Za-z0-9_]"
KEY: Final = "[A-Za-z0-9_-]"
DOTTED: Final = "[A-Za-z0-9_.=-]"
PATH: Final = "[A-Za-z0-9/]"
OFFICE: Final = "[A-Za-z0-9@/-]"
BASE32: Final = "[a-z2-7]"
BARE64: Final = "[A-Za-z0-9+/]"
BASE64: Final = "[A-Za-z0-9+/=]"


Run: TypeAlias = tuple[str, int] | tuple[str, int, int]
Part: TypeAlias = str | Run

UUID: Final[tuple[Part, ...]] = (
    *((ANY_HEX, 8), "-", (ANY_HEX, 4), "-", (ANY_HEX, 4), "-"),
    *((ANY_HEX, 4), "-", (ANY_HEX, 12)),
)


class Format(Struct, frozen=True):
    """One row; `alone` and `exact` as in `SecretKind`."""

    name: str
    parts: tuple[Part, ...]
    alone: bool = False
    exact: bool = False


def anywhere(name: str, *parts: Part) -> Format:
    """A key with a prefix that nothing else begins with."""
    return Format(name, parts)


def alone(name: str, *parts: Part) -> Format:
    """A key whose prefix is short, so that no letter may stand before it."""
    return Format(name, parts, alone=True)


def exactly(name: str, *parts: Part) -> Format:
    """A key that is something else when it is longer."""
    return Format(name, parts, alone=True, exact=True)


def kinds_of(formats: Iterable[Format]) -> Iterator[SecretKind]:
    """A definite kind for each row and each of its prefixes."""
    for row in formats:
        for parts in _spelled(row.parts):
            anchor = max(reversed([p for p in parts if isinstance(p, str)]), key=len)
            elements = tuple(element for part in parts for element in _elements(part))
            pattern = Pattern(elements, anchor)
            yield SecretKind(row.name, Level.DEFINITE, pattern, row.alone, row.exact)


def _spelled(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    first, *rest = parts
    for start in first.split() if isinstance(first, str) else (first,):
        yield (start, *rest)


def _elements(part: Part) -> tuple[Element, ...]:
    return literal(part) if isinstance(part, str) else some(part[0], part[1], part[-1])
