"""Finds secrets in HTTP: `Authorization` of every scheme, cookies, passwords in addresses."""

import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from safety.patterns import Pattern, literal, some
from safety.secret_detection.kinds import Level, SecretFinding, SecretKind
from safety.secret_detection.labelled import ASSIGNED_KEY
from safety.secret_detection.plausibility import is_placeholder, is_uuid, looks_random
from safety.secret_detection.value_rules import NEVER

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
AUTHORIZATION: Final = SecretKind(
    "bearer_token", Level.PROBABLE, Pattern(literal("bearer"), ignore_case=True)
)
COOKIE: Final = SecretKind(
    "session_cookie", Level.PROBABLE, Pattern(literal("cookie"), ignore_case=True)
)

_SCHEME: Final = re.compile(
    r"(?i)(?<![a-z])(?:bearer|basic|token|ssws|apikey|api-key|digest|bot|negotiate|splunk|snowflake|"
    r"geniekey|hawk|discogs)\s{1,8}(?P<bare>[A-Za-z0-9._~+/=:-]{4,4000})"
)
_AUTHORIZATION: Final = re.compile(
    r"(?i)authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:[a-z][a-z0-9-]{2,20}\s{1,4})?"
    r"(?P<bare>[A-Za-z0-9._~+/=:-]{12,4000})"
)
_KNOWN: Final = 30
HEADER_STEMS: Final = (
    *("bearer", "basic", "token", "ssws", "apikey", "api-key", "digest", "bot", "authoriz"),
    *("negotiate", "splunk", "snowflake", "genie", "hawk", "discogs"),
)
_SHORTEST_VALUE: Final = 12
"""Characters of the shortest value of `Authorization`."""
_COOKIE: Final = re.compile(
    r"(?i)cookies?[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<line>[^\r\n]{8,4000})"
)
_CRUMB: Final = re.compile(
    r"(?<![^=:;\s\"'{}])[^=:;\s\"'{}]{1,80}=(?P<bare>[^;\s\"',{}()]{8,3000})"
)
_SESSION_NAMES: Final = ("sess", "sid", "auth", "token", "jwt", "login", "remember", "secret")
_ATTRIBUTES: Final = ("expires=", "max-age=", "domain=", "path=", "samesite=")
_URL: Final = re.compile(
    r"://(?P<user>[^\s:/@\"'<>]{0,100}):(?P<bare>[^\s/@\"'<>]{1,40000})@(?=[\w\[.-])"
)
_MORE_OF_IT: Final = re.compile(r"[^\s/@\"'<>]{0,60}@(?=[\w\[.-])")
_LOOPBACK: Final = re.compile(r"localhost\b|127\.|\[::1\]")
_PORT: Final = re.compile(r"\d{1,5}")
_NESTED: Final = re.compile(
    r"[\"']auth[\"']\s{0,4}:\s{0,4}[\"'](?P<bare>[A-Za-z0-9+/]{12,400}={0,2})[\"']"
)
_JWK: Final = re.compile(r"[\"']d[\"']\s{0,4}:\s{0,4}[\"'](?P<bare>[A-Za-z0-9_-]{40,800})[\"']")


def find_in_headers(text: str, lowered: str, longest: int) -> Iterator[SecretFinding]:
    """Yield every secret in a header, a cookie, an address, or a file of Docker's or JOSE's;
    `longest` is the length of the longest word."""
    if longest >= _SHORTEST_VALUE and any(map(lowered.__contains__, HEADER_STEMS)):
        yield from _schemes(text, lowered)
    if "cookie" in lowered:
        yield from _cookies(text)
    if "://" in text:
        yield from _urls(text)
    if "auth" in lowered and ('"' in text or "'" in text):
        yield from _nested(text)
    if "kty" in text:
        for match in _JWK.finditer(text):
            yield SecretFinding(ASSIGNED_KEY, *match.span("bare"))


def _schemes(text: str, lowered: str) -> Iterator[SecretFinding]:
    for match in _SCHEME.finditer(text):
        value = match["bare"].rstrip(".,:")
        if is_placeholder(value) or NEVER.match(value):
            continue
        known = "authorization" in lowered[max(0, match.start() - _KNOWN) : match.start()]
        if known or looks_random(value, 20):
            yield _value(match)
    if "authoriz" in lowered:
        for match in _AUTHORIZATION.finditer(text):
            value = match["bare"].rstrip(".,:")
            if is_uuid(value) or looks_random(value, 12):
                yield _value(match)


def _cookies(text: str) -> Iterator[SecretFinding]:
    for match in _COOKIE.finditer(text):
        for crumb in _CRUMB.finditer(text, *match.span("line")):
            name, value = crumb[0].lower(), crumb["bare"]
            if name.startswith(_ATTRIBUTES) or is_placeholder(value):
                continue
            session = any(stem in name.split("=")[0] for stem in _SESSION_NAMES)
            if looks_random(value, 8 if session else 20) or is_uuid(value):
                yield SecretFinding(COOKIE, *crumb.span("bare"))


def _urls(text: str) -> Iterator[SecretFinding]:
    for match in _URL.finditer(text):
        both_generic = is_placeholder(match["bare"]) and _is_generic_user(match["user"])
        shape = match["bare"][0] in "<[({$%*" or set(match["bare"]) <= set("*xX.•-_")
        local = match["bare"] == match["user"] and _LOOPBACK.match(text, match.end())
        if both_generic or shape or local or _PORT.fullmatch(match["bare"]):
            continue
        more = _MORE_OF_IT.match(text, match.end())
        yield SecretFinding(CONNECTION_STRING, match.start(), more.end() if more else match.end())


def _is_generic_user(user: str) -> bool:
    return user.lower() in {"", "user", "username", "usr", "login", "name", "myuser", "u", "root"}


def _nested(text: str) -> Iterator[SecretFinding]:
    for match in _NESTED.finditer(text):
        with suppress(ValueError):
            if b":" in b64decode(match["bare"] + "==")[:100]:
                yield _value(match)


def _value(match: re.Match[str]) -> SecretFinding:
    begin = match.start("bare")
    return SecretFinding(AUTHORIZATION, begin, begin + len(match["bare"].rstrip(".,:")))
