"""Everything of a person, given out or erased."""

from collections.abc import Sequence
from typing import Protocol


class PersonalDataStore(Protocol):
    """A store that holds something of a person's: it can give it out and erase it."""

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Everything, as JSON-like values with a "table" key."""
        ...

    async def erase(self, tenant: str, persons: Sequence[str], exchange: str = "") -> int:
        """Delete all of it; how many rows went. What the answer to `exchange`
        needs stays until then: whoever asks for this hears that it is done."""
        ...


class WorkingMemory(PersonalDataStore, Protocol):
    """Working memory: the turns, tasks and summaries of conversations that are going on, until
    `context.ttl_hours` pass."""

    async def working(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """All of it, as `export` gives it out: rows of "turns" and "conversation_notes"."""
        ...

    async def clear(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete them, of these people; how many rows went."""
        ...
