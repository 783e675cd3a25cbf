"""`/quiet` shows and changes the hours in which the assistant does not write first: those of a
person, and with `here` those of a channel or group."""

from typing import Final

from gateway.conversation import key_of
from gateway.errors import BadInput
from gateway.message import Reply
from gateway.people import Audience, Role
from gateway.policy.quiet_hours import OFF, QuietHours, in_force
from gateway.stores.proactive import ProactiveStore
from gateway.text import Text, joined, text, verbatim
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

AUTO: Final = "auto"
"""The word that takes a choice back."""
HERE: Final = "here"

YOURS: Final = text(
    "Your quiet hours are **{hours}** ({zone}): I do not write to you then without being asked. A "
    "reminder comes at the time for which you asked."
)
NOT_YOURS: Final = text("You have no quiet hours.")
OF_PLACE: Final = text(
    "The quiet hours here are **{hours}** ({zone}): I do not write here then without being asked."
)
NOT_OF_PLACE: Final = text("There are no quiet hours here.")
HOW: Final = text(
    "To choose yours, write for example `/quiet 22:00-07:00`. `/quiet off` ends them, and "
    "`/quiet auto` takes your choice back."
)
UNKNOWN: Final = text("I cannot read these hours. Write for example `/quiet 22:00-07:00`.")
ONLY_ROOMS: Final = text("`/quiet here` is for channels and groups.")
NOT_ALLOWED: Final = text("Only owners and operators may choose the quiet hours here.")
TOO_MANY: Final = text("Too many channels and groups have quiet hours of their own.")


async def run_quiet(turn: TurnContext, arguments: str, services: Services) -> Reply:
    """Run the command. Raises `BadInput` with words for the person, and `StoreUnavailable`."""
    typed = " ".join(arguments.strip(" `.*").casefold().split())
    store, in_room = services.stores.proactive, turn.place.audience is not Audience.DIRECT
    first, _, rest = typed.partition(" ")
    if first == HERE:
        if not in_room or store is None:
            raise BadInput(ONLY_ROOMS)
        if rest:
            await _choose_here(turn, _chosen(rest), store, services)
        return Reply(await _here(turn, store, services))
    if typed:
        await _choose(turn, _chosen(typed), services)
        return Reply(await _own(turn, services))
    parts: list[Text] = [await _own(turn, services)]
    if in_room and store is not None:
        parts.append(await _here(turn, store, services))
    return Reply(joined((*parts, HOW), "\n\n"))


def _chosen(typed: str) -> str:
    """Return a choice as it is stored: empty for none. Raises `BadInput`."""
    if typed in (AUTO, OFF):
        return OFF if typed == OFF else ""
    hours = QuietHours.of(typed)
    if hours is None:
        raise BadInput(UNKNOWN)
    return str(hours)


async def _choose(turn: TurnContext, chosen: str, services: Services) -> None:
    """Store the choice for all linked identities: one human has one night."""
    who = turn.asker.who
    others = await services.memory.linked(who)
    for person in (turn.asker.person, *map(str, others)):
        await services.readers.choose_quiet(who.tenant, person, chosen)


async def _choose_here(
    turn: TurnContext, chosen: str, store: ProactiveStore, services: Services
) -> None:
    if not turn.asker.who.role.at_least(Role.OPERATOR):
        raise BadInput(NOT_ALLOWED)
    name = key_of(turn.key.tenant, turn.place).channel_name
    if not await store.set_quiet_hours(turn.key.tenant, name, chosen, services.clock.now()):
        raise BadInput(TOO_MANY)


async def _own(turn: TurnContext, services: Services) -> Text:
    known = await services.readers.known(turn.asker.who.tenant, turn.asker.person)
    hours = in_force(known.quiet, turn.policies.proactive.quiet_hours)
    if hours is None:
        return NOT_YOURS
    return YOURS.of(hours=verbatim(str(hours)), zone=verbatim(str(turn.asker.zone)))


async def _here(turn: TurnContext, store: ProactiveStore, services: Services) -> Text:
    times = services.policies.times
    name = key_of(turn.key.tenant, turn.place).channel_name
    chosen = await store.quiet_hours_of(turn.key.tenant, name)
    hours = in_force(chosen, turn.policies.proactive.quiet_hours)
    if hours is None:
        return NOT_OF_PLACE
    zone = await services.readers.zone_of_place(times, turn.key.tenant, turn.place)
    return OF_PLACE.of(hours=verbatim(str(hours)), zone=verbatim(str(zone)))
