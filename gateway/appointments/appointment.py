"""Appointments: reminders and scheduled prompts, as values."""

from datetime import datetime, timedelta, tzinfo
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo

from msgspec import Struct
from pydantic import Field

from gateway.appointments.recurrence import Rule, following, instant_of
from gateway.message import Place
from gateway.people import Role
from gateway.settings import Section
from gateway.zones import UTC, zone_named

MAX_WORDS: Final = 1_000
"""Characters of the text of an appointment."""
MAX_AHEAD: Final = timedelta(days=3_660)
"""The longest time until the first occurrence."""
OCCURRENCE: Final = "%Y%m%d%H%M%S"
"""The form of the name of an occurrence: its local time."""
Kind = Literal["reminder", "prompt"]
State = Literal["active", "paused", "done"]


class AppointmentPolicy(Section):
    """The section `appointments` of the configuration."""

    enabled: bool = False
    """Reminders ("remind me on Friday at nine") and the command `/reminders`. The model gets one
    more tool, which costs about 120 tokens in every question."""
    per_person: Annotated[int, Field(ge=1, le=500)] = 50
    """Appointments that one person may have at a time."""
    per_place: Annotated[int, Field(ge=1, le=5_000)] = 200
    """Appointments of all people in one channel or chat at a time."""
    late_hours: Annotated[float, Field(ge=0, le=24)] = 24.0
    """A reminder whose time passed while Parley did not run is sent late for so many hours, and
    says when it was due; after that it is only said that it was missed."""
    prompts: Role = Role.OPERATOR
    """The lowest role that may schedule questions to the assistant ("every weekday at 8 post a
    summary of open tasks"): guest, member, operator or owner. They run with the rights and the
    budget of the person who made them, as of that moment."""

    @property
    def late_within(self) -> timedelta:
        """The time for which a reminder is sent late."""
        return timedelta(hours=self.late_hours)


class Appointment(Struct, frozen=True):
    """A reminder, or a prompt that is asked in the name of its maker.

    `first` and `due` are local times in `zone`, without it: the time before which the rule gives
    none, and that of the next occurrence. `number` is the person's name for it, unique among
    theirs. `missed` counts times that passed while nothing was sent and that nobody was told of.
    """

    id: str
    """16 hexadecimal digits."""
    tenant: str
    """The tenant of the maker."""
    person: str
    """The maker, a `str(PersonId)`."""
    name: str
    """The maker's name, which nobody has verified."""
    kind: Kind
    place: Place
    """The conversation in which it is sent."""
    words: str
    """The text, at most `MAX_WORDS` characters, without secrets."""
    first: datetime
    zone: str
    """The name of a time zone."""
    due: datetime
    made_at: datetime
    """In UTC."""
    rule: Rule | None = None
    """None: it happens once."""
    follows: bool = True
    """True if it moves with the time zone of its maker; false for an instant ("in two hours") and a
    zone that they named."""
    number: int = 0
    state: State = "active"
    """`paused`: it is kept, and nothing is sent; `done`: its last time is over."""
    missed: int = 0

    @property
    def tz(self) -> tzinfo:
        """The zone; UTC where its name is no longer known."""
        return zone_named(self.zone) or ZoneInfo(UTC)

    @property
    def due_at(self) -> datetime:
        """The time of the next occurrence in UTC."""
        return instant_of(self.due, self.tz)

    @property
    def occurrence(self) -> str:
        """The name of the next occurrence, the same in every zone: "20261204090000"."""
        return self.due.strftime(OCCURRENCE)

    def key_of(self, occurrence: str) -> str:
        """Return the key of the message of an occurrence."""
        return f"{self.kind}-{self.id}-{occurrence}"

    def happens_as(self, other: "Appointment | None") -> bool:
        """Return True if the other one, of the same id, recurs as this one."""
        return other is not None and (self.first, self.rule) == (other.first, other.rule)

    def coming(self, count: int) -> tuple[datetime, ...]:
        """Return the instants of the next times, at most `count`, the first of them `due_at`."""
        later = [self.due]
        while self.rule is not None and len(later) < count:
            after = following(self.rule, self.first, later[-1])
            if after is None:
                break
            later.append(after)
        return tuple(instant_of(one, self.tz) for one in later)
