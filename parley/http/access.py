"""The access rule of the local listener, a pure decision about a request.

Behind a reverse proxy all requests seem to come from this machine, and a web page anywhere can make
its visitor's browser call this machine (DNS rebinding, cross-site requests). So neither the peer's
address nor the bound port decides, but the token, the requested host name and the origin of the
page.
"""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from parley.http.host_header import read_host
from safety.http.addresses import is_loopback_name

FORWARDING_HEADERS: Final = ("forwarded", "via", "x-real-ip")
"""Headers that reveal a proxy, with every `x-forwarded-*` (RFC 7239, RFC 9110 section 7.6.3)."""

Reason: TypeAlias = Literal[
    "local",
    "token",
    "cookie",
    "token_wrong",
    "token_missing",
    "forwarded_without_token",
    "bad_host",
    "strange_host",
    "unknown_host",
    "strange_origin",
    "too_many_requests",
    "compressed",
]


class RequestFacts(Struct, frozen=True):
    """The facts that decide on a request. Header names are in lower case; `cookie` is the value of
    our own cookie."""

    method: str
    headers: Mapping[str, str]
    cookie: str = ""

    @property
    def is_websocket(self) -> bool:
        """Return True if the request asks for a WebSocket."""
        return self.headers.get("upgrade", "").strip().lower() == "websocket"

    @property
    def is_forwarded(self) -> bool:
        """Return True if a proxy forwarded the request."""
        return any(
            name.startswith("x-forwarded-") or name in FORWARDING_HEADERS for name in self.headers
        )


class AccessDecision(Struct, frozen=True):
    """The decision, with the HTTP status of a refusal."""

    allowed: bool
    reason: Reason
    status: int = 200


def authorize(facts: RequestFacts, token: str) -> AccessDecision:
    """Return the decision about a request to the pages; `token` is empty if none is configured.

    A configured token is always required. Without one, a request must address this machine by a
    loopback name and must not come through a proxy. A request that changes something, and every
    WebSocket, must come from our own page or from no page at all.
    """
    known = _identify(facts, token)
    if known in ("token_wrong", "token_missing"):
        forwarded = known == "token_missing" and facts.is_forwarded
        return AccessDecision(False, "forwarded_without_token" if forwarded else known, 401)
    if known == "local":
        if facts.is_forwarded:
            return AccessDecision(False, "forwarded_without_token", 401)
        if not is_loopback_name(_hostname(facts.headers.get("host", ""))):
            return AccessDecision(False, "strange_host", 403)
    return (
        AccessDecision(True, known)
        if is_same_origin(facts)
        else AccessDecision(False, "strange_origin", 403)
    )


def is_same_origin(facts: RequestFacts) -> bool:
    """Return True if the request changes nothing, or comes from our own page or from no page."""
    reads = facts.method in ("GET", "HEAD") and not facts.is_websocket
    return reads or _same_origin(facts)


def session_value(token: str) -> str:
    """Return the cookie's value for this token: it gives access, but does not reveal the token."""
    return hmac.new(token.encode(), b"parley local listener session v1", hashlib.sha256).hexdigest()


def same_secret(given: str, secret: str) -> bool:
    """Compare texts in constant time; an empty secret equals nothing."""
    # Bytes of a header that are not UTF-8 arrive as lone surrogates.
    shown = given.encode("utf-8", "surrogateescape")
    return bool(secret) and hmac.compare_digest(shown, secret.encode())


def _identify(facts: RequestFacts, token: str) -> Reason:
    if not token:
        return "local"
    scheme, _, given = facts.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return "token" if same_secret(given.strip(), token) else "token_wrong"
    if facts.cookie:
        return "cookie" if same_secret(facts.cookie, session_value(token)) else "token_wrong"
    return "token_missing"


def _same_origin(facts: RequestFacts) -> bool:
    origin = facts.headers.get("origin")
    if origin is None:
        return facts.headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return False
    default = {"http": 80, "https": 443}.get(parts.scheme)
    if default is None or not parts.hostname:
        return False
    host = facts.headers.get("host", "")
    return (parts.hostname, port or default) == (_hostname(host), _port(host) or default)


def _hostname(host: str) -> str:
    named = read_host(host)
    return "" if named is None else named.name


def _port(host: str) -> int | None:
    named = read_host(host)
    return -1 if named is None else named.port
