"""The age of a question: what is answered as usual, what is answered with its age, and what is too
old to be answered. Pure."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

LATE: Final = "asked_late"
TOO_OLD: Final = "too_old"
TOO_LATE_TO_WRITE: Final = "too_late_to_write"
STAGE: Final = "age"
EXPIRED: Final = "expired"
"""The outcome of a message that was too old to be answered."""
BELIEVABLE: Final = timedelta(days=8)
"""The longest time between sending and receiving; platforms send again for 7 days. A larger one is
an error of a clock."""
LISTED: Final = 10
"""Messages that a notice names."""


class AgeLimits(Struct, frozen=True):
    """From `note_after` on, an answer says how old its question is; from `answer_within` on, a
    question is not answered."""

    note_after: timedelta = timedelta(minutes=15)
    answer_within: timedelta = timedelta(hours=24)


class Late(Struct, frozen=True):
    """A question that is answered late. `several`: it is the oldest of several messages."""

    asked_at: datetime
    now: datetime
    several: bool = False

    @property
    def age(self) -> timedelta:
        """The time since it was asked."""
        return self.now - self.asked_at

    @property
    def line(self) -> str:
        """The line above the answer, in Markdown."""
        when = f"{duration(self.age)} ago, at {clock_time(self.asked_at, self.now)}"
        if self.several:
            return f"_(The oldest of these messages is from {when}. I could not answer earlier.)_"
        return f"_(You wrote this {when}. I could not answer earlier.)_"

    @property
    def for_model(self) -> str:
        """The sentences for the model."""
        which = "The oldest message below" if self.several else "The message below"
        return (
            f"{which} was written {duration(self.age)} ago, at {self.asked_at:%Y-%m-%d %H:%M} UTC;"
            f" now it is {self.now:%Y-%m-%d %H:%M} UTC. Words such as now, today and in an hour"
            " count from then. A line above your answer says how old it is: do not repeat that."
        )


def asked_at(sent_at: datetime, received_at: datetime) -> datetime:
    """Return when a message was written: as its platform says, unless that is later than its
    receipt, or too long ago to be true."""
    if sent_at > received_at or received_at - sent_at > BELIEVABLE:
        return received_at
    return sent_at


def late(
    asked: datetime, now: datetime, limits: AgeLimits, *, several: bool = False
) -> Late | None:
    """Return how late a question is answered; None if that needs no words."""
    return Late(asked, now, several) if now - asked >= limits.note_after else None


def too_old(asked: datetime, now: datetime, limits: AgeLimits) -> bool:
    """Return True for a question that is not answered any more."""
    return now - asked >= limits.answer_within


def expired_text(lines: list[str], number: int, limit: timedelta) -> str:
    """Return the notice about messages that are not answered: `lines` name the first ones of
    `number`, in Markdown."""
    one = number == 1
    head = (
        f"I could not answer {'this message' if one else f'these {number:,} messages'} in time, and"
        f" {'it is' if one else 'they are'} older than {duration(limit)} now:"
    )
    more = [f"- and {number - len(lines):,} more"] if number > len(lines) else []
    listed = "\n".join([*(f"- {line}" for line in lines), *more])
    return f"{head}\n\n{listed}\n\nIf {'it' if one else 'one of them'} still matters, ask again."


def duration(age: timedelta) -> str:
    """Return a length of time in its largest unit of which there are at least two."""
    seconds = max(0, round(age.total_seconds()))
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}s"
    return f"{seconds} second{'s' * (seconds != 1)}"


def clock_time(at: datetime, now: datetime) -> str:
    """Return a time of day, with its date unless that is today's."""
    return f"{at:%H:%M} UTC" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M} UTC"
