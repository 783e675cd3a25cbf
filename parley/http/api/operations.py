"""The operations of the HTTP interface: their description, the reading of requests."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope

from gateway.ports.rights import Allowed
from gateway.stores.usage import SpendingReader
from memory.agents.services import AgentServices
from memory.brain.documents import Brain
from memory.service.handle import MemoryHandle
from parley.http.api.errors import Refused
from parley.http.api.models import Nothing, Plain, RequestModel
from parley.http.asgi import (
    BodyTooLarge,
    content_length,
    headers_of,
    read_body,
    values_of,
)

MAX_PARAMETERS: Final = 50
BODY_SECONDS: Final = 10.0
JSON: Final = "application/json"

Model = TypeVar("Model", bound=BaseModel)


def read_query(scope: Scope, model: type[Model]) -> Model:
    """Return the query as `model`. Raises `Refused` (400)."""
    query = QueryParams(scope["query_string"])
    if len(query.multi_items()) > MAX_PARAMETERS:
        raise Refused(
            400, "bad_query", f"A request has at most {MAX_PARAMETERS} parameters.", "query"
        )
    given: dict[str, object] = {}
    for name in query:
        values = query.getlist(name)
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


def has_body(scope: Scope) -> bool:
    """Return True if the request announces a body."""
    return content_length(scope) > 0 or bool(values_of(scope, "transfer-encoding"))


async def read_json(scope: Scope, receive: Receive, model: type[Model], most: int) -> Model:
    """Return the JSON body, of at most `most` bytes, as `model`. Raises `Refused` (400, 408, 413,
    415)."""
    if not _is_json(headers_of(scope).get("content-type", "")):
        raise Refused(415, "not_json", f"Send {JSON}, in UTF-8.", "header.Content-Type")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            raw = await read_body(scope, receive, most)
    except TimeoutError:
        raise Refused(408, "too_slow", "The body did not arrive in time.", "body") from None
    except BodyTooLarge:
        message = f"A body has at most {most // 1024} kB."
        raise Refused(413, "too_large", message, "body") from None
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise _unfit(error, 400, "bad_body", "body") from None


def _is_json(content_type: str) -> bool:
    kind, *parameters = (part.strip() for part in content_type.lower().split(";"))
    charsets = [
        text.removeprefix("charset=").strip('"') for text in parameters if text[:8] == "charset="
    ]
    return kind == JSON and (charsets or ["utf-8"])[0] in ("utf-8", "utf8")


def _unfit(error: ValidationError, status: int, code: str, where: str) -> Refused:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    path = ".".join((where, *(str(step)[:50] for step in first["loc"][:5])))
    return Refused(status, code, first["msg"], path)


Q = TypeVar("Q", bound=Plain)
B = TypeVar("B", bound=RequestModel)

MAX_BODY: Final = 64 * 1024
"""Bytes of a body. The longest document takes 40,000 in UTF-8, more if it is escaped."""

Method = Literal["GET", "PUT", "POST", "DELETE"]


class Call(Struct, frozen=True):
    """An authenticated request. `item` is the id in the path, empty if there is none; `turns` is
    true if turns are stored as memory; `spending` reads the cost of answers."""

    handle: MemoryHandle
    brain: Brain
    spending: SpendingReader
    agents: AgentServices
    item: str = ""
    turns: bool = True


class Answer(Struct, frozen=True):
    """A successful response; without a model it has no body."""

    status: int
    body: BaseModel | None = None


@dataclass(frozen=True, slots=True)
class Operation(Generic[Q, B]):
    """An operation. `path` is below the prefix and may contain `{id}`. `allowed` are the
    credentials and the role that it needs. `answers` has the statuses of success with their models,
    `refusals` the statuses of failure of this operation alone. A body has at most `most` bytes."""

    method: Method
    path: str
    name: str
    summary: str
    allowed: Allowed
    run: Callable[[Call, Q, B], Awaitable[Answer]]
    query: type[Q]
    body: type[B]
    answers: Mapping[int, tuple[type[BaseModel] | None, str]]
    refusals: Mapping[int, str] = field(default_factory=dict)
    most: int = MAX_BODY

    def __post_init__(self) -> None:
        if not isinstance(self.allowed, Allowed):
            raise TypeError(f"{self.name}: an operation declares who may call it")

    @property
    def takes_body(self) -> bool:
        """True if it reads a body."""
        return self.body is not Nothing

    @property
    def body_required(self) -> bool:
        """True if it needs a body."""
        return any(each.is_required() for each in self.body.model_fields.values())


AnyOperation: TypeAlias = Operation[Any, Any]
