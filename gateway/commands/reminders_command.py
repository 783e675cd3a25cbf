"""`/reminders` lists a person's appointments, and removes, skips and repeats them."""

import hashlib
from datetime import datetime, timedelta
from typing import Final

from gateway.appointments.appointment import Appointment
from gateway.appointments.recurrence import following_instant, local_of
from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Choice, Reply
from gateway.people import Audience
from gateway.stores.appointments import AppointmentStore, Full
from gateway.text import Text, joined, label, text, verbatim
from gateway.turn.appointment_texts import (
    PREFIX,
    confirmation_of,
    line_of,
    remove_button,
    removed,
)
from gateway.turn.keep_appointments import FULL
from gateway.turn.reminder_tool import visible
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

MAX_LISTED: Final = 20
MAX_BUTTONS: Final = 4
"""Buttons of a list: those of the next appointments."""
LATER: Final = timedelta(hours=1)

NONE: Final = text("You have no reminders here. To get one, write me when to remind you of what.")
LIST: Final = text("Your reminders here:")
MORE: Final = text("{count} more are not shown.")
HOW: Final = text(
    "To change one, tell me its number. `/reminders remove 1` removes number 1, and "
    "`/reminders skip 1` leaves out its next time."
)
UNKNOWN: Final = text("You have no reminder with this number here. `/reminders` lists them.")
GONE: Final = text("This reminder does not exist any more.")
NOT_YOURS: Final = text("Only the person whose reminder this is can change it.")
ENDS: Final = text("There is no time after it. To remove it, write {command}.")
REMOVE: Final = label("Remove {number}")
SKIP: Final = label("Skip {number}")


def owns(value: str) -> bool:
    """Return True for the value of a button of an appointment."""
    return value.startswith(PREFIX)


async def run_reminders(turn: TurnContext, arguments: str, services: Services) -> Reply:
    """Run the command. Raises `BadInput` with words for the person, and `StoreUnavailable`."""
    store = _store(services)
    what, _, number = arguments.strip().casefold().partition(" ")
    if not what:
        return await _list(turn, store)
    if what not in ("remove", "skip") or not number.strip(" #").isdecimal():
        return Reply(HOW)
    wanted = number.strip(" #")[:9]
    for one in await visible(store, turn.asker.who, turn.place):
        if one.number == int(wanted):
            return await _act(what, one, services, store)
    raise BadInput(UNKNOWN)


async def press_appointment(turn: TurnContext, value: str, services: Services) -> Reply:
    """Carry out a button. Raises as `run_reminders`."""
    store = _store(services)
    what, _, id_ = value.removeprefix(PREFIX).partition(":")
    one = await store.find(id_)
    if one is None:
        return Reply(GONE)
    who = turn.asker.who
    if (one.tenant, one.person) != (who.tenant, str(who.person)):
        return Reply(NOT_YOURS, leaves_buttons=True)
    return await _act(what, one, services, store)


def _store(services: Services) -> AppointmentStore:
    store = services.stores.appointments
    if store is None or not services.policies.appointments.enabled:
        raise BadInput(GONE)
    return store


async def _list(turn: TurnContext, store: AppointmentStore) -> Reply:
    listed = await visible(store, turn.asker.who, turn.place)
    if not listed:
        return Reply(NONE)
    shown = listed[:MAX_LISTED]
    lines: list[Text] = [joined((verbatim("- "), line_of(one))) for one in shown]
    if len(listed) > len(shown):
        lines.append(MORE.of(count=len(listed) - len(shown)))
    said = joined((LIST, joined(lines, "\n"), HOW), "\n\n")
    most = min(MAX_BUTTONS, turn.connected.manifest.capabilities.max_buttons)
    buttons = [button for one in shown for button in _buttons(one)]
    in_room = turn.place.audience is not Audience.DIRECT
    return Reply(said, tuple(buttons[:most]), leaves_buttons=in_room)


def _buttons(one: Appointment) -> tuple[Choice, ...]:
    remove = remove_button(one, REMOVE.of(number=one.number))
    if one.rule is None or one.state != "active":
        return (remove,)
    return (remove, Choice(SKIP.of(number=one.number), f"{PREFIX}skip:{one.id}"))


async def _act(what: str, one: Appointment, services: Services, store: AppointmentStore) -> Reply:
    now = services.clock.now()
    match what:
        case "remove":
            gone = await store.remove(one)
            return Reply(removed(one) if gone else GONE)
        case "skip":
            return await _skip(one, now, store)
        case "later":
            return await _later(one, now, services, store)
    return Reply(GONE)


async def _skip(one: Appointment, now: datetime, store: AppointmentStore) -> Reply:
    """Leave out the next time of one that recurs."""
    due = None
    if one.rule is not None and one.state == "active":
        due = following_instant(one.rule, one.first, one.tz, max(one.due_at, now))
    if due is None:
        raise BadInput(ENDS.of(command=verbatim(f"`/reminders remove {one.number}`")))
    if not await store.advance(one, due, now, one.missed):
        return Reply(GONE)
    return Reply(confirmation_of(replace(one, due=due)))


async def _later(
    one: Appointment, now: datetime, services: Services, store: AppointmentStore
) -> Reply:
    """Remind of it once more; the same press makes the same appointment, until that is over."""
    at = local_of((now + LATER).replace(microsecond=0), one.tz)
    policy, again = services.policies.appointments, _copy(one, one.occurrence, at, now)
    stored = await store.add(again, policy.per_person, policy.per_place)
    if isinstance(stored, Appointment) and stored.state == "done":
        again = _copy(stored, f"{now:%Y%m%d%H}", at, now)
        stored = await store.add(again, policy.per_person, policy.per_place)
    if isinstance(stored, Full):
        raise BadInput(FULL.of(most=stored.most))
    return Reply(confirmation_of(stored), (remove_button(stored),))


def _copy(one: Appointment, name: str, at: datetime, now: datetime) -> Appointment:
    """Return a single appointment of the same words, with an id of this name."""
    named = f"{one.id}\nlater\n{name}".encode()
    copied: Appointment = replace(
        one,
        id=hashlib.blake2b(named, digest_size=8).hexdigest(),
        first=at,
        due=at,
        rule=None,
        follows=False,
        made_at=now,
        state="active",
        missed=0,
        number=0,
    )
    return copied
