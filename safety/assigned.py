"""Secrets that only the words around them tell: `DB_PASSWORD=…`, "mein Passwort ist …".

What stands behind such a word counts if it can be a secret: placeholders, types, names from code,
and words about passwords do not.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from safety.patterns import Pattern, literal, some
from safety.plausible import (
    is_placeholder,
    is_uuid,
    looks_like_password,
    looks_random,
    may_be_a_word,
)
from safety.secret_kinds import Finding, Level, SecretKind
from safety.secret_words import (
    KEY_STEMS,
    PASSWORD_STEMS,
    VENDOR_NAMES,
    WORDS_FOR_IT,
    WORDS_FOR_KEYS,
)

CONNECTION_STRING: Final = SecretKind(
    "connection_string",
    Level.PROBABLE,
    Pattern(
        (
            *literal("://"),
            *some(r"[^\s:/@]", 0, 100),
            *literal(":"),
            *some(r"[^\s/@]", 1, 200),
            *literal("@"),
        ),
        anchor="://",
    ),
)
"""An address with a password in it, from `://` on."""


def _named(name: str, words: str) -> SecretKind:
    return SecretKind(name, Level.PROBABLE, Pattern(literal(words), ignore_case=True))


PASSWORD: Final = _named("password", "password")
ASSIGNED_KEY: Final = _named("assigned_key", "key")
AUTHORIZATION: Final = _named("bearer_token", "bearer")
SEED_PHRASE: Final = _named("seed_phrase", "phrase")

_VENDOR_STEM: Final = re.compile(rf"(?i){VENDOR_NAMES}")
SHORTEST_KEY: Final = 12
"""Characters of a key that the words around tell."""
_DIGITS: Final = re.compile(r"\d\D*\d")
_GLUE: Final = r"[\w.-]{0,30}[\\\"'`*_)\]]{0,4}"
_OF: Final = (
    r"(?:\s(?:for|of|to|on|at|in|from|für|zum?r?|von|vom|des|der|de|del|du|pour|da|do|para|per|"
    r"admin|is\snow|now|here)(?:\s[^\s:=]{1,30}){0,4}?)?"
)
_IS: Final = (
    r"(?:\s{0,4}(?::=|=>|->|→|==?|:|：|>)|\s(?:is|are|was|will\sbe|to|lautet|ist|est|es|é|è|"
    r"jest|är|er|on)(?=[\s\"'`:])|\s?(?:这是|是|は))"
)
_SIGN: Final = r"(?:\s{0,4}(?::=|=>|->|→|==?|:|：|>))"
_VALUE: Final = (
    r"\s{0,10}(?:[rbuf]?(?P<quote>\\?[\"'`]|\*\*)(?P<quoted>[^\"'`\r\n]{1,300}?)(?P=quote)"
    r"|(?P<bare>[^\s\"'`<>()\[\]{},;|，。；、）」』】》”]{1,400}))"
)
_PASSWORD: Final = re.compile(rf"(?i)(?P<word>{WORDS_FOR_IT}){_GLUE}{_OF}(?P<is>{_IS}){_VALUE}")
_SECRET: Final = re.compile(rf"(?i)(?P<word>{WORDS_FOR_KEYS}){_GLUE}{_OF}(?P<is>{_IS}){_VALUE}")
_ANY_KEY: Final = re.compile(
    rf"(?i)(?<![a-z])(?P<word>key|sig|signature){_GLUE}(?P<is>{_SIGN}){_VALUE}"
)
_NOT_SECRET: Final = re.compile(
    r"(?i)(?:public|publishable|page|next|csrf|xsrf|sync|continuation|cursor|idempotency|cache|"
    r"partition|sort|foreign|primary|push|device|max|min|num|count|cancellation|site|anon|host)"
    r"[ _.-]?\Z"
)
_NEEDS_A_NAME: Final = frozenset({"token", "secret", "credential", "credentials"})
_OPTION: Final = re.compile(
    r"(?i)--?(?P<word>password|passwd|pass|pwd|token|api-?key|secret|auth-token|access-token)"
    r"(?:=|\s{1,4})[\"']?(?P<bare>[^\s\"'`<>()\[\]{},;|-][^\s\"'`]{2,200})"
)
_USER_OPTION: Final = re.compile(
    r"\s(?:-u|--user)[ =]?[\"']?[^\s:\"'<>${}]{1,64}:(?P<bare>[^\s\"'`:/][^\s\"'`]{2,200})"
)
_NETRC: Final = re.compile(
    r"(?i)\b(?:machine\s{1,4}\S{1,200}|default)\s{1,10}login\s{1,4}\S{1,200}\s{1,10}"
    r"password\s{1,4}(?P<bare>\S{1,200})"
)
_HEADER: Final = re.compile(
    r"(?i)(?P<known>(?:proxy-)?authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?)?"
    r"(?<![a-z])(?:bearer|basic|token|sswS|apikey|digest)\s{1,8}(?P<bare>[A-Za-z0-9._~+/=:-]{4,4000})"
)
_ANY_SCHEME: Final = re.compile(
    r"(?i)authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:[a-z][a-z0-9-]{2,20}\s{1,4})?"
    r"(?P<bare>[A-Za-z0-9._~+/=:-]{16,4000})"
)
_VENDOR: Final = re.compile(
    rf"(?i)(?<![a-z])(?:{VENDOR_NAMES})[\w.-]{{0,20}}[\"'`]?{_SIGN}{_VALUE}"
)
_URL: Final = re.compile(
    r"://(?P<user>[^\s:/@\"'<>]{0,100}):(?P<bare>[^\s/@\"'<>]{1,200})@(?=[\w\[.-])"
)
_LOOPBACK: Final = re.compile(r"localhost\b|127\.|\[::1\]")
_ARN: Final = re.compile(r"arn:[\w:/.-]{0,60}\Z")
_PORT: Final = re.compile(r"\d{1,5}")
_SEED: Final = re.compile(
    r"(?i)(?:seed|recovery|mnemonic|backup|secret|wallet)[ _-]?(?:phrase|words|seed|mnemonic)?"
    r"[^\n]{0,30}?[:=\n]\s{0,4}[\"']?(?P<bare>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b"
)


_OPTION_STEMS: Final = ("-u", "--", "machine", "default")
_HEADER_STEMS: Final = ("bearer", "basic", "token", "ssws", "apikey", "digest", "authoriz")
_SEED_STEMS: Final = ("seed", "recovery", "mnemonic", "backup", "wallet")


def find_assigned(text: str, longest: int) -> Iterator[Finding]:
    """Every secret that is told by the words before it; the place is that of the value. `longest`
    are the characters of the text's longest word."""
    lowered = text.lower()
    if _has_one(lowered, PASSWORD_STEMS):
        yield from _passwords(text)
    made = longest >= SHORTEST_KEY and _may_hold_a_key(text)
    if made and _has_one(lowered, KEY_STEMS):
        yield from _keys(text)
    if _has_one(lowered, _OPTION_STEMS):
        yield from _options(text)
    if made and _VENDOR_STEM.search(text):
        yield from _of_vendors(text)
    if _has_one(lowered, _HEADER_STEMS):
        yield from _headers(text)
    if "://" in text:
        yield from _urls(text)
    if _has_one(lowered, _SEED_STEMS):
        for match in _SEED.finditer(text):
            yield _finding(SEED_PHRASE, match)


