"""Finds copies of a known secret: unchanged, backwards, spaced out, encoded.

The secrets are those of one text or of one conversation; they are passed in and never stored here.
"""

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from binascii import Error
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from safety.patterns import Pattern, literal
from safety.secret_detection.kinds import Finding, Level, SecretKind

COPY: Final = SecretKind("copy_of_secret", Level.PROBABLE, Pattern(literal("=")))
MIN_SECRET: Final = 6
"""Minimum characters of a searched secret: a shorter one would be found in ordinary words."""
MAX_SECRETS: Final = 50
"""Maximum secrets that are searched in one text."""

_BETWEEN: Final = re.compile(r"[\s\-_.·|,/+*:]")
_MIN_SPACED: Final = 8
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{8,4000}={0,2}")
_HEX: Final = re.compile(r"[0-9a-fA-F]{12,4000}")
_MAX_ENCODED: Final = 300


def find_copies(text: str, secrets: Iterable[str]) -> Iterator[Finding]:
    """Yield every copy of one of the secrets; at most `MAX_SECRETS` of them are searched."""
    searched = _searchable(secrets)
    if not searched:
        return
    for form in {form for secret in searched for form in _forms(secret)}:
        begin = text.find(form)
        while begin >= 0:
            yield Finding(COPY, begin, begin + len(form))
            begin = text.find(form, begin + len(form))
    yield from _spaced(text, searched)
    yield from _encoded(text, searched)


def _searchable(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets that are long enough and not plain words."""
    unique = dict.fromkeys(
        secret for secret in secrets if len(secret) >= MIN_SECRET and not _is_word(secret)
    )
    return tuple(unique)[:MAX_SECRETS]


def _is_word(secret: str) -> bool:
    return secret.isalpha() and (secret.islower() or secret.istitle() or secret.isupper())


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield secret[::-1]
    yield raw.hex()
    yield raw.hex().upper()
    for encoded in (quote(secret, safe=""), quote(secret)):
        if encoded != secret:
            yield encoded
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(raw).decode().rstrip("=")


def _spaced(text: str, secrets: Sequence[str]) -> Iterator[Finding]:
    """Yield copies with spaces or signs between their characters, forwards and backwards."""
    squeezed = [_BETWEEN.sub("", secret) for secret in secrets]
    squeezed = [one for one in squeezed if len(one) >= _MIN_SPACED]
    if not squeezed:
        return
    places = [place for place, char in enumerate(text) if _BETWEEN.match(char) is None]
    dense = "".join(text[place] for place in places)
    for one in squeezed:
        for form in (one, one[::-1]):
            begin = dense.find(form)
            while begin >= 0:
                end = begin + len(form)
                yield Finding(COPY, places[begin], places[end - 1] + 1)
                begin = dense.find(form, end)


def _encoded(text: str, secrets: Sequence[str]) -> Iterator[Finding]:
    """Base64 and hexadecimal digits with one of the secrets somewhere in them."""
    raws = [secret.encode("utf-8", "surrogatepass") for secret in secrets]
    for number, match in enumerate(_ENCODED.finditer(text)):
        if number >= _MAX_ENCODED:
            return
        for data in _decoded(match[0]):
            if any(raw in data for raw in raws):
                yield Finding(COPY, *match.span())
                break


def _decoded(word: str) -> Iterator[bytes]:
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    with suppress(Error, ValueError):
        yield b64decode(plain + "=" * (-len(plain) % 4))
    if len(plain) % 2 == 0 and _HEX.fullmatch(plain):
        yield bytes.fromhex(plain)
