"""Export and erasure of a person's data."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class PersonalDataStore(Protocol):
    """A store that can export and erase what it holds about a person."""

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return everything as JSON-like values with a "table" key."""
        ...

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        """Return the number of rows that `export` returns, by "table"; none for empty ones."""
        ...

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Delete everything; return the number of rows. What the answer to `turn_id` needs stays
        until it is sent."""
        ...


class PlaceCount(Struct, frozen=True):
    """The data about a person in one place: memories that were learned there, and sides of
    turns. `room` is empty for direct messages, otherwise as `room_of` returns it."""

    room: str
    audience: str
    learned: int
    said: int


class TenantProject(Struct, frozen=True):
    """A project of a tenant, and the number of entries that wait for an operator there."""

    id: str
    title: str
    waiting: int


class WorkingMemory(PersonalDataStore, Protocol):
    """Working memory: turns, tasks and summaries of conversations, stored for
    `context.ttl_hours`."""

    async def working(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return rows of "turns" and "conversation_notes", as `export` does."""
        ...

    async def clear(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete the rows of these people; return their number."""
        ...


class PersonCount(Struct, frozen=True):
    """The number of a person's memories and open reviews; `person` is a `str(PersonId)`."""

    person: str
    episodic: int
    semantic: int
    waiting: int
