"""The decision about a message that the assistant writes first: now, later or never. Pure.

Answers to messages, commands and buttons do not come here.
"""

from collections.abc import Callable
from datetime import datetime, time, timedelta, tzinfo
from typing import Final, Literal

from msgspec import Struct
from pydantic import Field

from gateway.message import Reach
from gateway.policy.decision import Decision
from gateway.policy.quiet_hours import QuietHours, QuietHoursText
from gateway.settings import Section

STAGE: Final = "proactive"
Kind = Literal["asked", "recurring", "notice"]
"""`asked`: a single message at a time that its reader named. `recurring`: a repeated or scheduled
one. `notice`: one that the program makes."""
Action = Literal["send", "wait", "wait_for_person", "never"]

SENT: Final = "within_rules"
BY_TEMPLATE: Final = "by_template"
ASKED_FOR: Final = "asked_for_this_time"
OWN_HOURS: Final = "quiet_hours"
PLACE_HOURS: Final = "quiet_hours_of_place"
LIMIT: Final = "daily_limit"
TOGETHER: Final = "daily_limit_together"
WINDOW: Final = "window_closed"
UNSURE: Final = "membership_unknown"
REACH_UNKNOWN: Final = "reach_unknown"
LEFT: Final = "left"
UNCONFIRMED: Final = "sent_unconfirmed"
"""A message was queued, and is kept until it is known that the platform took it."""
HELD: Final = "waits_already"
EXPIRED: Final = "expired"
TOO_MANY: Final = "too_many_waiting"
UNKNOWN_TENANT: Final = "tenant_unknown"
NOT_CONNECTED: Final = "not_connected"

TOGETHER_EVERY: Final = timedelta(hours=1)
"""Over the limit, single messages at times that people named are sent in one message an hour."""
ASK_AGAIN: Final = timedelta(minutes=5)
"""The time after which a platform that did not answer is asked again about a membership."""
LOOK_AGAIN: Final = timedelta(minutes=10)
"""The time after which a closed window is looked at again, if its person was not seen writing."""


class ProactivePolicy(Section):
    """The section `proactive`: when the assistant may write without a message to answer."""

    quiet_hours: QuietHoursText = ""
    """The quiet hours of people and places that chose none, such as 22:00-07:00, by their own
    clock. If this is not set: none."""
    per_day: int = Field(default=20, ge=0, le=10_000)
    """Messages in one day to one person that answer nothing; 0 removes the limit. Repeated ones
    beyond it wait for the next day, single reminders are sent together in one message an hour."""
    per_place: int = Field(default=50, ge=0, le=10_000)
    """The same for one channel or group."""
    keep_days: int = Field(default=7, ge=1, le=90)
    """Days after which a message that waits is dropped, for example one on WhatsApp to a person who
    has not written for 24 hours."""


class ProactiveMessage(Struct, frozen=True):
    """The facts of a message that decide about it. `asked_for` is the time for which its reader
    asked (`asked` only); `until` ends its use, None: never. `chars` is the length of its text;
    `needs_buttons`: the text is of no use without its buttons."""

    kind: Kind
    asked_for: datetime | None = None
    until: datetime | None = None
    chars: int = 0
    needs_buttons: bool = False


class Circumstances(Struct, frozen=True):
    """The circumstances at the time of sending.

    `own` are the quiet hours of the only reader, None in a room; `place` those of a room. `sent`
    counts the messages of this day in `zone`, of which there may be `most` (0: any number).
    `template_chars` is the longest text that the platform's template takes. `access` decides if
    the person is served there now. `member` is None where the platform did not tell, True where
    that is not asked.
    """

    now: datetime
    zone: tzinfo
    own: QuietHours | None = None
    place: QuietHours | None = None
    sent: int = 0
    most: int = 0
    reach: Reach = "open"
    template_chars: int = 0
    access: Decision = Decision("access", True, "open")
    member: bool | None = True


class Verdict(Struct, frozen=True):
    """`until` is the time at which to decide again: after `wait`, and at the latest after
    `wait_for_person`. `by_template`: without buttons."""

    action: Action
    reason: str
    """A code such as "quiet_hours"."""
    until: datetime | None = None
    by_template: bool = False

    def decision(self) -> Decision:
        """Return the verdict as a decision with its reason."""
        until = "" if self.until is None else f"until {self.until:%Y-%m-%d %H:%M} UTC"
        return Decision(STAGE, self.action == "send", self.reason, until)


def may_send(message: ProactiveMessage, now: Circumstances) -> Verdict:
    """Decide about a message: the person's access and its use first, then the quiet hours, the
    platform and the limit of the day."""
    for rule in (_access, _use, _hours, _platform, _limit):
        verdict = rule(message, now)
        if verdict is not None:
            return verdict
    if now.reach == "template":
        return Verdict("send", BY_TEMPLATE, by_template=True)
    return Verdict("send", ASKED_FOR if _asked_within(message, now) else SENT)


Rule = Callable[[ProactiveMessage, Circumstances], Verdict | None]


def _access(_message: ProactiveMessage, now: Circumstances) -> Verdict | None:
    if not now.access.allowed:
        return Verdict("never", now.access.reason)
    if now.member is None:
        return Verdict("wait", UNSURE, now.now + ASK_AGAIN)
    return None if now.member else Verdict("never", LEFT)


def _use(message: ProactiveMessage, now: Circumstances) -> Verdict | None:
    over = message.until is not None and message.until <= now.now
    return Verdict("never", EXPIRED) if over else None


def _hours(message: ProactiveMessage, now: Circumstances) -> Verdict | None:
    if now.place is not None and (over := now.place.over_at(now.now, now.zone)):
        return Verdict("wait", PLACE_HOURS, over)
    if now.own is None or _asked_within(message, now):
        return None
    over = now.own.over_at(now.now, now.zone)
    return None if over is None else Verdict("wait", OWN_HOURS, over)


def _asked_within(message: ProactiveMessage, now: Circumstances) -> bool:
    """Return True if the reader named a time within the quiet hours that last now."""
    if message.kind != "asked" or message.asked_for is None or now.own is None:
        return False
    over = now.own.over_at(now.now, now.zone)
    return over is not None and now.own.over_at(message.asked_for, now.zone) == over


def _platform(message: ProactiveMessage, now: Circumstances) -> Verdict | None:
    if now.reach == "open":
        return None
    fits = not message.needs_buttons and message.chars <= now.template_chars
    if now.reach == "template" and fits:
        return None
    return Verdict("wait_for_person", WINDOW, now.now + LOOK_AGAIN)


def _limit(message: ProactiveMessage, now: Circumstances) -> Verdict | None:
    if not now.most or now.sent < now.most:
        return None
    if message.kind == "asked":
        return Verdict("wait", TOGETHER, _full_hour(now.now))
    return Verdict("wait", LIMIT, next_day(now.now, now.zone))


def _full_hour(now: datetime) -> datetime:
    return now.replace(minute=0, second=0, microsecond=0) + TOGETHER_EVERY


def next_day(now: datetime, zone: tzinfo) -> datetime:
    """Return the beginning of the next day in a zone; where the clock skips midnight, the first
    moment after it."""
    tomorrow = now.astimezone(zone).date() + timedelta(days=1)
    midnight = datetime.combine(tomorrow, time(), zone)
    at = midnight.astimezone(now.tzinfo)
    return at if at > now else now + TOGETHER_EVERY
