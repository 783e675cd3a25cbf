"""Names of people and places for pages. Ids decide, names only help to read: the pages show the id
beside each name."""

from collections.abc import Iterable, Mapping
from typing import Final

from gateway.people import Audience
from parley.console.reading import PlaceOut
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer

MOST: Final = 300
"""People of a page whose names are looked up."""


async def names_of(
    viewer: Viewer, services: ConsoleServices, persons: Iterable[str]
) -> Mapping[str, str]:
    """Return the names of these people of the viewer's tenant, by `str(PersonId)`. People who are
    no operators learn the names of their own identities only."""
    wanted = {person for person in persons if person}
    if not viewer.is_operator:
        wanted &= viewer.persons
    return await services.storage.people_names.of(viewer.tenant, sorted(wanted)[:MOST])


def titled(place: PlaceOut, person: str, names: Mapping[str, str]) -> PlaceOut:
    """Return a place with its title: the name of the person of a direct conversation."""
    if place.title or place.audience != Audience.DIRECT or not names.get(person):
        return place
    return place.model_copy(update={"title": names[person]})
