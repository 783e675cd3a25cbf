"""People who have to write before the platform takes what waits for them (WhatsApp).

They are kept in memory, so that a message costs no read of a store.
"""

from collections.abc import Collection, Sequence
from typing import Final

MAX_AWAITED: Final = 10_000
"""People who are recognised; for others the store is looked at every ten minutes."""


class AwaitedPeople:
    """Notes which of the awaited people wrote. People are a tenant and a `str(PersonId)`."""

    def __init__(self) -> None:
        self._awaited: frozenset[tuple[str, str]] = frozenset()
        self._heard: set[tuple[str, str]] = set()

    def expect(self, people: Collection[tuple[str, str]]) -> None:
        """Replace the people who are awaited."""
        self._awaited = frozenset(people)

    def note_heard(self, tenant: str, person: str) -> None:
        """Note that a person writes, if they are awaited."""
        if self._awaited and (tenant, person) in self._awaited:
            self._heard.add((tenant, person))

    def take_heard(self) -> Sequence[tuple[str, str]]:
        """Return the awaited people who wrote since the last call."""
        heard, self._heard = self._heard, set()
        return sorted(heard)
