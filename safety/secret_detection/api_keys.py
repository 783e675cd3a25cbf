"""Finds tokens by their form alone: those of the issuers in `issuers.json`, keys of AWS, JSON Web
Tokens (RFC 7519); and keys of issuers that no table contains.

The latter have a short prefix, a separator and a long random sequence. Nearly all issuers give
their keys this form. Ids have it as well, so prefixes that are known for ids, and sequences with
words, are ignored.

A row of `issuers.json` says where the key may stand, and has its name and its parts in their order:

- `anywhere`: a prefix with which nothing else begins. `alone`: the prefix is short, so no letter
  stands before it. `exactly`: the same, and it is something else when it is longer.
- A text is a part that reads so. The first text may hold several prefixes with spaces between them.
- `[characters, least, most]` or `[characters, count]` is a run of characters of one set, by its
  name in `SETS` or as a regular expression; `["UUID"]` is a UUID.

Prefixes, characters and lengths are those that issuers document, or that the public rules of secret
scanners agree on; lengths are lenient, because issuers lengthen their keys without notice.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from safety.patterns import Element, Pattern, literal, some
from safety.secret_detection.kinds import Level, SecretFinding, SecretKind
from safety.secret_detection.unlabelled import is_aws_secret

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
_JWT_HEADER: Final = 303
"""Characters of the longest searched header of a JSON Web Token."""
_JWT_LEAST: Final = 11
_JWT_REST: Final = re.compile(r"\.eyJ[A-Za-z0-9_.-]{8,4000}")
_KEY_SIGNS: Final = "".join(char for char in map(chr, range(128)) if re.match(KEY, char))

TOKENS: Final[tuple[SecretKind, ...]] = (*ISSUED, _AWS_SECRET, _JWT)
"""All kinds; the earlier one is taken if two match the same text."""
_IN_ONE_WORD: Final = tuple(k for k in TOKENS if k.pattern.in_one_word and k is not _JWT)
_OTHERS: Final = tuple(k for k in TOKENS if not k.pattern.in_one_word)
_BY_ANCHOR: Final[dict[str, list[tuple[int, SecretKind]]]] = {}
for _number, _one in enumerate(_IN_ONE_WORD):
    _BY_ANCHOR.setdefault(_one.pattern.anchor, []).append((_number, _one))
SHORTEST: Final = min(kind.pattern.shortest for kind in _IN_ONE_WORD)
"""Characters of the shortest token that is one word; most texts have no such word."""
_PUNCTUATION: Final = ".,:;!?()\"'"

_BEFORE: Final = re.compile(r"[A-Za-z0-9+]")
_ADDRESS_LENGTH: Final = 310
_ADDRESS: Final = re.compile(r"://[^\s\"'<>]{0,300}/\Z")
_ESCAPED: Final = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})\Z")
"""A line's end, or a sign, as JSON and addresses write it."""
_WORD_OR_NUMBER: Final = r"(?:[A-Z]?[a-z]+\d{0,4}|[A-Z]+\d{0,4}|\d{1,4})"
_WORDS: Final = re.compile(rf"{_WORD_OR_NUMBER}(?:[._-]+{_WORD_OR_NUMBER})*")
_AFTER: Final = re.compile(r"[A-Za-z0-9]")
_REST: Final = re.compile(r"[A-Za-z0-9_+/=-]{0,4000}")
_BARE_AWS_SECRET: Final = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_SAMPLE: Final = re.compile(
    r"(?i)(?:\A|[-_])(?:your|insert|replace|example|placeholder|redacted|dummy)(?:[-_]|\Z)"
)


def find_api_keys(text: str, words: Sequence[str]) -> Iterator[SecretFinding]:
    """Yield every token; `words` are the runs of visible ASCII in the text, at least those of
    `SHORTEST` characters."""
    for kind in _OTHERS:
        if kind.pattern.anchor in text:
            yield from _of_kind(kind, text)
    # A search that finds no token must cost little: a page holds few words that can be one.
    within = " ".join(word for word in words if len(word) >= SHORTEST and not _is_word(word))
    if not within:
        return
    anchors = [anchor for anchor in _BY_ANCHOR if anchor in within]
    for _, kind in sorted(entry for anchor in anchors for entry in _BY_ANCHOR[anchor]):
        yield from _of_kind(kind, text)
    yield from _jwts(text)


def _is_word(word: str) -> bool:
    """Small letters behind the first one, no digit: a word of a language."""
    bare = word.strip(_PUNCTUATION)
    return bare.isalpha() and bare[1:].islower()


