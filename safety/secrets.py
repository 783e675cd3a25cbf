"""Recognising credentials in text, in three degrees of certainty.

The degrees and their first patterns come from the memory rules: definite ones are always removed,
probable ones removed with a note, possible ones shown to the person. The formats of issuers are
in `vendors/`, what only the words around tell in `assigned.py`, what only the shape tells in
`shaped.py`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from safety.assigned import CONNECTION_STRING, find_assigned
from safety.cut import REDACTED
from safety.patterns import Pattern, literal, some
from safety.private_keys import PRIVATE_KEY, find_private_keys
from safety.secret_kinds import Finding, Level, SecretKind
from safety.shaped import find_shaped
from safety.vendors import ISSUED
from safety.vendors.alphabets import KEY

__all__ = [
    "CONNECTION_STRING",
    "KINDS",
    "REDACTED",
    "Finding",
    "Level",
    "Redaction",
    "SecretKind",
    "find_secrets",
    "redact_secrets",
]

_GAP: Final = some(r"\s", 0, 100)
_AWS_SECRET: Final = SecretKind(
    "aws_secret",
    Level.DEFINITE,
    Pattern(
        (
            *literal("secret_access_key"),
            *some("[\"']", 0, 1),
            *_GAP,
            *some("[:=]", 1, 1),
            *_GAP,
            *some("[\"']", 0, 1),
            *some("[A-Za-z0-9/+=]", 40, 40),
        ),
        ignore_case=True,
    ),
)
_JWT: Final = SecretKind(
    "jwt",
    Level.DEFINITE,
    Pattern(
        (*literal("eyJ"), *some(KEY, 8, 300), *literal(".eyJ"), *some("[A-Za-z0-9_.-]", 8, 4000)),
        "eyJ",
    ),
)
_LONG_BASE64: Final = SecretKind(
    "long_base64", Level.POSSIBLE, Pattern(some("[A-Za-z0-9+/]", 64, 10_000))
)
_FORTY_HEX: Final = SecretKind(
    "forty_hex_digits", Level.POSSIBLE, Pattern(some("[0-9a-f]", 40, 40)), exact=True
)

_TOKENS: Final[tuple[SecretKind, ...]] = (*ISSUED, _AWS_SECRET, _JWT)
_UNSPACED: Final = tuple(kind for kind in _TOKENS if kind.pattern.unspaced)
_SPACED: Final = tuple(kind for kind in _TOKENS if not kind.pattern.unspaced)
_SHORTEST: Final = min(kind.pattern.shortest for kind in _UNSPACED)
"""Without a word of this length a text holds none of `_UNSPACED`: most texts have none."""
_SHORTEST_BY_SHAPE: Final = 23
"""Without one of this length nothing that only its shape tells, nor a key's body."""
_ARMOUR: Final = re.compile("PRIVATE|Private|PuTTY")
KINDS: Final[tuple[SecretKind, ...]] = (
    *_TOKENS,
    PRIVATE_KEY,
    CONNECTION_STRING,
    _LONG_BASE64,
    _FORTY_HEX,
)
"""Every kind that its form alone tells, the most certain first."""

