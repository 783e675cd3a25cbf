"""An operation of the API: its parameters, its handler and all its responses.

The routes and the OpenAPI description derive from the same values, so they cannot differ.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel

from gateway.observe.spending import SpendingReader
from memory.brain.documents import Brain
from memory.service.handle import MemoryHandle
from parley.http.api.models import Nothing, Plain, RequestModel

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
