"""Parses the query and the body of a request; refuses invalid values with a reason."""

import asyncio
from typing import Final, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from parley.http.api.errors import Refused

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
