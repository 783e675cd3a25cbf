"""Tells a person once in each place that they write with a program, where the operator wants it."""

from typing import Final

from gateway.latest import Latest
from gateway.ports.clock import Clock
from gateway.stores.first_contacts import FirstContacts
from gateway.text import Sentence, text

MAX_KEPT: Final = 10_000
A_PROGRAM: Final[Sentence] = text(
    "_I am a computer program: an AI model writes my answers. You are not talking to a person._"
)


class Disclosure:
    """Finds first contacts. Without a store nothing is said."""

    def __init__(self, store: FirstContacts | None = None, clock: Clock | None = None) -> None:
        self._store = store
        self._clock = clock
        self._told: Latest[tuple[str, str, str], str] = Latest(MAX_KEPT)

    async def is_due(self, tenant: str, person: str, room: str, turn: str) -> bool:
        """Return True in the first turn of a `str(PersonId)` in a room. Raises
        `StoreUnavailable`."""
        if self._store is None or self._clock is None:
            return False
        who = (tenant, person, room)
        told_in = self._told.get(who)
        if told_in is None:
            first = await self._store.is_first(*who, turn, self._clock.now())
            told_in = self._told[who] = turn if first else "-"
        return told_in == turn

    def forget(self, tenant: str, person: str) -> None:
        """Forget what was noted of a person, after their erasure."""
        for who in [one for one in self._told if one[:2] == (tenant, person)]:
            del self._told[who]
