"""One operation of the interface: what it takes, what it does, everything it may answer.

The routes and the description are made from the same values, so that they cannot differ.
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
"""Bytes of a body. The longest document takes 40,000 in UTF-8, more where it is escaped."""

Method = Literal["GET", "PUT", "POST", "DELETE"]


@dataclass(frozen=True, slots=True)
class Call:
    """A request of somebody who is known. `item` is the id in the path, empty where there is
    none; `turns` says whether turns are kept as memory; `spending` knows what answers cost."""

    handle: MemoryHandle
    brain: Brain
    spending: SpendingReader
    item: str = ""
    turns: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered when it is served; without a model there is no body."""

    status: int
    body: BaseModel | None = None


@dataclass(frozen=True, slots=True)
class Operation(Generic[Q, B]):
    """`path` is below the prefix, with `{id}` where an id stands. `answers` are the statuses of
    success with their models, `refusals` those of failure that are this operation's own. `most`
    bytes of a body are read."""

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
        """Whether it reads a body."""
        return self.body is not Nothing

    @property
    def body_required(self) -> bool:
        """Whether it cannot do without one."""
        return any(each.is_required() for each in self.body.model_fields.values())


AnyOperation: TypeAlias = Operation[Any, Any]
