"""The readers of a room now: a private channel can become a public one, or be shared with
others, after a reminder or a question was scheduled in it.

It is kept in memory, from the messages that this process got, so that a message costs nothing.
"""

from typing import Final, TypeAlias

from gateway.immutable import replace
from gateway.latest import Latest
from gateway.message import Place
from gateway.people import Audience

MAX_ROOMS: Final = 10_000
"""Rooms that are known, those with the latest messages."""
_Room: TypeAlias = tuple[str, str, str, str]


class KnownRooms:
    """The readers of rooms, by their latest messages."""

    def __init__(self) -> None:
        self._places: Latest[_Room, Place] = Latest(MAX_ROOMS)

    def note(self, place: Place) -> None:
        """Note where a message was written."""
        if place.audience is not Audience.DIRECT:
            self._places[_room(place)] = place

    def at_present(self, place: Place) -> Place:
        """Return a place with its readers of now; as it is where nobody wrote since the start."""
        known = self._places.get(_room(place))
        if known is None or place.audience is Audience.DIRECT:
            return place
        return replace(place, audience=known.audience, outsiders=known.outsiders)


def _room(place: Place) -> _Room:
    thread = place.thread_id if place.closed_thread else ""
    return (place.platform, place.account, place.channel_id, thread)
