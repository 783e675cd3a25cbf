"""One request of the local listener, beside its ASGI scope: its connection, headers and body; an
application that is loaded late."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.ports.rights import NOBODY, Proof
from gateway.text import ENGLISH, Language
from parley.http.access import AccessDecision, RequestFacts
from parley.security.tokens import TokenClaims

EXCHANGE: Final = "parley.exchange"
"""The key of the `HttpExchange` in a scope."""
UNDECIDED: Final = AccessDecision(False, "token_missing", 401)
HttpApp: TypeAlias = ASGIApp
"""An application for HTTP, for those who only pass it on."""


class ClientGone(ConnectionError):
    """The client disconnected before its request was complete, or stopped reading the answer."""


class RequestTooLarge(Exception):
    """The body is larger than its limit."""


def in_english(_header: str) -> Language:
    """Return English for every header `Accept-Language`."""
    return ENGLISH


@dataclass(slots=True)
class HttpExchange:
    """The facts of one request that its layers share.

    `sender` is the unit of its limits, `page_access` the decision of the rule for the pages,
    `denial` the name of the audit event for a refusal, `reason` the code of a refusal, `holder` the
    person of a verified token, `proof` what the caller proved to the face that serves the request.
    `language_of` returns the language that fits a header `Accept-Language`.
    """

    transport: asyncio.Transport
    body_is_complete: Callable[[], bool]
    sender: str = ""
    page_access: AccessDecision = UNDECIDED
    denial: str = "local_denied"
    reason: str = ""
    holder: TokenClaims | None = None
    proof: Proof = NOBODY
    language_of: Callable[[str], Language] = in_english


def exchange_of(scope: Scope) -> HttpExchange:
    """Return the exchange of a request."""
    exchange = scope[EXCHANGE]
    if not isinstance(exchange, HttpExchange):
        raise TypeError("the scope was not made by the local listener")
    return exchange


def values_of(scope: Scope, name: str) -> list[str]:
    """Return all values of a header, whose name is in lower case."""
    encoded = name.encode()
    return [_text(value) for given, value in scope["headers"] if given == encoded]


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers by their names in lower case; of a repeated one the last value."""
    return {name.decode("latin-1"): _text(value) for name, value in scope["headers"]}


def cookies_of(scope: Scope) -> dict[str, str]:
    """Return the cookies."""
    return {
        name: value
        for header in values_of(scope, "cookie")
        for name, value in cookie_parser(header).items()
    }


def target_of(scope: Scope) -> str:
    """Return the request target as received."""
    path, query = scope["raw_path"], scope["query_string"]
    target: bytes = path + b"?" + query if query else path
    return target.decode("latin-1")


def facts_of(scope: Scope, cookie: str) -> RequestFacts:
    """Return the facts for the access rule; `cookie` is the name of our own."""
    return RequestFacts(scope["method"], headers_of(scope), cookies_of(scope).get(cookie, ""))


def is_encrypted(scope: Scope) -> bool:
    """Return True for https, also before a proxy."""
    return scope["scheme"] == "https" or "https" in values_of(scope, "x-forwarded-proto")


def content_length(scope: Scope) -> int:
    """Return the announced length of the body; 0 for none, and for a chunked body."""
    return int(next(iter(values_of(scope, "content-length")), "0"))


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """Return the body. Raises `RequestTooLarge`, before reading where the length is announced, and
    `ClientGone`."""
    if content_length(scope) > limit:
        raise RequestTooLarge
    data = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        data += message.get("body", b"")
        more = message.get("more_body", False)
        if len(data) > limit:
            raise RequestTooLarge
    return bytes(data)


def is_last(message: Message) -> bool:
    """Return True for the message that completes an answer."""
    return message["type"] == "http.response.body" and not message.get("more_body", False)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


@dataclass(slots=True)
class LateApp:
    """Builds an application in a thread, because loading takes a while."""

    make: Callable[[], ASGIApp]
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app or await self.load()
        await app(scope, receive, send)

    async def load(self) -> ASGIApp:
        """Build the application, once. Raises `TypeError` for a route without a declaration."""
        async with self._lock:
            if self._app is None:
                self._app = await asyncio.to_thread(self.make)
            return self._app
