"""The operations of the HTTP interface: their description, the reading of requests."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar

from msgspec import Struct
from pydantic import BaseModel, Field, ValidationError, create_model
from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope

from gateway.ports.action import Action, Empty, Input, Nothing, Output
from gateway.ports.rights import Allowed, Credential
from gateway.stores.usage import SpendingReader
from gateway.text import text
from memory.actions.call import AgentCall
from parley.http.api.errors import CallRefused
from parley.http.api.invalid import reason_of
from parley.http.asgi import (
    RequestTooLarge,
    content_length,
    headers_of,
    read_body,
    values_of,
)

MAX_PARAMETERS: Final = 50
MANY_PARAMETERS: Final = text("A request has at most {count} parameters.", count=MAX_PARAMETERS)
GIVEN_TWICE: Final = text("This parameter is given more than once.")
BODY_SECONDS: Final = 10.0
JSON: Final = "application/json"

MAX_PROJECT: Final = 300
Model = TypeVar("Model", bound=BaseModel)


class Plain(Input):
    """The project, if it is not the chosen one."""

    project: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_PROJECT, description="A project that you belong to."),
    ] = None


def read_query(scope: Scope, model: type[Model]) -> Model:
    """Return the query as `model`. Raises `CallRefused` (400)."""
    query = QueryParams(scope["query_string"])
    if len(query.multi_items()) > MAX_PARAMETERS:
        raise CallRefused("bad_query", MANY_PARAMETERS, "query")
    given: dict[str, object] = {}
    for name in query:
        values = query.getlist(name)
        field = model.model_fields.get(name)
        if field is not None and isinstance(field.default, tuple):
            given[name] = tuple(values)
        elif len(values) > 1:
            raise CallRefused("bad_query", GIVEN_TWICE, f"query.{name[:50]}")
        else:
            given[name] = values[0]
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _unfit(error, "bad_query", "query") from None


def has_body(scope: Scope) -> bool:
    """Return True if the request announces a body."""
    return content_length(scope) > 0 or bool(values_of(scope, "transfer-encoding"))


async def read_json(scope: Scope, receive: Receive, model: type[Model], most: int) -> Model:
    """Return the JSON body, of at most `most` bytes, as `model`. Raises `CallRefused` (400, 408,
    413, 415)."""
    if not _is_json(headers_of(scope).get("content-type", "")):
        raise CallRefused("not_json", f"Send {JSON}, in UTF-8.", "header.Content-Type")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            raw = await read_body(scope, receive, most)
    except TimeoutError:
        raise CallRefused("too_slow", "The body did not arrive in time.", "body") from None
    except RequestTooLarge:
        message = f"A body has at most {most // 1024} kB."
        raise CallRefused("too_large", message, "body") from None
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise _unfit(error, "bad_body", "body") from None


def _is_json(content_type: str) -> bool:
    kind, *parameters = (part.strip() for part in content_type.lower().split(";"))
    charsets = [
        text.removeprefix("charset=").strip('"') for text in parameters if text[:8] == "charset="
    ]
    return kind == JSON and (charsets or ["utf-8"])[0] in ("utf-8", "utf8")


def _unfit(error: ValidationError, code: str, where: str) -> CallRefused:
    first = error.errors(include_url=False, include_input=False)[0]
    path = ".".join((where, *(str(step)[:50] for step in first["loc"][:5])))
    # A page shows a query's refusal; the body of a call is read by programs alone.
    return CallRefused(code, reason_of(first) if where == "query" else first["msg"], path)


In = TypeVar("In", bound=Input)
Out = TypeVar("Out", bound=Output)

MAX_BODY: Final = 64 * 1024
"""Bytes of a body. The longest document takes 40,000 in UTF-8, more if it is escaped."""

Method = Literal["GET", "PUT", "POST", "DELETE"]


class ApiCall(AgentCall, frozen=True):
    """An authenticated request. `item` is the id in the path, empty if there is none; `turns` is
    true if turns are stored as memory; `spending` reads the cost of answers."""

    spending: SpendingReader
    item: str = ""
    turns: bool = True


class OperationAnswer(Struct, frozen=True):
    """A successful response; without a model it has no body."""

    status: int
    """The HTTP status, from 200 to 299."""
    body: BaseModel | None = None
    """The model of the body; None: there is no body."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation. `path` is below the prefix and may contain `{id}`. `allowed` are the
    credentials and the role that it needs. `answers` has the statuses of success with their models,
    `refusals` the statuses of failure of this operation alone. A body has at most `most` bytes."""

    method: Method
    """The HTTP method."""
    path: str
    name: str
    """The operation's id in the description, unique."""
    summary: str
    """One sentence for the description."""
    allowed: Allowed
    run: Callable[[ApiCall, Plain, Input], Awaitable[OperationAnswer]]
    """Carries the operation out, with its query and its body."""
    query: type[Plain]
    """The model of the query."""
    body: type[Input]
    """The model of the body; `Nothing`: a body is not read."""
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


