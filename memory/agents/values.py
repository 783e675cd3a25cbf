"""Values that the services of agents and their stores exchange."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from gateway.message import Notice, Place

Capacity: TypeAlias = Literal[
    "stored", "full", "person_full", "target_full", "target_full_of_yours", "too_often"
]
"""The result of storing a handoff; everything but `stored` names the limit that is reached: of all
handoffs, of those from the agents of one person, of those that wait for the receiver, of those
among them from the agents of one other person, of those that the receiver, a person, gets in an
hour."""

Refused: TypeAlias = Literal["missing", "denied", "full"]
"""There is no such memory, pool or member; the member may not; a limit is reached."""

IsServed: TypeAlias = Callable[[str, str, Place], Awaitable[bool]]
"""Return True if a person, who did not write just now, belongs to a tenant and may use the
assistant in a place. Takes tenant, person and place. Raises `StoreUnavailable`."""

SendNotices: TypeAlias = Callable[[str, Sequence[Notice]], Awaitable[None]]
"""Queue messages to people under the name of a group; the same name again queues nothing twice."""


class EventReader(Struct, frozen=True):
    """The reader of events: a person by all linked identities, or one agent of theirs."""

    tenant: str
    persons: tuple[str, ...]
    agent: str = ""


class HandoffReceiver(Struct, frozen=True):
    """The caller as a receiver: one of their agents, or the person by all linked identities."""

    tenant: str
    agent: str = ""
    persons: tuple[str, ...] = ()


class Reach(Struct, frozen=True):
    """The ways to write to a person. `place` is their latest direct conversation, None if none is
    known; `persons` are all linked identities; `memory_off` for one of them, or there."""

    place: Place | None
    persons: tuple[str, ...]
    memory_off: bool = False


class ReplacedText(Struct, frozen=True):
    """The new text of a shared memory: the stored memory `record_id`, which `agent` wrote, in place
    of the version `expected`."""

    pool: str
    memory: str
    agent: str
    record_id: str
    expected: int


class WebhookState(Struct, frozen=True):
    """The progress of a webhook. `number` is the last event that was delivered or given up,
    `attempts` the failures of the next one, `dead` the events that were given up, `error` the last
    failure."""

    name: str
    number: int
    attempts: int = 0
    dead: int = 0
    error: str = ""
