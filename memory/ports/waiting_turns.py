"""Turns that were answered and wait to be taken up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.remembering import WaitingTurn
from memory.model.record import Record
from memory.model.scope import AccessScope


@dataclass(frozen=True, slots=True)
class ConsolidatedTurn:
    """A turn that waited, and the sides of it that are to be kept."""

    turn: WaitingTurn
    access: AccessScope
    records: tuple[Record, ...]


class WaitingTurns(Protocol):
    """Turns that the gateway kept as they were said (`gateway.ports.stores.CompletedTurn`). Those
    that are
    quarantined are not given out."""

    async def oldest(self, limit: int) -> list[WaitingTurn]:
        """The oldest first."""
        ...

    async def within(self, access: AccessScope, limit: int) -> list[WaitingTurn]:
        """What this person said, and what was said in this room, oldest first."""
        ...

    async def saying(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str], limit: int
    ) -> list[WaitingTurn]:
        """Those that go back to one of these messages."""
        ...

    async def take_up(self, turns: Sequence[ConsolidatedTurn]) -> set[str]:
        """Keep the records in place of the turns, in one step; only of those that still wait as
        they were. The ids of those."""
        ...

    async def discard_quarantined(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> int:
        """Delete quarantined turns that go back to one of these messages; returns how many."""
        ...

    async def count(self) -> int:
        """How many wait."""
        ...
