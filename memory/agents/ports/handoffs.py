"""Storage of handoffs, and what the service of handoffs needs to know of agents and people."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct

from gateway.message import Notice, Place
from memory.agents.model import Agent, AgentLimits, Handoff, HandoffStep
from memory.model.scope import RequestScope

Capacity = Literal[
    "stored", "full", "person_full", "target_full", "target_full_of_yours", "too_often"
]
"""The result of storing a handoff; everything but `stored` names the limit that is reached: of all
handoffs, of those from the agents of one person, of those that wait for the receiver, of those
among them from the agents of one other person, of those that the receiver, a person, gets in an
hour."""


class Receiver(Struct, frozen=True):
    """The caller as a receiver: one of their agents, or the person by all linked identities."""

    tenant: str
    agent: str = ""
    persons: tuple[str, ...] = ()


class HandoffStore(Protocol):
    """Every method raises `StoreUnavailable`. A state changes by one conditional update: of two
    callers at once one succeeds."""

    async def add(
        self, handoff: Handoff, limits: AgentLimits, now: datetime, linked: Sequence[str] = ()
    ) -> Capacity:
        """Store a pending handoff, unless a limit is reached. `linked` are all identities of the
        person who receives it, for whom limits count together."""
        ...

    async def find(self, tenant: str, handoff_id: str) -> Handoff | None: ...

    async def accept(self, receiver: Receiver, handoff_id: str, now: datetime) -> HandoffStep: ...

    async def reject(
        self, receiver: Receiver, handoff_id: str, reason: str, now: datetime
    ) -> HandoffStep: ...

    async def complete(
        self, receiver: Receiver, handoff_id: str, result: dict[str, object], now: datetime
    ) -> HandoffStep: ...

    async def open(self, receiver: Receiver, now: datetime, limit: int) -> list[Handoff]:
        """Return pending and accepted handoffs to this receiver, oldest first."""
        ...

    async def open_of(
        self, tenant: str, persons: Sequence[str], now: datetime, limit: int
    ) -> list[Handoff]:
        """Return pending and accepted handoffs to these persons and to their agents, oldest
        first."""
        ...

    async def of_source(self, tenant: str, agent: str, limit: int) -> list[Handoff]:
        """Return the handoffs that an agent initiated, latest first."""
        ...

    async def expire(self, now: datetime) -> list[Handoff]:
        """End a batch of handoffs whose time is over; return them."""
        ...

    async def unnotified(self, now: datetime, limit: int) -> list[Handoff]:
        """Return pending handoffs to people who were not notified yet, oldest first."""
        ...

    async def notified(self, handoff_ids: Sequence[str]) -> None:
        """Record that the receivers of these were notified."""
        ...

    async def clean(self, ended_before: datetime) -> Counter[tuple[str, str]]:
        """Delete a batch of handoffs that ended before that time; return their number by tenant and
        status."""
        ...


class Reach(Struct, frozen=True):
    """The ways to write to a person. `place` is their latest direct conversation, None if none is
    known; `persons` are all linked identities; `memory_off` for one of them, or there."""

    place: Place | None
    persons: tuple[str, ...]
    memory_off: bool = False


class DirectPlaceStore(Protocol):
    """The latest direct conversation of each person. Every method raises `StoreUnavailable`."""

    async def note(self, tenant: str, person: str, place: Place, at: datetime) -> None: ...

    async def reach(self, tenant: str, person: str) -> Reach: ...

    async def prune(self, before: datetime) -> int:
        """Delete a batch of places that were used before that time; return their number."""
        ...


class AgentDirectory(Protocol):
    """Finds agents. Implemented by the registry."""

    async def own(self, request: RequestScope, agent_id: str) -> Agent:
        """Return an agent of the caller. Raises `NotFound`."""
        ...

    async def receiver(self, request: RequestScope, source: Agent, agent_id: str) -> Agent | None:
        """Return an agent, with its person, to which the caller's agent `source` may hand tasks."""
        ...


class PersonAccess(Protocol):
    """Decides about people who did not write just now."""

    async def served(self, tenant: str, person: str, place: Place) -> bool:
        """True if this person belongs to the tenant and may use the assistant in this place."""
        ...


class NoticeQueue(Protocol):
    """Sends messages to people."""

    async def send(self, group: str, notices: Sequence[Notice]) -> None:
        """Queue notices; the same `group` again queues nothing twice."""
        ...