def _jwts(text: str) -> Iterator[SecretFinding]:
    """Search the first part backwards from each second part, so that no part of the text is read
    twice."""
    done, dot = 0, text.find(".eyJ")
    while dot >= 0:
        window = text[max(done, dot - _JWT_HEADER) : dot]
        run = len(window) - len(window.rstrip(_KEY_SIGNS))
        header = text.find("eyJ", dot - run, dot)
        rest = _JWT_REST.match(text, dot) if 0 <= header <= dot - _JWT_LEAST else None
        if rest is not None and not _is_sample(text[header : rest.end()], "eyJ"):
            done = _whole_end(text, rest.end())
            yield SecretFinding(_JWT, header, done)
        dot = text.find(".eyJ", max(done, dot + 1))


def _of_kind(kind: SecretKind, text: str) -> Iterator[SecretFinding]:
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
        yield SecretFinding(kind, start, end if kind.exact else _whole_end(text, end))


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
    """Extend a token over further characters of its alphabet, because issuers lengthen their
    tokens."""
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


def unlabelled_aws_secrets(text: str, findings: list[SecretFinding]) -> Iterator[SecretFinding]:
    """Beside the id of a key, which is among `findings`, forty characters of base64 are the key."""
    if not any(finding.kind.name == "aws_key_id" for finding in findings):
        return
    for match in _BARE_AWS_SECRET.finditer(text):
        if is_aws_secret(match[0]) or (_is_made(match[0]) and not match[0].islower()):
            yield SecretFinding(_AWS_SECRET, match.start(), match.end())


PREFIXED_KEY: Final = SecretKind("shaped_key", Level.PROBABLE, Pattern(literal("_"), "_"))

_ALONE: Final = (
    r"(?:(?<![A-Za-z0-9+.@#%-])(?<![A-Za-z0-9_]_)|(?<=\\[nrt])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"
)
_PREFIXED: Final = re.compile(
    rf"{_ALONE}(?P<prefix>[A-Za-z][A-Za-z0-9]{{1,15}}(?:_[A-Za-z0-9]{{2,12}}){{0,3}})_"
    r"(?P<body>[A-Za-z0-9]{30,200})"
)
_SAID: Final = re.compile(
    rf"{_ALONE}(?P<prefix>(?:[A-Za-z][A-Za-z0-9]{{0,15}}[_-]){{0,3}}"
    r"(?:sk|rk|ak|pat|key|apikey|signkey|api|tok|token|sec|secret|live|prod|production|sandbox|"
    r"priv|private|auth|access|svc|rw|oat|cred))[_-](?P<body>[A-Za-z0-9_-]{20,200})"
)
_OF_IDS: Final = """
    pk pub public publishable cs pi seti cus sub evt price chatcmpl msg run thread asst resp rs req
    toolu call file batch sha1 sha256 sha384 sha512 md5 hash commit trace span test example sample
    dummy fake mock your my
"""
_NO_KEYS: Final = frozenset(_OF_IDS.split())
_LONG: Final = re.compile(r"[A-Za-z0-9_-]{23}")
"""Minimum characters of a key; most texts have no word of that length."""
_HEX: Final = re.compile(r"[0-9a-f]{32,200}|[0-9A-F]{32,200}")
_MIN_DIGITS: Final = 2
_MIN_TURNS: Final = 5
_MIN_HEX_LETTERS: Final = 4


def find_prefixed_keys(text: str) -> Iterator[SecretFinding]:
    """Yield every span with the form of a key."""
    if not _LONG.search(text):
        return
    if "_" in text:
        yield from _findings(_PREFIXED, text)
    yield from _findings(_SAID, text)


def _findings(expression: re.Pattern[str], text: str) -> Iterator[SecretFinding]:
    for match in expression.finditer(text):
        segments = re.split("[_-]", match["prefix"].lower())
        if _NO_KEYS.isdisjoint(segments) and _is_chance(match["body"]):
            yield SecretFinding(PREFIXED_KEY, *match.span())


def _is_chance(body: str) -> bool:
    """Return True for a random sequence: hexadecimal digits, or capitals, small letters and digits
    mixed."""
    digits = sum(char.isdigit() for char in body)
    if _HEX.fullmatch(body):
        return digits >= _MIN_DIGITS and len(body) - digits >= _MIN_HEX_LETTERS
    cases = [char.isupper() for char in body if char.isalpha()]
    turns = sum(a != b for a, b in pairwise(cases))
    return turns >= (_MIN_TURNS if digits >= _MIN_DIGITS else len(body) / 3)
