"""Takeovers: conversations that an operator answers instead of the assistant."""

from datetime import datetime
from typing import Protocol

from msgspec import Struct

MAX_NAME = 60
"""Characters of the name under which an operator answers."""


class Takeover(Struct, frozen=True):
    """A conversation in the hands of an operator. `operator` is a `str(PersonId)`, `name` the name
    that people read. `person` is the `str(PersonId)` of a direct conversation, empty for a room.

    The operator reads what was written from `since` on; `shared`: the person shows them the earlier
    text too. `active` is when the operator last took part.
    """

    id: str
    tenant: str
    conversation: str
    operator: str
    name: str
    person: str
    since: datetime
    active: datetime
    shared: bool = False


class Takeovers(Protocol):
    """Stores at most one takeover per conversation. Everything raises `StoreUnavailable`."""

    async def take(self, takeover: Takeover, idle_before: datetime) -> bool:
        """Store a takeover; False if the conversation has one whose operator took part since
        `idle_before`."""

    async def of(self, conversation: str) -> Takeover | None:
        """Return the takeover of a conversation, also one that has become idle."""

    async def find(self, takeover_id: str) -> Takeover | None:
        """Return a takeover by its id."""

    async def took_part(self, takeover_id: str, at: datetime) -> bool:
        """Record that the operator took part; False if it has ended."""

    async def share(self, takeover_id: str) -> bool:
        """Record that the person shows the earlier text; False if it has ended."""

    async def end(self, takeover_id: str, at: datetime) -> bool:
        """Give the conversation back; False if that has happened. The takeover stays as a record
        for its person."""
