"""Of whom there is something, for whoever runs the program."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class PersonCount:
    """A person by `str(PersonId)`, how much is kept of them, and what waits for their word."""

    person: str
    episodic: int
    semantic: int
    waiting: int


class MemoryCounts(Protocol):
    """For whoever runs the program: who is known, never what of them."""

    async def known(self, tenant: str, limit: int) -> list[PersonCount]: ...