OWN: Final = frozenset(Plain.model_fields)
"""The parameters that select the call, and are no input of an action."""


def rest(
    method: Method,
    path: str,
    name: str,
    one: Action[Any, In, Out],
    done: str,
    refusals: Mapping[int, str],
    *,
    summary: str = "",
    fixed: Mapping[str, object] | None = None,
    body: type[Input] | None = None,
    waits: str = "",
    conflict: str = "",
    status: int = 200,
    most: int = MAX_BODY,
) -> Operation:
    """Return the address of an action, for tokens.

    The query of a GET and the body of another method are the input without what the address says:
    the names in `fixed`, and the `id` of the path. `body` is a narrower one. `done` and `waits`
    describe the answers: `waits` and `conflict` those of an output that waits or was too late,
    `done` every other, which has this `status`, or 204 without content.
    """
    given = frozenset({*(fixed or {}), *({"id"} if "{id}" in path else ())})
    reads = method == "GET"

    async def run(call: ApiCall, query: Plain, sent: Input) -> OperationAnswer:
        fields = {"id": call.item} if "{id}" in path else {}
        values = {**fields, **(fixed or {}), **_values(query), **_values(sent)}
        output = await one(call, one.input(**values))
        if isinstance(output, Empty):
            return OperationAnswer(204)
        undone = 202 if output.is_pending else 409 if output.is_conflict else 0
        return OperationAnswer(undone or status, output)

    if one.output is Empty:
        answers: dict[int, tuple[type[Output] | None, str]] = {204: (None, done)}
    else:
        answers = {status: (one.output, done)}
    answers |= {
        undone: (one.output, text) for undone, text in ((202, waits), (409, conflict)) if text
    }
    return Operation(
        *(method, path, name, summary or one.summary, one.on(Credential.TOKEN, Credential.AGENT)),
        run,
        query_part(one.input, given) if reads else Plain,
        Nothing if reads else body or body_part(one.input, given),
        answers,
        refusals,
        most,
    )


def _values(model: Input) -> dict[str, object]:
    return {name: getattr(model, name) for name in type(model).model_fields if name not in OWN}


@cache
def query_part(model: type[Input], left_out: frozenset[str]) -> type[Plain]:
    """Return the query with the fields of an input, but for some."""
    fields = _fields(model, left_out)
    return create_model(f"{model.__name__}Query", __base__=Plain, **fields) if fields else Plain


@cache
def body_part(model: type[Input], left_out: frozenset[str]) -> type[Input]:
    """Return the body with the fields of an input, but for some; `Nothing` without fields."""
    fields = _fields(model, left_out)
    if not fields:
        return Nothing
    if len(fields) == len(model.model_fields):
        return model
    name = f"{model.__name__.removesuffix('Input')}Body"
    return create_model(name, __base__=Input, __doc__=model.__doc__, **fields)


def _fields(model: type[Input], left_out: frozenset[str]) -> dict[str, Any]:
    return {
        name: (field.annotation, field)
        for name, field in model.model_fields.items()
        if name not in left_out
    }
