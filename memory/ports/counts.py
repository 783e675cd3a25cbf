"""Counts of stored memories by person, for operators."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class PersonCount:
    """The number of a person's memories and open reviews; `person` is a `str(PersonId)`."""

    person: str
    episodic: int
    semantic: int
    waiting: int


class MemoryCounts(Protocol):
    """Lists people with stored memories, without content."""

    async def known(self, tenant: str, limit: int) -> list[PersonCount]: ...
