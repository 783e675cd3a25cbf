"""Stores the appointments that the model noted, and repeats them below the answer."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Final

from gateway.appointments.appointment import Appointment
from gateway.message import Choice, ShownReply, button_in
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.stores.appointments import AppointmentStore, Full
from gateway.text import Moment, Text, text, verbatim
from gateway.turn.appointment_texts import (
    SCHEDULED_BY,
    WRITE,
    confirmation_of,
    remove_button,
    removed,
)
from gateway.turn.audit import audit
from gateway.turn.one_line import in_one_line
from gateway.turn.prompt import clean_name
from gateway.turn.reminder_tool import Change, Removed
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

FULL: Final = text("There is no room for another appointment: {most} is the limit.")


async def keep_appointments(turn: TurnContext, services: Services) -> Decision:
    """Store what the model noted, and repeat it below the answer. Raises `StoreUnavailable`; what
    is stored already is then not stored again."""
    if turn.asked.scheduled_for is not None:
        language = turn.language_of().in_zone(turn.asker.zone)
        said = _scheduled(turn, turn.asked.scheduled_for)
        _put_beneath(turn, [language.shown(said)], ())
    tool, store = turn.generation.reminders, services.stores.appointments
    if tool is None or store is None or not tool.noted or not turn.generation.answered:
        return Decision("appointments", True, "none")
    lines: list[str] = []
    buttons: list[Choice] = []
    for change in tool.noted:
        line, button, zone = await _kept(change, turn, services, store)
        lines.append(turn.language_of().in_zone(zone).shown(line))
        buttons += [button] if button is not None else []
    _put_beneath(turn, lines, buttons)
    count = len(tool.noted)
    decision = Decision("appointments", True, "kept", f"{count} change{'s' * (count != 1)}")
    await audit("appointments_changed", turn, services, decision)
    return decision


def _scheduled(turn: TurnContext, due_at: datetime) -> Text:
    name = verbatim(in_one_line(clean_name(turn.asked.last.author.name)) or "?")
    return SCHEDULED_BY.of(name=name, time=Moment(due_at))


async def _kept(
    change: Change, turn: TurnContext, services: Services, store: AppointmentStore
) -> tuple[Text, Choice | None, tzinfo]:
    one, policy = change.appointment, turn.policies.appointments
    if isinstance(change, Removed):
        await store.remove(one)
        return removed(one), None, one.tz
    stored: Appointment | Full = one
    if one.number:
        await store.change(one)
    else:
        stored = await store.add(one, policy.per_person, policy.per_place)
    if isinstance(stored, Full):
        return FULL.of(most=stored.most), None, one.tz
    return confirmation_of(stored), remove_button(stored), stored.tz


def _put_beneath(turn: TurnContext, lines: Sequence[str], buttons: Sequence[Choice]) -> None:
    """Add the lines below the answer; a button each, or how to remove it where the platform shows
    too few."""
    language, beneath, footer = turn.language_of(), turn.answer.beneath, turn.answer.footer
    direct = turn.place.audience is Audience.DIRECT
    taken = len(beneath.buttons) + (len(footer.buttons) if direct else 0)
    shown = tuple(button_in(language, one) for one in buttons)
    if taken + len(shown) > turn.connected.manifest.capabilities.max_buttons:
        command = verbatim("`/reminders`")
        lines, shown = (*lines, language.shown(WRITE.of(command=command))), ()
    said = [f"_{line}_" for line in lines if f"_{line}_" not in beneath.markdown]
    markdown = "\n".join(filter(None, (beneath.markdown, *said)))
    turn.answer.beneath = ShownReply(markdown, (*beneath.buttons, *shown))