def _has_one(lowered: str, stems: Iterable[str]) -> bool:
    for stem in stems:  # noqa: SIM110 - `any` costs three times as much, and this runs per message
        if stem in lowered:
            return True
    return False


def _may_hold_a_key(text: str) -> bool:
    """False where no word could be one: most texts are done with that."""
    return any(
        len(word) >= SHORTEST_KEY and (word[1:] != word[1:].lower() or _DIGITS.search(word))
        for word in text.split()
    )


def _passwords(text: str) -> Iterator[Finding]:
    for match in _PASSWORD.finditer(text):
        if _is_password(match, _value(match)):
            yield _finding(PASSWORD, match)


def _keys(text: str) -> Iterator[Finding]:
    for match in _SECRET.finditer(text):
        if _is_key(match, _value(match)):
            yield _finding(ASSIGNED_KEY, match)
    for match in _ANY_KEY.finditer(text):
        value = _value(match)
        if _may_be_secret(match) and not is_uuid(value) and looks_random(value, 24):
            yield _finding(ASSIGNED_KEY, match)


def _options(text: str) -> Iterator[Finding]:
    for expression in (_OPTION, _USER_OPTION, _NETRC):
        for match in expression.finditer(text):
            if looks_like_password(match["bare"]):
                yield _finding(PASSWORD, match)


