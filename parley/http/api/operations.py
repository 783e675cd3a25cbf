"""The operations of the HTTP interface: their description, the reading of requests, errors."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import BaseModel, ValidationError

from db.errors import StoreUnavailable
from gateway.errors import BadInput, NotFound
from gateway.stores.usage import SpendingReader
from memory.brain.documents import Brain
from memory.service.handle import MemoryHandle
from parley.http.api.models import Nothing, Plain, RequestModel
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


MAX_PARAMETERS: Final = 50
BODY_SECONDS: Final = 10.0
JSON: Final = "application/json"

Model = TypeVar("Model", bound=BaseModel)


def read_query(request: web.Request, model: type[Model]) -> Model:
    """Return the query as `model`. Raises `Refused` (400)."""
    query = request.query
    if len(query) > MAX_PARAMETERS:
        raise Refused(
            400, "bad_query", f"A request has at most {MAX_PARAMETERS} parameters.", "query"
        )
    given: dict[str, object] = {}
    for name in set(query):
        values = query.getall(name)
        field = model.model_fields.get(name)
        if field is not None and isinstance(field.default, tuple):
            given[name] = tuple(values)
        elif len(values) > 1:
            raise Refused(
                400, "bad_query", "This parameter is given more than once.", f"query.{name[:50]}"
            )
        else:
            given[name] = values[0]
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _unfit(error, 400, "bad_query", "query") from None


async def read_body(request: web.Request, model: type[Model], most: int) -> Model:
    """Return the JSON body, of at most `most` bytes, as `model`. Raises `Refused` (400, 408, 413,
    415)."""
    if request.content_type != JSON or (request.charset or "utf-8").lower() not in (
        "utf-8",
        "utf8",
    ):
        raise Refused(415, "not_json", f"Send {JSON}, in UTF-8.", "header.Content-Type")
    raw = await _bounded(request, most)
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise _unfit(error, 400, "bad_body", "body") from None


async def _bounded(request: web.Request, most: int) -> bytes:
    if (request.content_length or 0) > most:
        raise _too_large(most)
    raw = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.content.iter_any():
                raw += chunk
                if len(raw) > most:
                    raise _too_large(most)
    except TimeoutError:
        raise Refused(408, "too_slow", "The body did not arrive in time.", "body") from None
    return bytes(raw)


def _too_large(most: int) -> Refused:
    # The rest of the body is not read, so the connection cannot be reused.
    message = f"A body has at most {most // 1024} kB."
    return Refused(413, "too_large", message, "body", {"Connection": "close"})


def _unfit(error: ValidationError, status: int, code: str, where: str) -> Refused:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    path = ".".join((where, *(str(step)[:50] for step in first["loc"][:5])))
    return Refused(status, code, first["msg"], path)


Q = TypeVar("Q", bound=Plain)
B = TypeVar("B", bound=RequestModel)

MAX_BODY: Final = 64 * 1024
"""Bytes of a body. The longest document takes 40,000 in UTF-8, more if it is escaped."""

Method = Literal["GET", "PUT", "POST", "DELETE"]


@dataclass(frozen=True, slots=True)
class Call:
    """An authenticated request. `item` is the id in the path, empty if there is none; `turns` is
    true if turns are stored as memory; `spending` reads the cost of answers."""

    handle: MemoryHandle
    brain: Brain
    spending: SpendingReader
    item: str = ""
    turns: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful response; without a model it has no body."""

    status: int
    body: BaseModel | None = None


@dataclass(frozen=True, slots=True)
class Operation(Generic[Q, B]):
    """An operation. `path` is below the prefix and may contain `{id}`. `answers` has the statuses
    of success with their models, `refusals` the statuses of failure of this operation alone. A body
    has at most `most` bytes."""

    method: Method
    path: str
    name: str
    summary: str
    run: Callable[[Call, Q, B], Awaitable[Answer]]
    query: type[Q]
    body: type[B]
    answers: Mapping[int, tuple[type[BaseModel] | None, str]]
    refusals: Mapping[int, str] = field(default_factory=dict)
    most: int = MAX_BODY

    @property
    def takes_body(self) -> bool:
        """True if it reads a body."""
        return self.body is not Nothing

    @property
    def body_required(self) -> bool:
        """True if it needs a body."""
        return any(each.is_required() for each in self.body.model_fields.values())


AnyOperation: TypeAlias = Operation[Any, Any]
