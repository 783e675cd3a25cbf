"""The occurrence of an appointment that happens now."""

from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from gateway.appointments.appointment import Appointment
from gateway.appointments.recurrence import (
    MAX_TIMES,
    Rule,
    following,
    following_instant,
    instant_of,
)
from gateway.immutable import replace

NOTED_AFTER: Final = timedelta(minutes=5)
"""The delay from which on a reminder says when it was due."""


class Happening(Struct, frozen=True):
    """An occurrence that is due. `appointment` has it as its `due`; `missed` are the times since
    the last one that was sent."""

    appointment: Appointment
    lateness: Literal["on_time", "late", "missed"]
    """`missed`: too late to be sent."""
    following: datetime | None
    """The local time after it; None: it was the last one."""
    missed: int


def happening(appointment: Appointment, now: datetime, late_within: timedelta) -> Happening:
    """Return the latest occurrence until now, at which earlier ones are missed; the due one if the
    clock went back before it."""
    rule = appointment.rule
    due, after, missed = appointment.due, None, appointment.missed
    if rule is not None:
        due, after, passed = _latest(rule, appointment, now)
        missed += passed
    current = replace(appointment, due=due)
    age = now - current.due_at
    if age > late_within and age > NOTED_AFTER:
        return Happening(current, "missed", after, missed)
    return Happening(current, "late" if age > NOTED_AFTER else "on_time", after, missed)


def _latest(
    rule: Rule, appointment: Appointment, now: datetime
) -> tuple[datetime, datetime | None, int]:
    """Return the latest local time of a rule until now, the one after it, and how many passed
    before it since the one that was due."""
    due, first, zone = appointment.due, appointment.first, appointment.tz
    after, passed = following(rule, first, due), 0
    while after is not None and instant_of(after, zone) <= now:
        if passed == MAX_TIMES:
            return due, following_instant(rule, first, zone, now), passed
        due, passed = after, passed + 1
        after = following(rule, first, due)
    return due, after, passed
