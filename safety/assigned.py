"""Secrets that only the words around them tell: `DB_PASSWORD=…`, "mein Passwort ist …".

What stands behind such a word counts if it can be a secret: placeholders, types, names from code,
and words about passwords do not.
"""

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import suppress
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
    r"(?:\s(?:for|of|to|on|at|in|from|für|zum?r?|von|vom|des|der|от|для|к|de|del|du|pour|da|do|para|per|"
    r"admin|is\snow|now|here)(?:\s[^\s:=]{1,30}){0,4}?)?"
)
_IS: Final = (
    r"(?:\s{0,4}(?::=|=>|->|→|==?|:|：|>)|\s(?:is|are|was|will\sbe|to|lautet|ist|est|es|é|è|"
    r"jest|är|er|on)(?:\s(?:now|still|currently|jetzt|nun|maintenant|ahora))?(?=[\s\"'`:])|\s?(?:这是|是|は))"
)
_JOINT: Final = (
    r"(?P<joint>[ \t]{0,4}\|[ \t]{0,4}"
    r"|\\?[\"']?,?\s{0,20}\\?[\"']?value\\?[\"']?\s{0,4}[:=]"
    r"|[ \t]{0,4}\r?\n)"
)
"""What stands between a name and its value besides a sign: a bar, `value:`, a line's end."""
_SIGN: Final = r"(?:\s{0,4}(?::=|=>|->|→|==?|:|：|>))"
_VALUE: Final = (
    r"\s{0,10}(?:\*\*\s{1,4}|![\w/-]{1,20}\s)?(?:[rbuf]?(?P<quote>\\?[\"'`]|\*\*)(?P<quoted>[^\"'`\r\n]{1,300}?)(?P=quote)"
    r"|(?P<bare>[^\s\"'`<>()\[\]{},;|，。；、）」』】》”]{1,400}))"
)
_TOLD: Final = rf"{_GLUE}{_OF}(?P<is>{_IS}|{_JOINT}){_VALUE}"
_PASSWORD: Final = re.compile(rf"(?i)(?P<word>{WORDS_FOR_IT}){_TOLD}")
_SECRET: Final = re.compile(rf"(?i)(?P<word>{WORDS_FOR_KEYS}){_TOLD}")
_ANY_KEY: Final = re.compile(
    rf"(?i)(?:(?<![a-z])|(?-i:(?<=[a-z0-9])(?=K)))(?P<word>key|sig|signature){_GLUE}(?P<is>{_SIGN}){_VALUE}"
)
_NOT_SECRET: Final = re.compile(
    r"(?i)(?:public|publishable|page|next|csrf|xsrf|sync|continuation|cursor|idempotency|cache|"
    r"partition|sort|foreign|primary|push|device|max|min|num|count|cancellation|site|anon|host)"
    r"[ _.-]?\Z"
)
_NEEDS_A_NAME: Final = frozenset({"token", "secret", "credential", "credentials"})
_NAME_LENGTH: Final = 40
_ENDS_A_NAME: Final = re.compile(r"[^\W_][_.-]\Z")
_VENDOR_BEFORE: Final = re.compile(rf"(?i)(?<![a-z])(?:{VENDOR_NAMES})\s(?:[a-z]{{2,8}}\s)?\Z")
_OPTION: Final = re.compile(
    r"(?i)--?(?P<word>password|passwd|pass|pwd|token|api-?key|secret|auth-token|access-token)"
    r"(?:=|\s{1,4})[\"']?(?P<bare>[^\s\"'`<>()\[\]{},;|-][^\s\"'`]{2,200})"
)
_KEY_OPTION: Final = re.compile(
    r"(?i)(?<!\S)--(?:[a-z0-9]{1,20}-){1,5}(?:key|token|secret|pat|certificate|password|passwd)"
    r"(?:=|\s{1,4})[\"']?(?P<bare>[^\s\"'`<>()\[\]{},;|-][^\s\"'`]{11,400})"
)
_FOUR_LETTERS: Final = re.compile(
    r"(?i)app(?:lication)?s?[ _-]?pass(?:word|wort|code)[\w.-]{0,20}[\"'`*)]{0,3}"
    r"(?:(?:\s(?:[a-zéè]{1,12}\s){0,4}|\s{0,4}(?:[:=|→]|[=-]>)(?:\*\*)?|\svalue=|\s{1,4}value:)\s{0,4}|\s{1,4})"
    r"[\"'`]{0,3}(?P<bare>[a-z]{4}(?:\s[a-z]{4}){3}|[a-z0-9]{4}(?:\s[a-z0-9]{4}){5})(?![a-z0-9])"
)
"""Passwords for programs, as Google and WordPress write them: groups of four."""
_NESTED: Final = re.compile(
    r"[\"']auth[\"']\s{0,4}:\s{0,4}[\"'](?P<bare>[A-Za-z0-9+/]{12,400}={0,2})[\"']"
)
_JWK: Final = re.compile(r"[\"']d[\"']\s{0,4}:\s{0,4}[\"'](?P<bare>[A-Za-z0-9_-]{40,800})[\"']")
_SET_BY_NAME: Final = re.compile(
    r"(?m)^\s{0,8}(?:ENV|ARG|setx|set\s-[gx]{1,2})\s{1,4}"
    r"(?i:[A-Z0-9_]{0,60}(?:key|token|secret|pass|passwd|password|pwd|pat|certificate)[A-Z0-9_]{0,30})"
    r"\s{1,4}[\"']?(?P<bare>[^\s\"'=]{4,400})"
)
_SET_BY_CALL: Final = re.compile(
    r"(?i)(?:define|setenv|putenv|setdefault|setproperty|env)\(\s{0,4}[\"'][\w.-]{0,60}"
    r"(?:key|token|secret|pass|passwd|password|pwd)[\w.-]{0,30}[\"'],\s{0,4}[\"'](?P<bare>[^\s\"']{4,400})"
)
_COMMAND: Final = re.compile(
    r"(?:sshpass\s-p\s?|\b(?:mysql|mysqldump|mysqladmin|mariadb)\s[^\n]{0,80}\s-p)[\"']?"
    r"(?P<bare>[^\s\"'`-][^\s\"'`]{3,200})"
)
_AT_LOGIN: Final = re.compile(
    r"(?i)\b(?:login|user|username)\s\S{1,64}?\s{0,3}[/,|]?\s{0,3}(?:pw|pwd|pass|password)\s{1,4}"
    r"(?P<bare>[^\s\"'`-][^\s\"'`]{3,200})"
)
_USER_OPTION: Final = re.compile(
    r"\s(?:-u|--user)[ =]?[\"']?[^\s:\"'<>${}]{1,64}:(?P<bare>[^\s\"'`:/][^\s\"'`]{2,200})"
)
_NETRC: Final = re.compile(
    r"(?i)\b(?:machine\s{1,4}\S{1,200}|default)\s{1,10}login\s{1,4}\S{1,200}\s{1,10}"
    r"password\s{1,4}(?P<bare>\S{1,200})"
)
_OPTIONS: Final = (_OPTION, _SET_BY_NAME, _SET_BY_CALL, _COMMAND, _USER_OPTION, _NETRC)
_HEADER: Final = re.compile(
    r"(?i)(?P<known>(?:proxy-)?authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?)?"
    r"(?<![a-z])(?:bearer|basic|token|sswS|apikey|digest)\s{1,8}(?P<bare>[A-Za-z0-9._~+/=:-]{4,4000})"
)
_ANY_SCHEME: Final = re.compile(
    r"(?i)authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:[a-z][a-z0-9-]{2,20}\s{1,4})?"
    r"(?P<bare>[A-Za-z0-9._~+/=:-]{16,4000})"
)
_VENDOR: Final = re.compile(
    rf"(?i)(?<![a-z])(?:{VENDOR_NAMES})[\w.-]{{0,20}}[\"'`]?"
    rf"(?:(?:\s[a-z]{{2,9}}){{0,2}}\s(?:key|token|secret|pat)(?:{_IS}|{_JOINT})|{_SIGN}){_VALUE}"
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


_OPTION_STEMS: Final = (
    *("-u", "--", "-p", "machine", "default", "env ", "arg ", "setx", "set -"),
    *("setenv", "putenv", "setprop", "define(", "env("),
)
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
    if made and ("auth" in lowered or "kty" in text):
        yield from _in_json(text)
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
    for match in _FOUR_LETTERS.finditer(text):
        yield _finding(PASSWORD, match)
    for match in _AT_LOGIN.finditer(text):
        if looks_like_password(match["bare"]):
            yield _finding(PASSWORD, match)


def _keys(text: str) -> Iterator[Finding]:
    for match in _SECRET.finditer(text):
        if _is_key(match, _value(match)):
            yield _finding(ASSIGNED_KEY, match)
    for match in _ANY_KEY.finditer(text):
        value = _value(match)
        if _may_be_secret(match) and not is_uuid(value) and looks_random(value, 20):
            yield _finding(ASSIGNED_KEY, match)


def _options(text: str) -> Iterator[Finding]:
    for expression in _OPTIONS:
        for match in expression.finditer(text):
            if looks_like_password(match["bare"]):
                yield _finding(PASSWORD, match)
    for match in _KEY_OPTION.finditer(text):
        if is_uuid(match["bare"]) or looks_random(match["bare"], SHORTEST_KEY):
            yield _finding(ASSIGNED_KEY, match)


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


def _in_json(text: str) -> Iterator[Finding]:
    """What Docker's and JOSE's files hold under names of one word."""
    for match in _NESTED.finditer(text):
        with suppress(ValueError):
            if b":" in b64decode(match["bare"] + "==")[:100]:
                yield _finding(AUTHORIZATION, match)
    if "kty" in text:
        for match in _JWK.finditer(text):
            yield _finding(ASSIGNED_KEY, match)


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
    if is_placeholder(value) or not may_be_a_word(value) or match["joint"]:
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
    """A call or an index behind the value makes it code; a cell ends with a bar, and what has a
    line of its own with that line."""
    joint = (match["joint"] or "").strip(" \t\r")
    if joint in ("|", "\n"):
        rest = match.string[match.end() : match.end() + 80].split("\n")[0].strip()
        return rest.startswith("|") if joint == "|" else not rest
    if match["quoted"]:
        return True
    return match.string[match.end() : match.end() + 1] not in {"(", "[", "{"}


def _is_key(match: re.Match[str], value: str) -> bool:
    if not _may_be_secret(match) or not _ends_well(match):
        return False
    if is_uuid(value):
        return match["word"].lower() not in _NEEDS_A_NAME or _is_named(match)
    quoted = match["quoted"] is not None and " " not in value
    short = _is_named(match) or (quoted and not _is_hex(value))
    return looks_random(value, SHORTEST_KEY if short else 16)


def _is_named(match: re.Match[str]) -> bool:
    """Whether the word ends a name, as in `SNYK_TOKEN` and `snykToken`, or one stands before it."""
    before = match.string[max(0, match.start() - _NAME_LENGTH) : match.start()]
    if match["word"][0].isupper() and before[-1:].islower():
        return True
    return bool(_ENDS_A_NAME.search(before) or _VENDOR_BEFORE.search(before))


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
