"""The sentences about appointments."""

from typing import Final

from gateway.appointments.appointment import Appointment
from gateway.message import Choice
from gateway.people import Audience
from gateway.policy.history_redaction import redact_name
from gateway.text import Moment, Sentence, Text, counted, joined, label, text, verbatim
from gateway.turn.one_line import in_one_line
from gateway.turn.prompt import clean_name

PREFIX: Final = "appointment:"
"""The beginning of the values of buttons."""
SHOWN_TIMES: Final = 3
"""Times of a rule that a person sees: they tell more surely than its words what was understood."""

REMINDER: Final = text("Reminder")
QUESTION: Final = text("Scheduled question")
ONCE: Final = text("{kind} {number}: “{words}”, {time}")
REPEATED: Final = text("{kind} {number}: “{words}”, {time}, then {second}, {third} …")
SHORTENED: Final = text("In a month without this day it is on the last day.")
PAUSED: Final = text("{appointment} · paused")
REMOVED: Final = text("{kind} {number} is removed: “{words}”")
WRITE: Final = text("To remove it, write {command}.")
WAS_DUE: Final = text("This was due at {time}.")
MISSED: Final = text("I missed a reminder that was due at {time}: “{words}”")
MISSED_BEFORE: Final = counted(
    "Before that, {count} time passed while I could not write to you.",
    "Before that, {count} times passed while I could not write to you.",
)
SCHEDULED_BY: Final = text("Scheduled by {name} for {time}.")
MAY_NOT_RUN: Final = text(
    "I paused a scheduled question of {name}, who may no longer have it asked: “{words}”"
)
UNDO: Final = label("Undo")
LATER: Final = label("In 1 hour")


def line_of(appointment: Appointment) -> Text:
    """Return an appointment in one line, with its next times."""
    coming = [Moment(one) for one in appointment.coming(SHOWN_TIMES)]
    said = named(ONCE if len(coming) < SHOWN_TIMES else REPEATED, appointment).of(time=coming[0])
    if len(coming) == SHOWN_TIMES:
        said = said.of(second=coming[1], third=coming[2])
    return PAUSED.of(appointment=said) if appointment.state == "paused" else said


def confirmation_of(appointment: Appointment) -> Text:
    """Return the line that repeats what was stored, with its zone."""
    line = joined((line_of(appointment), verbatim(f" ({appointment.zone})")))
    rule = appointment.rule
    return joined((line, SHORTENED), " ") if rule is not None and rule.shortens else line


def removed(appointment: Appointment) -> Text:
    """Return the line about one that was removed."""
    return named(REMOVED, appointment)


def named(sentence: Sentence, appointment: Appointment) -> Sentence:
    """Fill in what kind of appointment it is, its number and its words."""
    kind = REMINDER if appointment.kind == "reminder" else QUESTION
    return sentence.of(kind=kind, number=appointment.number, words=quoted(appointment))


def quoted(appointment: Appointment) -> Text:
    """Return the words of an appointment in one line, without markup."""
    return verbatim(in_one_line(appointment.words))


def maker(appointment: Appointment) -> Text:
    """Return the name of the maker, without markup."""
    return verbatim(in_one_line(clean_name(redact_name(appointment.name)) or "?"))


def reminding(appointment: Appointment, *, late: bool, missed: int) -> Text:
    """Return the message of a reminder that is due."""
    words: Text = joined((verbatim("⏰ "), quoted(appointment)))
    if appointment.place.audience is not Audience.DIRECT:
        parts = (verbatim("⏰ **"), maker(appointment), verbatim("**: "), quoted(appointment))
        words = joined(parts)
    notes: list[Text] = [WAS_DUE.of(time=Moment(appointment.due_at))] if late else []
    notes += [MISSED_BEFORE.of(count=missed)] if missed else []
    if not notes:
        return words
    return joined((words, verbatim("\n\n_"), joined(notes, " "), verbatim("_")))


def later_button(appointment: Appointment) -> Choice:
    """Return the button below a reminder that repeats it once."""
    return Choice(LATER, f"{PREFIX}later:{appointment.id}")


def remove_button(appointment: Appointment, said: Text = UNDO) -> Choice:
    """Return a button that removes an appointment."""
    return Choice(said, f"{PREFIX}remove:{appointment.id}")
