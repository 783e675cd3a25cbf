"""HTTP routes of adapters: webhooks on the public listener, pages on the local one."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from gateway.ports.rights import Allowed

MAX_BODY: Final = 3 * 1024 * 1024
"""Bytes of one request's body. Meta's webhooks are the largest, up to 3 MB (Graph API webhooks)."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """A request to the public listener."""

    method: str
    """The HTTP method, in upper case."""
    path: str
    """The path, as it was sent."""
    query: Mapping[str, str]
    """The parameters of the query, decoded."""
    headers: Mapping[str, str]
    """The headers, by their names in lower case."""
    body: bytes = field(repr=False)
    """The body as it was sent."""


class WebhookResponse(Struct, frozen=True):
    """The response of the public listener."""

    status: int = 200
    """The HTTP status."""
    body: str = ""
    """The text of the response."""
    content_type: str = "text/plain"
    """The media type of the body."""


WebhookHandler: TypeAlias = Callable[[WebhookRequest], Awaitable[WebhookResponse]]


class WebhookRoutes(Protocol):
    """The routes of the public listener."""

    def add(
        self, path: str, handler: WebhookHandler, *, proof: str, max_body: int = MAX_BODY
    ) -> None:
        """Serve `path` (GET and POST). Raises `ConfigurationError` if it is taken, or without the
        name of a header in `proof`.

        `proof` has the platform's signature or secret, which the handler checks: a POST without it
        is refused before any of its body is read, and so is a body of more than `max_body` bytes.
        """

    def remove(self, path: str) -> None:
        """Stop serving `path`; unknown paths are no error."""


class BodyReader(Protocol):
    """Reads a request's body, at most `limit` bytes. Raises `BadInput` where there are more."""

    async def __call__(self, limit: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class LocalRequest:
    """A request that the local listener has let in."""

    method: str
    """The HTTP method, in upper case."""
    path: str
    """The path, as it was sent."""
    read: BodyReader = field(repr=False)
    """Reads the body, up to a limit in bytes."""
    query: Mapping[str, str] = field(default_factory=dict)
    """The parameters of the query, decoded."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The headers, by their names in lower case."""
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The cookies by name."""
    params: Mapping[str, str] = field(default_factory=dict)
    """The values of the path's placeholders, by name."""
    encrypted: bool = False
    """True for https, also before a proxy."""
    trusted: bool = False
    """True with access to the local pages, which paths for everybody do not need."""

    @property
    def content_type(self) -> str:
        """The type of the body without its parameters, in lower case."""
        given = self.headers.get("content-type", "application/octet-stream")
        return given.partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class LocalResponse:
    """A complete answer."""

    body: bytes = field(default=b"", repr=False)
    """The bytes of the response."""
    status: int = 200
    """The HTTP status."""
    content_type: str = "text/plain; charset=utf-8"
    """The media type of the body, with its charset."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers by name; the listener adds its own security headers where there are none."""


class ServerEvent(Struct, frozen=True):
    """One server-sent event, of one line of data."""

    data: str
    """The data, one line."""
    name: str = ""
    """The type of the event; empty for the default one."""
    id: str = ""
    """The id from which a client goes on; empty for none."""


class EventStream(Struct, frozen=True):
    """A streamed answer."""

    events: AsyncIterator[ServerEvent | None]
    """They are sent as they come, until they end or the client disconnects. None stands for a
    period without events: the listener then checks if the client is still connected."""
    close: Callable[[], None]
    """Called once at the end, also if nothing was sent."""


LocalHandler: TypeAlias = Callable[[LocalRequest], Awaitable[LocalResponse | EventStream]]


class LocalRoute(Struct, frozen=True):
    """A path of the local listener, and who may call it."""

    method: Literal["GET", "POST"]
    """The HTTP method."""
    path: str
    """The path; `{name}` in it is a placeholder for one segment."""
    handler: LocalHandler
    """Answers a request that was let in."""
    allowed: Allowed
    """The credentials and roles that may call it."""


@runtime_checkable
class CanServePages(Protocol):
    """An adapter with pages of its own on the local listener."""

    @property
    def page(self) -> str:
        """The path of the start page."""
        ...

    def routes(self) -> Sequence[LocalRoute]:
        """The routes that the local listener serves for the adapter."""
        ...


def json_response(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> LocalResponse:
    """Return a value as JSON."""
    return LocalResponse(
        json.dumps(value).encode(), status, "application/json; charset=utf-8", headers or {}
    )


def error_response(status: int, message: str) -> LocalResponse:
    """Return a refusal with a reason, as JSON."""
    return json_response({"error": message}, status)
