"""Actions: one use case, one function, with its declared rights.

The interfaces (HTTP, console, MCP, chat) keep the addresses and the wording. Which credentials,
role and capability of an agent an action needs, what it takes and returns, and what it changes, is
said with the action, once. The rights are checked whenever it is called, whoever calls it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, Generic, TypeVar, get_type_hints

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator, WithJsonSchema

from gateway.people import Role
from gateway.ports.rights import TOKENS, Allowed, Credential, Proof, TokenScope, check
from gateway.text import Text

EVERYBODY: Final = frozenset(
    {Credential.SESSION, Credential.TOKEN, Credential.AGENT, Credential.CHAT}
)
"""Everybody who has a person: people in a browser and a chat, their programs, and their agents."""
PEOPLE: Final = EVERYBODY - {Credential.AGENT}
"""People and their programs, and no agent."""
IN_BROWSER: Final = frozenset({Credential.SESSION})
"""People who are signed in to the console."""
PROGRAMS: Final = frozenset({Credential.TOKEN})
"""Programs of people."""


class Effect(StrEnum):
    """The effect of an action on stored data. A token that only reads calls nothing but `READS`."""

    READS = "reads"
    WRITES = "writes"


class Input(BaseModel):
    """The input of an action or of an address: unknown fields and other types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class Nothing(Input):
    """An empty object, or no body."""


Said = Annotated[
    Text,
    PlainValidator(lambda said: said),
    PlainSerializer(lambda said: said.english, return_type=str),
    WithJsonSchema({"type": "string"}),
]
"""A sentence in an output: pages show it in the language of their reader, programs get it in
English."""


class Output(BaseModel):
    """The output of an action, or of one of its addresses."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @property
    def is_pending(self) -> bool:
        """True if it is not done yet, and waits for the decision of a person."""
        return False

    @property
    def is_conflict(self) -> bool:
        """True if it is not done, because somebody else was faster."""
        return False


class Empty(Output):
    """Nothing: it is done."""


class ActionCall(Struct, frozen=True):
    """One call of an action: what the caller proved. Each package adds what its actions work on."""

    proof: Proof
    """The credential, person and role that the caller proved."""


C = TypeVar("C", bound=ActionCall)
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Action(Generic[C, In, Out]):
    """A use case. `summary` says what it does in a few words, `input` and `output` are the types of
    what it takes and returns: an `Output`, or a value of the package for its own faces."""

    name: str
    """The name, unique among all actions."""
    summary: str
    allowed: Allowed
    """The credentials and roles that may call it."""
    effect: Effect
    """The effect on stored data."""
    input: type[In]
    output: type[Out]
    _run: Callable[[C, In], Awaitable[Out]]

    async def __call__(self, call: C, given: In) -> Out:
        """Run it. Raises `Denied`, and what the use case raises."""
        check(self.allowed, call.proof)
        return await self._run(call, given)

    def on(self, *by: Credential) -> Allowed:
        """Return the rights at an address that takes no other credentials. Raises `TypeError` if
        nobody could call it there."""
        left = self.allowed.by & frozenset(by)
        scope = self.allowed.scope if left & TOKENS else None
        capability = self.allowed.capability if Credential.AGENT in left else ""
        return Allowed(left, self.allowed.role, scope, capability)


def action(
    summary: str,
    *,
    by: frozenset[Credential],
    role: Role = Role.GUEST,
    capability: str | None = None,
    effect: Effect,
) -> Callable[[Callable[[C, In], Awaitable[Out]]], Action[C, In, Out]]:
    """Make an action of a function. Raises `TypeError` for one that an agent may call and that does
    not say with which capability.

    `by` are the credentials, one of which is enough; `role` is the least role of the person;
    `capability` is what an agent needs, "" for none. Nothing has a default that lets somebody in:
    without `by` and `effect` the program does not start.
    """
    if (Credential.AGENT in by) != (capability is not None):
        raise TypeError(f"{summary}: says which capability an agent needs, and no other")
    scope = TokenScope.READ if effect is Effect.READS else TokenScope.WRITE

    def made(run: Callable[[C, In], Awaitable[Out]]) -> Action[C, In, Out]:
        hints = get_type_hints(run)
        allowed = Allowed(by, role, scope if by & TOKENS else None, capability or "")
        given, output = hints["given"], hints["return"]
        return Action(run.__name__, summary, allowed, effect, given, output, run)

    return made
