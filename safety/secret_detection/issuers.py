"""The formats of keys, one row each in `issuers.json`.

A row says where the key may stand, and has its name and its parts in their order:

- `anywhere`: a prefix with which nothing else begins. `alone`: the prefix is short, so no letter
  stands before it. `exactly`: the same, and it is something else when it is longer.
- A text is a part that reads so. The first text may hold several prefixes with spaces between them.
- `[characters, least, most]` or `[characters, count]` is a run of characters of one set, by its
  name in `SETS` or as a regular expression; `["UUID"]` is a UUID.

Prefixes, characters and lengths are those that issuers document, or that the public rules of secret
scanners agree on; lengths are lenient, because issuers lengthen their keys without notice.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from safety.patterns import Element, Pattern, literal, some
from safety.secret_detection.kinds import Level, SecretKind

Part: TypeAlias = str | Sequence[str | int]

KEY: Final = "[A-Za-z0-9_-]"
ANY_HEX: Final = "[A-Fa-f0-9]"
SETS: Final = {
    "LETTERS": "[a-z]",
    "DIGITS": "[0-9]",
    "HEX": "[a-f0-9]",
    "ANY_HEX": ANY_HEX,
    "DASHED_HEX": "[a-f0-9-]",
    "LOWER": "[a-z0-9]",
    "LOW_WORD": "[a-z0-9_]",
    "DASHED_LOWER": "[a-z0-9-]",
    "UPPER": "[A-Z0-9]",
    "ALNUM": "[A-Za-z0-9]",
    "WORD": "[A-Za-z0-9_]",
    "KEY": KEY,
    "DOTTED": "[A-Za-z0-9_.=-]",
    "PATH": "[A-Za-z0-9/]",
    "OFFICE": "[A-Za-z0-9@/-]",
    "BASE32": "[a-z2-7]",
    "BARE64": "[A-Za-z0-9+/]",
    "BASE64": "[A-Za-z0-9+/=]",
}
_UUID: Final = tuple(
    element
    for count in (8, 4, 4, 4, 12)
    for element in (*literal("-"), *some(ANY_HEX, count, count))
)[1:]
_PLACES: Final = {"anywhere": (False, False), "alone": (True, False), "exactly": (True, True)}
"""`alone` and `exact` of `SecretKind`."""


def _issued() -> Iterator[SecretKind]:
    table = Path(__file__).with_name("issuers.json").read_bytes()
    for rows in msgspec.json.decode(table, type=dict[str, list[list[Part]]]).values():
        for place, name, first, *rest in rows:
            alone, exact = _PLACES[str(place)]
            for start in first.split() if isinstance(first, str) else (first,):
                parts = (start, *rest)
                anchor = max(reversed([p for p in parts if isinstance(p, str)]), key=len)
                pattern = Pattern(tuple(e for part in parts for e in _elements(part)), anchor)
                yield SecretKind(str(name), Level.DEFINITE, pattern, alone, exact)


def _elements(part: Part) -> tuple[Element, ...]:
    if isinstance(part, str):
        return literal(part)
    characters, *counts = part
    if characters == "UUID":
        return _UUID
    name = str(characters)
    return some(name if name.startswith("[") else SETS[name], int(counts[0]), int(counts[-1]))


ISSUED: Final = tuple(_issued())
"""A definite kind for each row and each of its prefixes."""
