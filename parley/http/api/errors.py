"""Errors in one form: `{"error": {"code", "message", "where"}}`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from db.errors import StoreUnavailable
from gateway.errors import BadInput, NotFound
from parley.http.denied_requests import DENIED, Denied

RETRY_SECONDS: Final = 5
"""`Retry-After` while the database is unavailable."""

log = structlog.get_logger(__name__)


@dataclass
class Refused(Exception):
    """A refused request; `where` names its wrong part."""

    status: int
    code: str
    message: str
    where: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def refusal(refused: Refused) -> web.Response:
    """Return the response of a refusal."""
    error = {"code": refused.code, "message": refused.message, "where": refused.where}
    answer = web.json_response(
        {"error": error}, status=refused.status, headers=dict(refused.headers) or None
    )
    answer[DENIED] = Denied(refused.code)
    return answer


@web.middleware
async def error_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return every error in the one form."""
    try:
        return await handler(request)
    except Refused as refused:
        return refusal(refused)
    except NotFound as error:
        return refusal(Refused(404, "not_found", str(error)))
    except BadInput as error:
        return refusal(Refused(422, "refused", str(error)))
    except StoreUnavailable as error:
        log.warning("api_without_store", error=str(error))
        return refusal(
            Refused(
                503,
                "unavailable",
                "The database does not answer. Please try again.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        )
    except web.HTTPException as error:
        return refusal(_from_http(error))
    except Exception:
        log.exception("api_failed", method=request.method)
        return refusal(
            Refused(500, "failed", "An internal error occurred; the log has the details.")
        )


def _from_http(error: web.HTTPException) -> Refused:
    """Return the refusal for an error of aiohttp."""
    headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
    match error.status:
        case 404:
            return Refused(404, "not_found", "This path does not exist.", "path")
        case 405:
            return Refused(
                405,
                "method_not_allowed",
                "This path does not accept this method.",
                "method",
                headers,
            )
        case 413:
            return Refused(413, "too_large", "The body is too large.", "body")
        case _:
            return Refused(error.status, "bad_request", error.reason, "", headers)
