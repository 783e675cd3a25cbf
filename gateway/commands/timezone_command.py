"""`/timezone` shows and changes the time zone in which a person counts days and reads times;
`/timezone here` that of a channel or group, for people whose own one is unknown."""

import asyncio
from collections.abc import Sequence
from typing import Final

from gateway.errors import BadInput
from gateway.message import Choice, Reply
from gateway.people import Audience, Role
from gateway.policy.decision import Decision
from gateway.ports.rights import Credential, Proof, in_chat, missing
from gateway.text import MAX_LABEL, Listed, Moment, Sentence, Text, joined, text, verbatim
from gateway.turn.audit import audit
from gateway.turn.moved_zones import follow_zone
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext
from gateway.turn.typed_answers import MAX_CHOICES
from gateway.zones import MAX_NAME, city_of, meant, place_zone, similar, zone_named

PREFIX: Final = "timezone:"
AUTO: Final = "auto"
"""The word that takes a choice back."""
HERE: Final = "here"
"""The first word of what is about the place."""
MAY_SET_PLACE: Final = in_chat(Role.OPERATOR)

CHOSEN: Final = text("Your time zone is **{zone}**, because you chose it.")
TOLD: Final = text("Your time zone is **{zone}**, as your app tells me.")
OF_PLACE: Final = text("Your time zone is **{zone}**, which is set for this place.")
OTHERWISE: Final = text(
    "Your time zone is **{zone}**, because I do not know where you are. It is the one of this "
    "installation."
)
IT_IS: Final = text("For you it is {time}.")
HOW: Final = text(
    "To choose another one, write a city or a name, for example `/timezone Europe/Zurich`. "
    "`/timezone auto` takes your choice back."
)
SET: Final = text("Done. Your time zone is **{zone}** now. For you it is {time}.")
UNKNOWN: Final = text(
    "I do not know this time zone. Write a large city near you, or a name such as `Europe/Zurich`."
)
SEVERAL: Final = text("There are several time zones of this name: {zones}. Write one of them.")
SIMILAR: Final = text(
    "I do not know this time zone. Did you mean {zones}? Write the one that you mean, or a large "
    "city near you."
)

HERE_IS: Final = text(
    "The time zone here is **{zone}**. It applies to people whose own time zone I do not know."
)
HOW_HERE: Final = text(
    "Owners and operators set it with a city or a name, for example `/timezone here Zürich`. "
    "`/timezone here auto` takes that back."
)
HERE_SET: Final = text(
    "Done. The time zone here is **{zone}** now. It applies to people whose own time zone I do "
    "not know."
)
HERE_ALONE: Final = text(
    "`/timezone here` is for channels and groups. In a direct message, `/timezone` and a city set "
    "your own time zone."
)
HERE_DENIED: Final = text("Only owners and operators may set the time zone of a channel or group.")


def owns(value: str) -> bool:
    """Return True for the value of a button with a time zone."""
    return value.startswith(PREFIX)


async def run_timezone(turn: TurnContext, arguments: str, services: Services) -> Reply:
    """Run the command. Raises `BadInput` with words for the person, and `StoreUnavailable`."""
    typed = arguments.strip(" `.*")
    first, _, rest = typed.partition(" ")
    if first.casefold() == HERE:
        return await _of_place(turn, rest.strip(), services)
    return await _choose(turn, typed, services) if typed else await _shown(turn, services)


async def press_timezone(turn: TurnContext, value: str, services: Services) -> Reply:
    """Carry out a button. Raises as `run_timezone`."""
    chosen = value.removeprefix(PREFIX)
    if chosen.startswith(f"{HERE}:"):
        return await _of_place(turn, chosen.removeprefix(f"{HERE}:"), services)
    return await _choose(turn, chosen, services)


async def _choose(turn: TurnContext, typed: str, services: Services) -> Reply:
    name = await _meant(turn, typed, PREFIX)
    if isinstance(name, Reply):
        return name
    who = turn.asker.who
    others = await services.memory.linked(who)
    for person in (turn.asker.person, *map(str, others)):
        await services.readers.choose_zone(who.tenant, person, name)
        await follow_zone(who.tenant, person, services)
    await _renew(turn, services)
    zone = verbatim(str(turn.asker.zone))
    in_room = turn.place.audience is not Audience.DIRECT
    now = Moment(services.clock.now())
    return Reply(SET.of(zone=zone, time=now), leaves_buttons=in_room)


