"""The public listener, as far as an adapter sees it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

MAX_BODY: Final = 3 * 1024 * 1024
"""Bytes of one request's body. Meta's webhooks are the largest, up to 3 MB (Graph API webhooks)."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """A request to the public listener. Header names are in lower case; `body` is untouched."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """The answer of the public listener."""

    status: int = 200
    body: str = ""
    content_type: str = "text/plain"


WebhookHandler: TypeAlias = Callable[[WebhookRequest], Awaitable[WebhookResponse]]


class WebhookRoutes(Protocol):
    """The public listener, as far as an adapter sees it."""

    def add(
        self, path: str, handler: WebhookHandler, *, max_body: int = MAX_BODY, proof: str = ""
    ) -> None:
        """Serve `path` (GET and POST). Raises `ConfigurationError` when it is taken.

        Bodies of more than `max_body` bytes are refused, and so is a POST without the header
        `proof` (the platform's signature or secret) before any of its body is read.
        """
        ...

    def remove(self, path: str) -> None:
        """Stop serving `path`; unknown paths are fine."""
        ...
