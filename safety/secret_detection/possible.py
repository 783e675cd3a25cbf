"""Rows of characters that may be a secret and may be something else: a person has to say."""

import re
from collections.abc import Iterator
from typing import Final

from safety.patterns import Pattern, some
from safety.secret_detection.kinds import Finding, Level, SecretKind

LONG_BASE64: Final = SecretKind(
    "long_base64", Level.POSSIBLE, Pattern(some("[A-Za-z0-9+/]", 64, 10_000))
)
FORTY_HEX: Final = SecretKind(
    "forty_hex_digits", Level.POSSIBLE, Pattern(some("[0-9a-f]", 40, 40)), exact=True
)
_ALONE: Final = re.compile(r"[A-Za-z0-9]")
_COMMIT: Final = re.compile(
    r"(?i)(?:commit|rev(?:ision)?|sha-?1?|hash|checksum|digest|tree|blob|parent|merge|head|git|"
    r"fingerprint|etag|cherry|transaction|txn?|txid|block|root|md5|integrity|@|pin(?:ned)?)\W{0,6}(?:\w{1,20}\W{1,3}){0,3}\Z"
)
_CONTEXT: Final = 60
_DIGEST: Final = re.compile(r"(?:0[xX])?[0-9a-fA-F]{64,128}")
_SHA: Final = re.compile(r"(?i)sha-?\d{1,3}[-:]\Z")


def find_possible_secrets(text: str) -> Iterator[Finding]:
    """Long rows of base64 that are no path and no digest, and forty hexadecimal digits that are no
    commit."""
    for match in LONG_BASE64.pattern.whole.finditer(text):
        if not _is_path(match[0]) and not _is_digest(text, *match.span()):
            yield Finding(LONG_BASE64, *match.span())
    for match in FORTY_HEX.pattern.whole.finditer(text):
        start, end = match.span()
        alone = not (start and _ALONE.match(text[start - 1])) and not _ALONE.match(text, end)
        if alone and not _COMMIT.search(text, max(0, start - _CONTEXT), start):
            yield Finding(FORTY_HEX, start, end)


def _is_digest(text: str, start: int, end: int) -> bool:
    """True for what the words before it call a hash, a transaction or a block."""
    before = max(0, start - _CONTEXT)
    if _SHA.search(text, before, start):
        return True
    whole = _DIGEST.fullmatch(text, start, end)
    return whole is not None and _COMMIT.search(text, before, start) is not None


def _is_path(value: str) -> bool:
    return value.count("/") > len(value) // 12 and "+" not in value
