"""Passes accepted events on to the process that works on them."""

from collections.abc import Collection
from typing import Protocol

from gateway.message import InlineQueried, Place
from gateway.people import PersonId
from gateway.ports.inbox import InboxEntry


class Dispatcher(Protocol):
    """Dispatches accepted events."""

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when nothing more can wait."""

    def is_crowded_by(self, person: PersonId) -> bool:
        """Return True when much waits, and this person has their share of it."""

    async def accept(self, entry: InboxEntry) -> None:
        """Dispatch an event of the inbox."""

    async def holds(self, conversation: str, place: Place, message_ids: Collection[str]) -> bool:
        """Return True when one of these messages is accepted and may not be answered yet."""

    def answer_inline(self, event: InlineQueried) -> bool:
        """Offer completions while a person types, without storing them. False without capacity."""
