"""Secrets that only the text around them tells, collected from the finders of each class.

What stands behind a word that tells counts if it can be a secret: placeholders, types, names from
code, and words about passwords do not.
"""

import re
from collections.abc import Iterator
from typing import Final

from safety.patterns import Pattern, literal
from safety.secret_detection.command_lines import find_in_commands
from safety.secret_detection.credential_pairs import SHORTEST_PASSWORD, find_credential_pairs
from safety.secret_detection.http_headers import find_in_headers
from safety.secret_detection.kinds import Finding, Level, SecretKind
from safety.secret_detection.labelled import find_labelled
from safety.secret_detection.trailing_comments import find_in_comments
from safety.secret_detection.vendor_names import SHORTEST_OF_VENDORS, find_after_vendor_names

SEED_PHRASE: Final = SecretKind(
    "seed_phrase", Level.PROBABLE, Pattern(literal("phrase"), ignore_case=True)
)
_SIGNS: Final = (*"-:=/($", "env ", "arg ", "set", "login", "identified")
"""One of them stands in every command with a secret."""
_MARKED: Final = re.compile(r"[\dA-Z!#$%^?](?:(?<=\d)|(?<=[a-z][A-Z])|(?<=[!#$%^?])(?=\w))")
_SHORTEST_HEADER: Final = 10
"""Characters of the shortest word in a header that holds a secret: `a=12345678` of a cookie."""
_SEED_STEMS: Final = ("seed", "recovery", "mnemonic", "backup", "wallet")
_SHORTEST_SEED: Final = len("seed") + 1 + 12 * len("abc ") - 1
_SEED: Final = re.compile(r"seed|recovery|mnemonic|backup|secret|wallet")
_WORDS: Final = re.compile(r"(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}\b")
_BEFORE_WORDS: Final = re.compile(r"[^\n:=]{0,50}[:=\n]\s{0,4}[\"']?")


def find_contextual(text: str, lowered: str, longest: int) -> list[Finding]:
    """Every secret that is told by what stands around it; the place is that of the value.

    `lowered` is the text in small letters, of the same length, `longest` the
    characters of its longest word.
    """
    found = find_labelled(text, lowered)
    if any(map(lowered.__contains__, _SIGNS)):
        found.extend(find_in_commands(text, lowered))
        found.extend(find_in_comments(text, lowered))
        if longest >= SHORTEST_OF_VENDORS:
            found.extend(find_after_vendor_names(text, lowered))
    if longest >= _SHORTEST_HEADER or "://" in text:
        found.extend(find_in_headers(text, lowered, longest))
    if longest >= SHORTEST_PASSWORD and _MARKED.search(text) is not None:
        found.extend(find_credential_pairs(text, lowered))
    if len(text) >= _SHORTEST_SEED and any(map(lowered.__contains__, _SEED_STEMS)):
        found.extend(_seed_phrases(text, lowered))
    return found


def _seed_phrases(text: str, lowered: str) -> Iterator[Finding]:
    done = 0
    for match in _SEED.finditer(lowered):
        if match.start() < done:
            continue
        before = _BEFORE_WORDS.match(text, match.end())
        words = _WORDS.match(lowered, before.end()) if before is not None else None
        if words is not None:
            done = words.end()
            yield Finding(SEED_PHRASE, *words.span())
