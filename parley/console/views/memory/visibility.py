"""The places where memories of the viewer are used, and the viewer's choices about that."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.errors import NotFound
from gateway.people import Audience, Role
from gateway.ports.action import Input, Output
from gateway.ports.rights import Credential, in_person
from gateway.text import (
    NO_TEXT,
    Text,
    joined,
    text,
)
from memory.actions import privacy as on
from memory.commands.privacy import MEMORY, NOTES, ROOMS
from parley.console.reading import PlaceOut
from parley.console.route import READERS, AnyRoute, ConsoleRoute
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.memory.documents import PATH

VISIBILITY: Final = f"{PATH}/visibility"
TEMPLATE: Final = "memory/visibility.html"
MAX_PLACES: Final = 200
MAX_OFF: Final = 50
MAX_NAME: Final = 1_000
ON_AGAIN: Final = text("Memory is on again in this conversation.")
NOT_OFF: Final = text("Memory is not off in this conversation.")

Choice = Literal["", "on", "off"]


class VisibilityQuery(Input):
    """The page has no parameters."""


class ChoiceForm(Input):
    """The choices to change; empty ones stay. `memory`: recall and store; `rooms`: use own memories
    in rooms; `notes`: say what the assistant noted on its own."""

    memory: Choice = ""
    rooms: Choice = ""
    notes: Choice = ""


class PlaceForm(Input):
    """The name of a conversation in which memory is off, as the page gives it."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]


class LearnedIn(Output):
    """A place: how many memories were `learned` there, and how many messages of the viewer and
    answers to them are stored (`said`)."""

    place: PlaceOut
    learned: int
    said: int


class OffIn(Output):
    """A conversation in which memory is off for the viewer."""

    name: str
    place: PlaceOut


class VisibilityOut(Output):
    """The choices, the places, and who else is concerned: `linked` accounts, `project` the chosen
    one, `break_glass` if operators may read private text in an emergency. `said` is the outcome of
    an action. `days` is the time for which messages are stored."""

    memory: bool
    rooms: bool
    notes: bool
    direct: LearnedIn | None
    places: tuple[LearnedIn, ...] = Field(max_length=MAX_PLACES)
    off_in: tuple[OffIn, ...] = Field(max_length=MAX_OFF)
    project: str
    linked: int
    break_glass: bool
    days: int
    said: Said = NO_TEXT


async def visibility(
    viewer: Viewer, services: ConsoleServices, _params: VisibilityQuery
) -> VisibilityOut:
    """Return the choices and the places."""
    return await _shown(viewer, services)


async def choose(viewer: Viewer, services: ConsoleServices, params: ChoiceForm) -> VisibilityOut:
    """Change the given choices, for all linked accounts."""
    given = {name: value == "on" for name, value in params.model_dump().items() if value}
    await on.choose(await services.call_of(viewer), on.ChoicesBody(**given))
    texts = {"memory": MEMORY, "rooms": ROOMS, "notes": NOTES}
    said = joined((texts[name][on] for name, on in given.items()), " ")
    return await _shown(viewer, services, said)


async def turn_on_in(viewer: Viewer, services: ConsoleServices, params: PlaceForm) -> VisibilityOut:
    """Turn memory on again in one conversation. Raises `NotFound` where it is not off."""
    handle = await services.memory_of(viewer)
    if params.name not in await handle.privacy.off_in():
        raise NotFound(NOT_OFF)
    await handle.privacy.turn_on_in(params.name)
    return await _shown(viewer, services, ON_AGAIN)


async def _shown(viewer: Viewer, services: ConsoleServices, said: Text = NO_TEXT) -> VisibilityOut:
    handle = await services.memory_of(viewer)
    chosen, section = handle.choices, services.settings.memory
    counted = await services.storage.memory.counts.places(
        viewer.tenant, handle.access.persons, services.gateway.clock.now(), MAX_PLACES + 1
    )
    places = [
        LearnedIn(
            place=place_of(one.room, one.audience if one.room else Audience.DIRECT),
            learned=one.learned,
            said=one.said,
        )
        for one in counted
    ]
    off = await handle.privacy.off_in()
    return VisibilityOut(
        memory=not chosen.memory_off,
        rooms=chosen.shows_private,
        notes=section.notes if chosen.notes is None else chosen.notes,
        direct=next((one for one in places if one.place.audience == Audience.DIRECT), None),
        places=tuple(one for one in places if one.place.audience != Audience.DIRECT)[:MAX_PLACES],
        off_in=tuple(OffIn(name=name, place=place_of(name, "")) for name in off[:MAX_OFF]),
        project=handle.access.project,
        linked=len(await handle.privacy.linked()),
        break_glass=services.settings.console.break_glass,
        days=min(section.episodic_ttl_days, section.episodic_max_ttl_days),
        said=said,
    )


def place_of(name: str, audience: str) -> PlaceOut:
    """Return the place of a stored name, "platform:account:workspace:channel[:thread]"; empty parts
    for a name of another form."""
    parts = [*name.split(":", 4), "", "", "", "", ""]
    return PlaceOut(
        platform=parts[0],
        account=parts[1],
        workspace=parts[2],
        channel=parts[3],
        thread=parts[4],
        audience=audience,
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="visibility",
        method="GET",
        path=VISIBILITY,
        allowed=on.choices.on(*READERS),
        summary=text("Where the assistant uses what it knows about you"),
        run=visibility,
        template=TEMPLATE,
        palette=text("Visibility"),
    ),
    ConsoleRoute(
        name="choose_visibility",
        method="POST",
        path=f"{VISIBILITY}/choose",
        allowed=on.choose.on(Credential.SESSION),
        summary="Turn memory, its use in rooms, or notes on or off",
        run=choose,
        template=TEMPLATE,
        example={"rooms": "off"},
    ),
    ConsoleRoute(
        name="turn_memory_on_in",
        method="POST",
        path=f"{VISIBILITY}/turn-on",
        allowed=in_person(Role.GUEST),
        summary="Turn memory on again in one conversation",
        run=turn_on_in,
        template=TEMPLATE,
        example={"name": "web:main::general"},
    ),
)
