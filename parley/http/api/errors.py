"""The errors of the HTTP interface: a refusal, and the one form of every error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from db.errors import StoreUnavailable
from gateway.errors import (
    BadInput,
    MemoryUnavailable,
    store_notice,
)
from gateway.ports.action import Output
from gateway.ports.error_codes import status_of
from gateway.ports.http_routes import json_response
from gateway.text import Unconverted, joined, text
from parley.http.asgi import ClientGone, RequestTooLarge, exchange_of
from parley.http.starlette_routes import as_http

RETRY_SECONDS: Final = 5
"""`Retry-After` while a store is unavailable."""
NO_PATH: Final = text("This path does not exist.")
NO_METHOD: Final = text("This path does not accept this method.")
FAILED: Final = text("An internal error occurred; the log has the details.")
TRY_AGAIN: Final = text(
    "Try again in a moment. If it stays so, an operator finds the cause with `parley doctor`."
)
BACKEND_SECONDS: Final = 30
"""`Retry-After` while a memory backend is unavailable: it rests that long after failures."""

log = structlog.get_logger(__name__)


class ErrorDetail(Output):
    """`code` is stable, `message` for people, `where` the part of the request that is wrong, such
    as `body.content`."""

    code: str
    message: str
    where: str


class ErrorOut(Output):
    """The reason why a request was refused."""

    error: ErrorDetail
    """The one form of every error."""


@dataclass
class CallRefused(Exception):
    """A refused call; its code has the status. `where` names the wrong part of the request."""

    code: str
    message: Unconverted
    """The reason and the next step: a text for people, English words for programs."""
    where: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers of the response, such as `Retry-After`."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        return status_of(self.code)


def refusal(refused: CallRefused) -> Response:
    """Return the response of a refusal."""
    error = {"code": refused.code, "message": str(refused.message), "where": refused.where}
    return as_http(json_response({"error": error}, refused.status, refused.headers))


def without_store(error: StoreUnavailable) -> CallRefused:
    """Return the refusal while a store does not answer; it names the store, not its address."""
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return CallRefused(
        "unavailable", joined((store_notice(error), TRY_AGAIN), " "), error.store, headers
    )


class UniformErrors(Struct, frozen=True):
    """Answers every error in the one form."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        except (ClientGone, RequestTooLarge):
            raise  # nobody reads an answer; the bound of the listener itself
        except Exception as error:
            refused = as_refused(error)
            if refused.status == 500:
                log.exception("api_failed", method=scope["method"])
            exchange_of(scope).reason = refused.code
            await refusal(refused)(scope, receive, send)


def as_refused(error: Exception) -> CallRefused:
    """Return an error as a refusal, and log a store that does not answer."""
    match error:
        case CallRefused():
            return error
        case MemoryUnavailable():
            log.warning("api_without_memory_backend", error=str(error))
            headers = {"Retry-After": str(BACKEND_SECONDS)}
            return CallRefused(error.code, error.text, headers=headers)
        case BadInput():
            return CallRefused(error.code, error.text, error.where)
        case StoreUnavailable():
            log.warning("api_without_store", store=error.store, error=str(error))
            return without_store(error)
        case HTTPException(status_code=404):
            return CallRefused("not_found", NO_PATH, "path")
        case HTTPException(status_code=405):
            return CallRefused("method_not_allowed", NO_METHOD, "method", error.headers or {})
        case _:
            return CallRefused("failed", FAILED)