def _headers(text: str) -> Iterator[Finding]:
    for match in _HEADER.finditer(text):
        value = match["bare"].rstrip(".,:")
        if is_placeholder(value):
            continue
        if match["known"] or looks_random(value, 20):
            yield _finding(AUTHORIZATION, match)
    for match in _ANY_SCHEME.finditer(text):
        value = match["bare"].rstrip(".,:")
        if is_uuid(value) or looks_random(value):
            yield _finding(AUTHORIZATION, match)


def _of_vendors(text: str) -> Iterator[Finding]:
    """`heroku: 01234567-…`: what is set behind the name of an issuer without a format."""
    for match in _VENDOR.finditer(text):
        value = _value(match)
        if is_uuid(value) or looks_random(value, 20):
            yield _finding(ASSIGNED_KEY, match)


def _urls(text: str) -> Iterator[Finding]:
    for match in _URL.finditer(text):
        both_generic = is_placeholder(match["bare"]) and _is_generic_user(match["user"])
        shape = match["bare"][0] in "<[({$%*" or set(match["bare"]) <= set("*xX.•-_")
        local = match["bare"] == match["user"] and _LOOPBACK.match(text, match.end())
        if not both_generic and not shape and not local and not _PORT.fullmatch(match["bare"]):
            yield Finding(CONNECTION_STRING, match.start(), match.end())


def _is_generic_user(user: str) -> bool:
    return user.lower() in {"", "user", "username", "usr", "login", "name", "myuser", "u", "root"}


def _is_password(match: re.Match[str], value: str) -> bool:
    if looks_like_password(value):
        return _ends_well(match)
    if is_placeholder(value) or not may_be_a_word(value):
        return False
    if match["quoted"]:
        return True
    # A bare word: only where a person tells a password, at the end of what is said.
    ahead = match.string[match.end() : match.end() + 1]
    at_end = ahead in {"", "\n", "\r"} or match.string[match.end() - 1] in ".!"
    sign = match["is"].strip()[:1] in {":", "=", "："}
    return at_end and (sign or _is_told(match))


def _is_told(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 24) : match.start()].lower()
    return bool(
        re.search(
            r"(?:my|our|mein|unser|mon|ma|notre|mi|nuestra|minha|mijn)\s\S{0,12}\s?\Z", before
        )
    )


def _ends_well(match: re.Match[str]) -> bool:
    """A call or an index behind the value makes it code."""
    if match["quoted"]:
        return True
    return match.string[match.end() : match.end() + 1] not in {"(", "[", "{"}


def _is_key(match: re.Match[str], value: str) -> bool:
    if not _may_be_secret(match) or not _ends_well(match):
        return False
    if is_uuid(value):
        return match["word"].lower() not in _NEEDS_A_NAME or _is_named(match)
    quoted = match["quoted"] is not None and " " not in value
    return looks_random(value, SHORTEST_KEY if quoted and not _is_hex(value) else 16)


def _is_named(match: re.Match[str]) -> bool:
    """Whether the word ends a name, as in `SNYK_TOKEN`."""
    before = match.string[max(0, match.start() - 2) : match.start()]
    return len(before) == 2 and before[0].isalnum() and before[1] in "_-."


def _is_hex(value: str) -> bool:
    return set(value.lower()) <= set("0123456789abcdef")


def _may_be_secret(match: re.Match[str]) -> bool:
    text, start = match.string, match.start()
    return not (
        _NOT_SECRET.search(text, max(0, start - 16), start)
        or _ARN.search(text, max(0, start - 64), start)
    )


def _value(match: re.Match[str]) -> str:
    return match["quoted"] or match["bare"].rstrip(".,:!?&*~").rstrip("_")


def _finding(kind: SecretKind, match: re.Match[str]) -> Finding:
    groups = match.re.groupindex
    group = "quoted" if "quoted" in groups and match["quoted"] is not None else "bare"
    begin, end = match.span(group)
    bare = match.string[begin:end].rstrip(".,:!?*~") if group == "bare" else match[group]
    return Finding(kind, begin, begin + len(bare))
