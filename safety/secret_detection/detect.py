"""Recognises credentials in text, in three degrees of certainty.

The degrees and their first patterns come from the memory rules: definite ones are always removed,
probable ones are removed with a note, possible ones are shown to the person. The formats of issuers
are in `issuers.json`, labelled secrets in `labelled.py` and `contextual.py`, secrets by form alone
in `unlabelled.py`.

`may_label` and `may_hold_token` decide at low cost if two adjacent texts must be read together to
find a secret in both. Nearly all pairs of messages need not: the first one has no word that labels
a secret, and no part of a token, key or number at its end. Both tests are necessary conditions of
the finders; a text that passes is not necessarily a secret.
"""

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from binascii import Error
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from safety.decoding import is_visible, visible
from safety.patterns import Pattern, literal
from safety.secret_detection.api_keys import (
    SHORTEST,
    TOKENS,
    find_api_keys,
    find_prefixed_keys,
    unlabelled_aws_secrets,
)
from safety.secret_detection.command_lines import STATEMENT_STEMS
from safety.secret_detection.contextual import PAIR_WORDS, find_contextual
from safety.secret_detection.http_headers import CONNECTION_STRING, HEADER_STEMS
from safety.secret_detection.kinds import Level, SecretFinding, SecretKind
from safety.secret_detection.label_words import ANY_WORD, ASCII_WORDS, VENDOR_NAMES, expression_of
from safety.secret_detection.private_keys import ARMOUR, PRIVATE_KEY, find_private_keys
from safety.secret_detection.unlabelled import (
    FORTY_HEX,
    FOUR_DIGITS,
    LONG_BASE64,
    SHORTEST_HASH,
    SHORTEST_UNLABELLED,
    find_password_hashes,
    find_possible_secrets,
    find_unlabelled,
)
from safety.secret_detection.value_spans import whole_values
from safety.unicode import REDACTED, cut

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


def find_copies(text: str, secrets: Iterable[str]) -> Iterator[SecretFinding]:
    """Yield every copy of one of the secrets; at most `MAX_SECRETS` of them are searched."""
    searched = _searchable(secrets)
    if not searched:
        return
    for form in {form for secret in searched for form in _forms(secret)}:
        begin = text.find(form)
        while begin >= 0:
            yield SecretFinding(COPY, begin, begin + len(form))
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


def _spaced(text: str, secrets: Sequence[str]) -> Iterator[SecretFinding]:
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
                yield SecretFinding(COPY, places[begin], places[end - 1] + 1)
                begin = dense.find(form, end)


def _encoded(text: str, secrets: Sequence[str]) -> Iterator[SecretFinding]:
    """Base64 and hexadecimal digits with one of the secrets somewhere in them."""
    raws = [secret.encode("utf-8", "surrogatepass") for secret in secrets]
    for number, match in enumerate(_ENCODED.finditer(text)):
        if number >= _MAX_ENCODED:
            return
        for data in _decoded(match[0]):
            if any(raw in data for raw in raws):
                yield SecretFinding(COPY, *match.span())
                break


def _decoded(word: str) -> Iterator[bytes]:
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    with suppress(Error, ValueError):
        yield b64decode(plain + "=" * (-len(plain) % 4))
    if len(plain) % 2 == 0 and _HEX.fullmatch(plain):
        yield bytes.fromhex(plain)


__all__ = [
    "CONNECTION_STRING",
    "KINDS",
    "REDACTED",
    "Level",
    "Redaction",
    "SecretFinding",
    "SecretKind",
    "find_secrets",
    "redact_and_cut",
    "redact_secrets",
    "secret_of",
]

_SHORTEST_BY_SHAPE: Final = 23
"""Characters of the shortest word that is recognised by its form, or is a line of a private key."""
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
KINDS: Final[tuple[SecretKind, ...]] = (
    *TOKENS,
    PRIVATE_KEY,
    CONNECTION_STRING,
    LONG_BASE64,
    FORTY_HEX,
)
"""All kinds with a special form, the most certain first."""

_BEYOND: Final = 4_000
"""Characters behind a cut that are searched: those of the longest tokens."""
_PASSES: Final = 4
_ALL: Final = list(Level)


class Redaction(Struct, frozen=True):
    """A text with `[SECRET_REDACTED]` for every definite and probable secret.

    `findings` also has the possible ones, which remain in `text` until a person decides. Their
    places are those in the given text.
    """

    text: str
    findings: tuple[SecretFinding, ...]


def find_secrets(text: str, known: Sequence[str] = ()) -> list[SecretFinding]:
    """Return all secrets of a text in order of their place; of overlapping ones the most certain.

    Copies of a secret of the text, and of one that is `known` from elsewhere, are found too:
    encoded, backwards, spaced out. Hidden characters are ignored. The time is linear in the length
    of the text.
    """
    view = None if is_visible(text) else visible(text)
    if view is not None:
        text = view.text
    findings = _findings(text)
    if not findings and not known:
        return findings
    secrets = [*known, *(secret_of(text, one) for one in findings if _is_sure(one))]
    if secrets:
        copies = whole_values(text, _without_overlaps(list(find_copies(text, secrets))))
        findings = _without_overlaps([*findings, *copies])
    if view is None:
        return findings
    return [SecretFinding(one.kind, *view.span(one.start, one.end)) for one in findings]


