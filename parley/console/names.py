"""Names of people and rooms for pages. Ids decide, names only help to read: the pages show the id
beside each name."""

from collections.abc import Iterable, Mapping
from typing import Final

from gateway.people import Audience
from parley.console.reading import PlaceOut
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer

MOST: Final = 300
"""People of a page whose names are looked up."""
ROOM: Final = "room/"
"""Begins the key of a room beside those of people. No platform's name has a slash."""


def room_key(platform: str, account: str, channel: str) -> str:
    """Return the key of the name of a room."""
    return f"{ROOM}{platform}:{account}:{channel}"


async def names_of(
    viewer: Viewer,
    services: ConsoleServices,
    persons: Iterable[str],
    places: Iterable[PlaceOut] = (),
    rooms: Iterable[str] = (),
) -> Mapping[str, str]:
    """Return the names of these people of the viewer's tenant by `str(PersonId)`, and of the rooms
    among these places, or of these `room_key`, by `room_key`. The viewer may see the places. People
    who are no operators learn the names of their own identities only."""
    wanted = {person for person in persons if person}
    if not viewer.is_operator:
        wanted &= viewer.persons
    people = await services.storage.people_names.of(viewer.tenant, sorted(wanted)[:MOST])
    keys = {*rooms, *(_key_of(one) for one in places if one.audience != Audience.DIRECT)}
    found = await services.rooms.of([key.removeprefix(ROOM) for key in sorted(keys)])
    return {**people, **{f"{ROOM}{room}": name for room, name in found.items()}}


def titled(place: PlaceOut, person: str, names: Mapping[str, str]) -> PlaceOut:
    """Return a place with its title: the name of the room, or of the person of a direct
    conversation."""
    title = names.get(person if place.audience == Audience.DIRECT else _key_of(place), "")
    return place.model_copy(update={"title": title}) if title else place


def _key_of(place: PlaceOut) -> str:
    return room_key(place.platform, place.account, place.channel)
