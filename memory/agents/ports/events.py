"""Storage of events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from memory.agents.model import AgentEvent, EventPage


class Reader(Struct, frozen=True):
    """The reader of events: a person by all linked identities, or one agent of theirs."""

    tenant: str
    persons: tuple[str, ...]
    agent: str = ""


class EventStore(Protocol):
    """An append-only table. Every method raises `StoreUnavailable`."""

    async def add(self, events: Sequence[AgentEvent]) -> None: ...

    async def after(self, reader: Reader, number: int, limit: int) -> EventPage:
        """Return the events after a number that this reader may see, oldest first."""
        ...

    async def of_tenant(self, tenant: str, number: int, limit: int) -> list[AgentEvent]:
        """Return the events of a tenant after a number, for its operators."""
        ...

    async def newest(self) -> int:
        """Return the number of the newest event, 0 for none."""
        ...

    async def prune(self, before: datetime, most: int) -> int:
        """Delete a batch of events before that time or beyond the newest `most`; return their
        number."""
        ...