def secret_of(text: str, finding: SecretFinding) -> str:
    """Return the secret itself: of an address with a password in it, the password."""
    secret = text[finding.start : finding.end]
    if finding.kind is CONNECTION_STRING:
        return secret.removeprefix("://").rstrip("@").partition(":")[2]
    return secret


def _is_sure(finding: SecretFinding) -> bool:
    return finding.kind.level is not Level.POSSIBLE


def _findings(text: str) -> list[SecretFinding]:
    lowered = _lowered(text)
    words = text.split()
    longest = max(map(len, words), default=0)
    by_shape = False
    findings: list[SecretFinding] = []
    if longest >= SHORTEST:
        runs = words if text.isascii() else _NOT_ASCII.sub(" ", text).split()
        findings.extend(find_api_keys(text, runs))
        by_shape = any(len(run) >= _SHORTEST_BY_SHAPE for run in runs)
    if by_shape or ARMOUR.search(text):
        findings.extend(find_private_keys(text))
    if by_shape:
        findings.extend(unlabelled_aws_secrets(text, findings))
    findings.extend(find_contextual(text, lowered, longest))
    if longest >= SHORTEST_HASH:
        findings.extend(find_password_hashes(text, lowered, longest))
    if longest >= SHORTEST_UNLABELLED or FOUR_DIGITS.search(text):
        findings.extend(find_unlabelled(text, longest))
    if by_shape:
        findings.extend(find_prefixed_keys(text))
        findings.extend(find_possible_secrets(text))
    return list(whole_values(text, _without_overlaps(findings))) if findings else []


def _lowered(text: str) -> str:
    """Return the text in small letters, of the same length."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def redact_secrets(text: str, known: Sequence[str] = ()) -> Redaction:
    """Return the text without its definite and probable secrets; idempotent.

    `known` are secrets from elsewhere in the conversation; their copies are removed too.
    """
    findings = find_secrets(text, known)
    if not findings:
        return Redaction(text, ())
    for _ in range(_PASSES):
        redacted, starts = _without(text, findings)
        if redacted == text:
            break
        # What ends where a removed secret began is whole only now.
        more = [f for f in find_secrets(redacted, known) if _is_sure(f)]
        if not more:
            break
        moved = [SecretFinding(f.kind, starts[f.start], starts[f.end]) for f in more]
        findings = _without_overlaps([*findings, *moved])
    return Redaction(_without(text, findings)[0], tuple(findings))


def redact_and_cut(text: str, limit: int, known: Sequence[str] = ()) -> str:
    """Return at most `limit` characters from the beginning of a text without its definite and
    probable secrets. A secret that the cut would divide is found whole, so that no part of it
    remains."""
    return cut(redact_secrets(text[: limit + _BEYOND], known).text, limit)


def _without(text: str, findings: list[SecretFinding]) -> tuple[str, list[int]]:
    """Return the text without its certain secrets, and the original position of each character."""
    pieces: list[str] = []
    starts: list[int] = []
    position = 0
    for finding in findings:
        if _is_sure(finding):
            pieces.extend((text[position : finding.start], REDACTED))
            starts.extend(range(position, finding.start + 1))
            starts.extend([finding.end] * (len(REDACTED) - 1))
            position = finding.end
    pieces.append(text[position:])
    starts.extend(range(position, len(text) + 1))
    return "".join(pieces), starts


def _without_overlaps(findings: list[SecretFinding]) -> list[SecretFinding]:
    """Join overlapping findings into one: the most certain, over their common span."""
    kept: list[SecretFinding] = []
    for finding in sorted(findings, key=lambda f: (f.start, _ALL.index(f.kind.level), -f.end)):
        previous = kept[-1] if kept else None
        if previous is None or finding.start >= previous.end:
            kept.append(finding)
            continue
        surest = min(previous, finding, key=lambda f: _ALL.index(f.kind.level))
        if Level.POSSIBLE in {previous.kind.level, finding.kind.level}:
            kept[-1] = surest
        else:
            kept[-1] = SecretFinding(surest.kind, previous.start, max(previous.end, finding.end))
    return kept


_QUOTED_NAMES: Final = ('"d"', "'d'")
"""The name of a private key in JOSE (RFC 7517)."""
_SEEDS: Final = ("seed", "recovery", "mnemonic", "backup", "wallet")
_STEMS: Final = (*STATEMENT_STEMS, *HEADER_STEMS, *VENDOR_NAMES, *_QUOTED_NAMES, *_SEEDS)
_STEM: Final = expression_of({stem.strip() for stem in _STEMS})


def may_label(text: str) -> bool:
    """Return False if no word in the text can label a secret on the next line."""
    if not is_visible(text):
        return True
    lowered = text.lower()
    words = ASCII_WORDS if text.isascii() else ANY_WORD
    return (
        len(lowered) != len(text)
        or words.search(lowered) is not None
        or _STEM.search(lowered) is not None
        or PAIR_WORDS.search(lowered) is not None
    )


def may_hold_token(text: str) -> bool:
    """Return False if the text has no secret that is recognised by its form alone."""
    return (
        max(map(len, text.split()), default=0) >= SHORTEST
        or FOUR_DIGITS.search(text) is not None
        or ARMOUR.search(text) is not None
        or not is_visible(text)
    )
