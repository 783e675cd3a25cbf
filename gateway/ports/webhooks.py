"""The public listener, as far as an adapter sees it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias


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
    """What the public listener answers."""

    status: int = 200
    body: str = ""
    content_type: str = "text/plain"


WebhookHandler: TypeAlias = Callable[[WebhookRequest], Awaitable[WebhookResponse]]


class WebhookRoutes(Protocol):
    """The public listener, as far as an adapter sees it."""

    def add(self, path: str, handler: WebhookHandler) -> None:
        """Serve `path` (GET and POST). Raises `ConfigurationError` when it is taken."""
        ...

    def remove(self, path: str) -> None:
        """Stop serving `path`; unknown paths are fine."""
        ...
