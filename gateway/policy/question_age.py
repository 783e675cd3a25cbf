"""The age of a question: what is answered as usual, what is answered with its age, and what is too
old to be answered. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from gateway.text import Moment, Span, Text, counted, joined, text, verbatim

LATE: Final = "asked_late"
TOO_OLD: Final = "too_old"
TOO_LATE_TO_WRITE: Final = "too_late_to_write"
STAGE: Final = "age"
EXPIRED: Final = "expired"
"""The outcome of a message that was too old to be answered."""
BELIEVABLE: Final = timedelta(days=8)
"""The longest time between sending and receiving; platforms send again for 7 days. A larger one is
an error of a clock."""
WRITTEN: Final = text("_(You wrote this {age} ago, at {time}. I could not answer earlier.)_")
OLDEST: Final = text(
    "_(The oldest of these messages is from {age} ago, at {time}. I could not answer earlier.)_"
)
EXPIRED_HEAD: Final = counted(
    "I could not answer this message in time, and it is older than {age} now:",
    "I could not answer these {count} messages in time, and they are older than {age} now:",
)
AND_MORE: Final = counted("and {count} more", "and {count} more")
ASK_AGAIN_ONE: Final = text("If it still matters, ask again.")
ASK_AGAIN: Final = text("If one of them still matters, ask again.")
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

    def line(self, zone: tzinfo) -> Text:
        """Return the line above the answer for readers in a time zone."""
        sentence = OLDEST if self.several else WRITTEN
        age = Span(self.age.total_seconds())
        return sentence.of(age=age, time=clock_time(self.asked_at, self.now, zone))

    def for_model(self, zone: tzinfo) -> str:
        """Return the sentences for the model, with times in the zone of the person."""
        asked, now = self.asked_at.astimezone(zone), self.now.astimezone(zone)
        which = "The oldest message below" if self.several else "The message below"
        return (
            f"{which} was written {duration(self.age)} ago, at {asked:%Y-%m-%d %H:%M} ({zone});"
            f" now it is {now:%Y-%m-%d %H:%M}. Words such as now, today and in an hour"
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


def expired_text(lines: Sequence[Text], number: int, limit: timedelta) -> Text:
    """Return the notice about messages that are not answered: `lines` name the first ones of
    `number`."""
    head = EXPIRED_HEAD.of(count=number, age=Span(limit.total_seconds()))
    more = [AND_MORE.of(count=number - len(lines))] if number > len(lines) else []
    items = (joined((verbatim("- "), line)) for line in (*lines, *more))
    foot = ASK_AGAIN_ONE if number == 1 else ASK_AGAIN
    return joined((head, joined(items, "\n"), foot), "\n\n")


def duration(age: timedelta) -> str:
    """Return a length of time in its largest unit of which there are at least two."""
    seconds = max(0, round(age.total_seconds()))
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}s"
    return f"{seconds} second{'s' * (seconds != 1)}"


def clock_time(at: datetime, now: datetime, zone: tzinfo) -> Moment:
    """Return a time of day, with its date unless that is today's in the time zone of the reader."""
    is_today = at.astimezone(zone).date() == now.astimezone(zone).date()
    return Moment(at, "clock" if is_today else "minute")