_BEFORE: Final = re.compile(r"[A-Za-z0-9+]")
_ADDRESS: Final = re.compile(r"://[^\s\"'<>]{0,300}/\Z")
_ESCAPED: Final = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})\Z")
"""A line's end, or a sign, as JSON and addresses write it."""
_WORD_OR_NUMBER: Final = r"(?:[A-Z]?[a-z]+\d{0,4}|[A-Z]+\d{0,4}|\d{1,4})"
_WORDS: Final = re.compile(rf"{_WORD_OR_NUMBER}(?:[._-]+{_WORD_OR_NUMBER})*")
_AFTER: Final = re.compile(r"[A-Za-z0-9]")
_REST: Final = re.compile(r"[A-Za-z0-9_+/=-]{0,4000}")
_BARE_AWS_SECRET: Final = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_COMMIT: Final = re.compile(
    r"(?i)(?:commit|rev(?:ision)?|sha-?1?|hash|checksum|digest|tree|blob|parent|merge|head|git|"
    r"fingerprint|etag|cherry|@|pin(?:ned)?)\W{0,6}(?:\w{1,20}\W{1,3}){0,3}\Z"
)
_CONTEXT: Final = 60
_ADDRESS_LENGTH: Final = 310
_PASSES: Final = 4
_SAMPLE: Final = re.compile(
    r"(?i)(?:\A|[-_])(?:your|insert|replace|example|placeholder|redacted|dummy)(?:[-_]|\Z)"
)
_ALL: Final = list(Level)


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text with `[SECRET_REDACTED]` for every definite and probable secret.

    `findings` holds the possible ones as well, which still stand in `text`: a person has to say.
    Their places are those in the text that was given.
    """

    text: str
    findings: tuple[Finding, ...]


def find_secrets(text: str) -> list[Finding]:
    """All secrets of a text in order of their place; overlapping ones only once, the surest.

    Time grows with the length of the text and nothing else.
    """
    words = text.split()
    longest = max(map(len, words), default=0)
    by_shape = longest >= _SHORTEST_BY_SHAPE
    found = list(find_private_keys(text)) if by_shape or _ARMOUR.search(text) else []
    for kind in _SPACED:
        if kind.pattern.anchor in text:
            found.extend(_of_kind(kind, text))
    if longest >= _SHORTEST:
        # What is looked for in vain must cost little: a page holds few long words.
        within = " ".join(word for word in words if len(word) >= _SHORTEST)
        for kind in _UNSPACED:
            if kind.pattern.anchor in within:
                found.extend(_of_kind(kind, text))
    if by_shape:
        found.extend(_bare_aws_secrets(text, found))
    found.extend(find_assigned(text, longest))
    if by_shape:
        found.extend(find_shaped(text))
        found.extend(_possible(text))
    return _without_overlaps(found) if found else []


def redact_secrets(text: str) -> Redaction:
    """The text without its definite and probable secrets; doing it twice changes nothing.

    Expects what `safety.unicode.safe_unicode` returns: a secret with hidden characters in it is
    not seen.
    """
    findings = find_secrets(text)
    if not findings:
        return Redaction(text, ())
    for _ in range(_PASSES):
        redacted, starts = _without(text, findings)
        if redacted == text:
            break
        # What ends where a removed secret began is whole only now.
        more = [f for f in find_secrets(redacted) if f.kind.level is not Level.POSSIBLE]
        if not more:
            break
        moved = [Finding(f.kind, starts[f.start], starts[f.end]) for f in more]
        findings = _without_overlaps([*findings, *moved])
    return Redaction(_without(text, findings)[0], tuple(findings))


def _without(text: str, findings: list[Finding]) -> tuple[str, list[int]]:
    """The text without its sure secrets, and where each of its characters was before."""
    pieces: list[str] = []
    starts: list[int] = []
    position = 0
    for finding in findings:
        if finding.kind.level is not Level.POSSIBLE:
            pieces.extend((text[position : finding.start], REDACTED))
            starts.extend(range(position, finding.start + 1))
            starts.extend([finding.end] * (len(REDACTED) - 1))
            position = finding.end
    pieces.append(text[position:])
    starts.extend(range(position, len(text) + 1))
    return "".join(pieces), starts


def _of_kind(kind: SecretKind, text: str) -> Iterator[Finding]:
    for match in kind.pattern.whole.finditer(text):
        start, end = match.span()
        if kind.alone and not _stands_alone(text, start):
            continue
        if kind.exact and _AFTER.match(text, end):
            continue
        if kind.alone and not kind.exact and not _is_made(match[0], kind.pattern.anchor):
            continue
        if _is_sample(match[0], kind.pattern.anchor):
            continue
        yield Finding(kind, start, end if kind.exact else _whole_end(text, end))


def _stands_alone(text: str, start: int) -> bool:
    """No letter or digit before: an address may end there with `/`, emphasis begin with `_`."""
    if not start or _ESCAPED.search(text, max(0, start - 3), start):
        return True
    before = text[start - 1]
    if before == "/":
        return bool(_ADDRESS.search(text, max(0, start - _ADDRESS_LENGTH), start))
    if before == "_":
        return start == 1 or not (text[start - 2].isalnum() or text[start - 2] == "_")
    return not _BEFORE.match(before)


def _whole_end(text: str, end: int) -> int:
    """Issuers lengthen their tokens: what goes on in their alphabet belongs to them."""
    rest = _REST.match(text, end)
    end = rest.end() if rest else end
    while text[end - 1] in ".-=" and text[end - 2] in ".-":
        end -= 1
    return end - 1 if text[end - 1] == "." else end


def _is_made(token: str, anchor: str = "") -> bool:
    """No row of words: letters and digits of chance."""
    if _WORDS.fullmatch(token.removeprefix(anchor)):
        return False
    digits = any(char.isdigit() for char in token[4:])
    mixed = token[4:].lower() != token[4:] and token[4:].upper() != token[4:]
    return len(set(token)) >= 8 and (digits or mixed)


def _is_sample(token: str, anchor: str) -> bool:
    body = token.removeprefix(anchor)
    return set(body) <= set("xX*._-0") or bool(_SAMPLE.search(body))


def _bare_aws_secrets(text: str, found: list[Finding]) -> Iterator[Finding]:
    """Beside the id of a key, forty characters of base64 are the key."""
    if not any(finding.kind.name == "aws_key_id" for finding in found):
        return
    for match in _BARE_AWS_SECRET.finditer(text):
        if _is_made(match[0]) and not match[0].islower():
            yield Finding(_AWS_SECRET, match.start(), match.end())


def _possible(text: str) -> Iterator[Finding]:
    for match in _LONG_BASE64.pattern.whole.finditer(text):
        if not _is_path(match[0]):
            yield Finding(_LONG_BASE64, *match.span())
    for match in _FORTY_HEX.pattern.whole.finditer(text):
        start, end = match.span()
        alone = not (start and _AFTER.match(text[start - 1])) and not _AFTER.match(text, end)
        if alone and not _COMMIT.search(text, max(0, start - _CONTEXT), start):
            yield Finding(_FORTY_HEX, start, end)


def _is_path(value: str) -> bool:
    return value.count("/") > len(value) // 12 and "+" not in value


def _without_overlaps(found: list[Finding]) -> list[Finding]:
    """Overlapping findings become one: the surest, over all that they cover."""
    kept: list[Finding] = []
    for finding in sorted(found, key=lambda f: (f.start, _ALL.index(f.kind.level), -f.end)):
        previous = kept[-1] if kept else None
        if previous is None or finding.start >= previous.end:
            kept.append(finding)
            continue
        surest = min(previous, finding, key=lambda f: _ALL.index(f.kind.level))
        if Level.POSSIBLE in {previous.kind.level, finding.kind.level}:
            kept[-1] = surest
        else:
            kept[-1] = Finding(surest.kind, previous.start, max(previous.end, finding.end))
    return kept
