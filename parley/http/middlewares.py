"""The layers around every request of the local listener, as plain ASGI applications.

They stand in this order, the outermost first: languages, security headers, unexpected errors,
audit of refusals, bounds, bodies, Host header. The access rule is in `parley.http.access_layers`.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Final

import structlog
from msgspec import Struct
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.observe.security_log import SecurityLog
from gateway.ports.observer import SecurityEvent
from gateway.text import Language
from parley.http.asgi import (
    ClientGone,
    RequestTooLarge,
    content_length,
    exchange_of,
    is_last,
    target_of,
    values_of,
)
from parley.http.connections import Connections
from parley.http.host_header import is_valid_host_request
from parley.http.refusal import refusal
from parley.security.tokens import TokenClaims

AUDITED: Final = frozenset({401, 403, 404, 429})
"""The audited statuses: not authenticated, not allowed, not found, too often."""


def audit_refusal(
    security: SecurityLog,
    event: str,
    reason: str,
    address: str,
    holder: TokenClaims | None = None,
) -> None:
    """Record a refusal as the security event `event`. `holder` has the person and the agent of a
    token with a valid signature."""
    if holder is None:
        security.note(SecurityEvent(event, reason, "", address=address))
        return
    tenant, person = holder.tenant, str(holder.person)
    security.note(SecurityEvent(event, reason, tenant, person, address=address, agent=holder.agent))


SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; media-src 'self' blob:; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

log = structlog.get_logger(__name__)


class Languages(Struct, frozen=True):
    """Tells the layers in which language a refusal is read."""

    app: ASGIApp
    language_of: Callable[[str], Language]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange_of(scope).language_of = self.language_of
        await self.app(scope, receive, send)


class SecurityHeaders(Struct, frozen=True):
    """Adds `SECURITY_HEADERS` where an answer has none of the name."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                del headers["Server"]
                message = {**message, "headers": headers.raw}
            await send(message)

        await self.app(scope, receive, sending)


class UnexpectedErrors(Struct, frozen=True):
    """Logs an error that nobody expected, and answers without its text."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except (ClientGone, ClientDisconnect):
            pass  # nobody is there to read an answer
        except Exception:
            log.exception("local_request_failed", method=scope["method"])
            if begun:
                raise  # the server ends the connection: the answer cannot be completed
            await refusal(scope, 500, "failed")(scope, receive, send)


class DeniedAudit(Struct, frozen=True):
    """Audits refusals by their status."""

    app: ASGIApp
    security: SecurityLog

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = exchange_of(scope)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in AUDITED:
                reason = exchange.reason or f"http_{message['status']}"
                audit_refusal(
                    self.security, exchange.denial, reason, exchange.sender, exchange.holder
                )
            await send(message)

        await self.app(scope, receive, sending)


class RequestBounds(Struct, frozen=True):
    """Counts the requests of a sender, and disconnects a client that reads nothing of a streamed
    answer for `seconds`."""

    app: ASGIApp
    connections: Connections
    seconds: float

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = exchange_of(scope)
        transport, hops = exchange.transport, values_of(scope, "x-forwarded-for")
        with ExitStack() as answering:
            counted = self.connections.answering(transport, exchange.body_is_complete, hops)
            has_room = answering.enter_context(counted)
            exchange.sender = self.connections.sender(transport)

            async def sending(message: Message) -> None:
                if is_last(message):
                    # The connection's next request may begin before this call returns.
                    answering.close()
                try:
                    async with asyncio.timeout(self.seconds):
                        await send(message)
                except TimeoutError:
                    transport.abort()
                    raise ClientGone from None

            if has_room:
                await self.app(scope, receive, sending)
            else:
                answer = refusal(scope, 503, "too_many_requests", {"Retry-After": "1"})
                await answer(scope, receive, sending)


class PlainBodies(Struct, frozen=True):
    """Refuses compressed bodies, and bodies of more than `most` bytes."""

    app: ASGIApp
    most: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        received, begun = 0, False

        async def receiving() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.most:
                raise RequestTooLarge
            return message

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        if values_of(scope, "content-encoding"):
            await refusal(scope, 415, "compressed")(scope, receive, send)
            return
        try:
            if content_length(scope) > self.most:
                raise RequestTooLarge
            await self.app(scope, receiving, sending)
        except RequestTooLarge:
            if begun:
                raise
            await refusal(scope, 413, "too_large")(scope, receive, send)


class HostGate(Struct, frozen=True):
    """Refuses a request without exactly one valid host, or with a target that is not a path."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hosts, required = values_of(scope, "host"), scope["http_version"] != "1.0"
        if is_valid_host_request(target_of(scope), hosts, required=required):
            await self.app(scope, receive, send)
        else:
            answer = refusal(scope, 400, "bad_host", {"Connection": "close"})
            await answer(scope, receive, send)