async def _of_place(turn: TurnContext, typed: str, services: Services) -> Reply:
    """Show the zone of the place, or set it."""
    if turn.place.audience is Audience.DIRECT:
        raise BadInput(HERE_ALONE)
    who, said = turn.asker.who, HERE_IS
    if typed:
        if needed := missing(MAY_SET_PLACE, Proof(Credential.CHAT, who.role)):
            decision = Decision("command", False, f"needs_{needed}")
            turn.note(decision)
            await audit("command_denied", turn, services, decision)
            raise BadInput(HERE_DENIED)
        name = await _meant(turn, typed, f"{PREFIX}{HERE}:")
        if isinstance(name, Reply):
            return name
        await services.readers.set_zone(who.tenant, turn.place, name)
        await _renew(turn, services)
        said = HERE_SET
    times = turn.policies.times
    zone = await services.readers.zone_of_place(times, who.tenant, turn.place)
    shown = said.of(zone=verbatim(str(zone)))
    return Reply(shown if typed else joined((shown, HOW_HERE), "\n\n"))


async def _meant(turn: TurnContext, typed: str, prefix: str) -> str | Reply:
    """Return the name of the zone that a person typed, "" for `auto`; a question where several are
    meant. `prefix` begins the values of its buttons. Raises `BadInput`."""
    if typed.casefold() == AUTO:
        return ""
    found = await zones_of(typed)
    if len(found) > 1:
        return Reply(SEVERAL.of(zones=_listed(found)), _buttons(turn, found, prefix))
    if found:
        return found[0]
    close = await asyncio.to_thread(similar, typed)
    if not close:
        raise BadInput(UNKNOWN)
    return Reply(SIMILAR.of(zones=_listed(close)), _buttons(turn, close, prefix))


async def _renew(turn: TurnContext, services: Services) -> None:
    """Read the zone of the asker again, for the rest of the turn."""
    turn.asker.zone = await services.readers.zone(
        *(turn.policies.times, turn.asker.who.tenant, turn.asker.person),
        *(turn.place, turn.asked.last.author.zone),
    )
    turn.asker.language = turn.asker.language.in_zone(turn.asker.zone)


async def _shown(turn: TurnContext, services: Services) -> Reply:
    reason = (await _reason(turn, services)).of(zone=verbatim(str(turn.asker.zone)))
    parts: tuple[Text, ...] = (reason, IT_IS.of(time=Moment(services.clock.now())))
    return Reply(joined((joined(parts, " "), HOW), "\n\n"))


async def _reason(turn: TurnContext, services: Services) -> Sentence:
    known = await services.readers.known(turn.asker.who.tenant, turn.asker.person)
    told = turn.asked.last.author.zone
    told = told if zone_named(told) is not None else known.zone_told
    set_here = await services.readers.zone_set(turn.asker.who.tenant, turn.place)
    reasons = (
        (known.zone, CHOSEN),
        (told, TOLD),
        (set_here or place_zone(turn.policies.times, turn.place), OF_PLACE),
    )
    return next((said for zone, said in reasons if zone_named(zone) is not None), OTHERWISE)


async def zones_of(typed: str) -> Sequence[str]:
    """Return the time zones of a name or a city, the exact name first of all."""
    if zone_named(typed) is not None:
        return (typed,)
    # The table of cities is read on the first call.
    return await asyncio.to_thread(meant, typed[:MAX_NAME])


def _listed(zones: Sequence[str]) -> Listed:
    return Listed(tuple(verbatim(f"`{zone}`") for zone in zones), "or")


def _buttons(turn: TurnContext, zones: Sequence[str], prefix: str) -> tuple[Choice, ...]:
    """Return a button for each zone, as many as the platform shows; none where answers to a
    question are typed."""
    most = turn.connected.manifest.capabilities.max_buttons
    shown = zones[:most] if most >= MAX_CHOICES else ()
    return tuple(Choice(verbatim(city_of(zone)[:MAX_LABEL]), f"{prefix}{zone}") for zone in shown)
