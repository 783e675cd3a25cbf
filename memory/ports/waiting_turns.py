"""Storage of answered turns that wait to be stored as memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.ports.memory import WaitingTurn
from memory.model.record import Record
from memory.model.scope import AccessScope


@dataclass(frozen=True, slots=True)
class ConsolidatedTurn:
    """A waiting turn and the records that replace it."""

    turn: WaitingTurn
    access: AccessScope
    records: tuple[Record, ...]


class WaitingTurns(Protocol):
    """Unchanged turns that the gateway stored (`gateway.ports.unit_of_work.CompletedTurn`).
    Quarantined ones are not returned."""

    async def oldest(self, limit: int) -> list[WaitingTurn]:
        """Return the oldest turns, oldest first."""
        ...

    async def within(self, access: AccessScope, limit: int) -> list[WaitingTurn]:
        """Return turns of this person and of this room, oldest first."""
        ...

    async def saying(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str], limit: int
    ) -> list[WaitingTurn]:
        """Return turns that contain one of these messages."""
        ...

    async def take_up(self, turns: Sequence[ConsolidatedTurn]) -> set[str]:
        """Replace turns by their records, in one transaction; return the ids of those that were
        still waiting, unchanged."""
        ...

    async def discard_quarantined(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> int:
        """Delete quarantined turns that contain one of these messages; return their number."""
        ...

    async def count(self) -> int:
        """Return the number of waiting turns."""
        ...
