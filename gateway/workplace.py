"""What the intake does with a stored event: work on it here, or leave it to whoever takes it."""

from collections.abc import Collection
from datetime import timedelta
from typing import Protocol

from gateway.background_tasks import BackgroundTasks
from gateway.commands.handler import CommandHandler
from gateway.message import ChatMessage, CommandInvoked, InlineQueried, MessageReceived, Place
from gateway.people import PersonId
from gateway.ports import AdapterState
from gateway.ports.stores import InboxEntry
from gateway.routing import Router

HELD_FOR = timedelta(hours=1)
"""How long an accepted message counts as one that may still be answered; no turn is as long."""
MAX_INLINE_TASKS = 100


class Workplace(Protocol):
    """Where accepted events go."""

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when nothing more can wait."""
        ...

    def is_crowded_by(self, person: PersonId) -> bool:
        """True when much waits, and this person has their share of it."""
        ...

    async def accept(self, entry: InboxEntry) -> None:
        """The inbox has this entry: see to it that it is worked on."""
        ...

    async def holds(self, lane: str, place: Place, message_ids: Collection[str]) -> bool:
        """True when one of these messages is accepted and may not be answered yet."""
        ...

    def answer_inline(self, event: InlineQueried) -> bool:
        """Offer completions while a person types; False without room."""
        ...


class LocalWorkplace:
    """Everything is worked on in this process."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def check_room(self) -> None:
        """The lanes' room is ours."""
        self._router.check_room()

    def is_crowded_by(self, person: PersonId) -> bool:
        """Ask the lanes."""
        return self._router.lanes.is_crowded_by(person)

    async def accept(self, entry: InboxEntry) -> None:
        """Begin, or queue."""
        self._router.route(entry)

    async def holds(self, lane: str, place: Place, message_ids: Collection[str]) -> bool:
        """Ask the lanes."""
        return self._router.lanes.holds(lane, message_ids)

    def answer_inline(self, event: InlineQueried) -> bool:
        """Begin at once."""
        return self._router.answer_inline(event)


class SharedWorkplace:
    """Workers take accepted events from the shared inbox, this process among them or not."""

    def __init__(self, control: CommandHandler, held: AdapterState) -> None:
        self._control = control
        self._held = held
        self._inline = BackgroundTasks("inline_failed")

    def check_room(self) -> None:
        """The shared inbox has its own bounds."""

    def is_crowded_by(self, person: PersonId) -> bool:
        """Not known here; `IntakeLimits` bounds what one person adds to the shared inbox."""
        return False

    async def accept(self, entry: InboxEntry) -> None:
        """Note the message, so that an edit that comes before its answer is not forgotten."""
        message = _message_of(entry)
        if message is not None:
            await self._held.put(_name(message.place, message.id), "1", HELD_FOR)

    async def holds(self, lane: str, place: Place, message_ids: Collection[str]) -> bool:
        """Ask for the notes."""
        for message_id in message_ids:
            if await self._held.get(_name(place, message_id)):
                return True
        return False

    def answer_inline(self, event: InlineQueried) -> bool:
        """Answered by the process that is connected: the answer is worth nothing later."""
        if len(self._inline) >= MAX_INLINE_TASKS:
            return False
        self._inline.spawn(self._control.inline(event))
        return True


def _message_of(entry: InboxEntry) -> ChatMessage | None:
    event = entry.event
    return event.message if isinstance(event, MessageReceived | CommandInvoked) else None


def _name(place: Place, message_id: str) -> str:
    return f"{place.platform}:{place.account}:{place.channel_id}:{message_id}"[:200]
