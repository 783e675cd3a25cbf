"""Reads what the model asks for into an appointment: a local time, a rule and a zone.

Free text is not read: programs that try lose the hour. The model writes the day, the time and one
of a few forms of a rule, and an error tells it what to write instead.
"""

import re
from datetime import date, datetime, timedelta, tzinfo
from typing import Annotated, Final

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from gateway.appointments.appointment import MAX_AHEAD, MAX_WORDS
from gateway.appointments.recurrence import (
    LAST,
    MOST,
    Rule,
    Unit,
    following_instant,
    instant_of,
    local_of,
)
from gateway.errors import ToolError
from gateway.text import day_in
from gateway.zones import MAX_NAME, zone_named

MAX_RULE: Final = 80
MAX_MINUTES: Final = 527_040
"""A year."""
SOONEST: Final = timedelta(seconds=2)
"""Times are stored in whole seconds."""
MAX_PROBLEMS: Final = 5
AT: Final = "at: a local day and time without an offset, as 2026-12-31T09:00"
EVERY: Final = (
    "every: one of day, 3 days, weekday, week, 2 weeks, mon,thu, 2 weeks fri, month, 3 months, "
    "first mon, last fri, last day, year"
)
_WORD: Final = re.compile(r"[a-z]+|\d+")
_UNITS: Final[dict[str, Unit]] = {"day": "day", "week": "week", "month": "month", "year": "year"}
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FULL: Final = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("tues", "weds", "thur", "thurs"),
)
_NTH: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": LAST}
_WORKDAYS: Final = frozenset({"weekday", "weekdays", "workday", "workdays"})
_FILLERS: Final = frozenset({"every", "on", "the", "of", "and", "each"})


class Arguments(BaseModel):
    """The arguments of the tool. Null for an optional one counts as left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    text: Annotated[str, StringConstraints(max_length=MAX_WORDS)] | None = None
    at: Annotated[str, StringConstraints(max_length=40)] | None = None
    in_minutes: Annotated[float, Field(gt=0, le=MAX_MINUTES, allow_inf_nan=False)] | None = None
    every: Annotated[str, StringConstraints(max_length=MAX_RULE)] | None = None
    until: date | None = None
    zone: Annotated[str, StringConstraints(max_length=MAX_NAME)] | None = None
    number: Annotated[int, Field(ge=1)] | None = None
    run: bool | None = None

    @property
    def names_time(self) -> bool:
        """True if they say when."""
        return bool(self.at or self.in_minutes)


class Schedule(Struct, frozen=True):
    """When an appointment happens; the fields of `Appointment` of the same names."""

    first: datetime
    zone: str
    due: datetime
    rule: Rule | None
    follows: bool


def read_arguments(given: dict[str, object]) -> Arguments:
    """Return the arguments of the tool. Raises `ToolError` for those that cannot be used."""
    try:
        return Arguments.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc']) or 'arguments'}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_input=False)[:MAX_PROBLEMS]
        )
        raise ToolError(f"these arguments cannot be used: {problems}") from None


def schedule_of(asked: Arguments, now: datetime, zone: tzinfo) -> Schedule:
    """Return when an appointment happens, for a person in this zone. Raises `ToolError` with what
    to write instead, also for a time that is past."""
    named = _zone(asked.zone) if asked.zone else None
    tz = named or zone
    if asked.in_minutes is not None and asked.at:
        raise ToolError("write at or in_minutes, not both")
    if asked.in_minutes is not None:
        at = now + max(SOONEST, timedelta(minutes=asked.in_minutes))
        first = local_of(at.replace(microsecond=0), tz)
    elif asked.at:
        first = _local(asked.at)
    else:
        raise ToolError(AT)
    rule = rule_of(asked.every, first, asked.until) if asked.every else None
    if first - local_of(now, tz) > MAX_AHEAD:
        raise ToolError("at: at most ten years ahead")
    due = _next(first, rule, now, tz)
    follows = named is None and not (asked.in_minutes is not None and rule is None)
    return Schedule(first, str(tz), due, rule, follows)


def _next(first: datetime, rule: Rule | None, now: datetime, tz: tzinfo) -> datetime:
    said = f"now it is {day_in(now, tz)}, {local_of(now, tz):%H:%M} ({tz})"
    if rule is None:
        if instant_of(first, tz) <= now:
            raise ToolError(f"at: this time is past; {said}")
        return first
    due = following_instant(rule, first, tz, now)
    if due is None:
        raise ToolError(f"until: the rule has no time left; {said}")
    return due


def _zone(name: str) -> tzinfo:
    found = zone_named(name)
    if found is None:
        raise ToolError("zone: a name such as Europe/Zurich; leave it out for the person's own")
    return found


def _local(written: str) -> datetime:
    try:
        at = datetime.fromisoformat(written.strip())
    except ValueError:
        raise ToolError(AT) from None
    if (
        at.tzinfo is not None
        or not 2000 <= at.year < 2200
        or len(written.strip()) <= len("2026-12-31")
    ):
        raise ToolError(AT)
    return at.replace(second=0, microsecond=0, fold=0)


def rule_of(written: str, first: datetime, until: date | None = None) -> Rule:
    """Return the rule of a text such as "2 weeks mon,thu". Raises `ToolError` with the forms."""
    words = [word for word in _WORD.findall(written.casefold()) if word not in _FILLERS]
    interval = int(words.pop(0)) if words and words[0].isdigit() else 1
    if words[:1] and words[0] in _WORKDAYS:
        rule, rest = Rule("week", interval, (0, 1, 2, 3, 4), until=until), words[1:]
    else:
        unit = _UNITS.get(words[0].removesuffix("s")) if words else None
        rule, rest = _in_unit(unit, words[1:] if unit else words, interval, first, until)
    if rest or not 1 <= interval <= MOST[rule.unit]:
        raise ToolError(EVERY)
    return rule


def _in_unit(
    unit: Unit | None, words: list[str], interval: int, first: datetime, until: date | None
) -> tuple[Rule, list[str]]:
    """Return the rule, and the words that it does not use."""
    if unit in ("day", "year"):
        return Rule(unit, interval, until=until), words
    if words and words[0] in _NTH and unit in (None, "month"):
        nth, rest = _NTH[words[0]], words[1:]
        if nth == LAST and rest[:1] == ["day"]:
            rule, rest = Rule("month", interval, day=LAST, until=until), rest[1:]
        else:
            day = _weekday(rest[0] if rest else "")
            rule, rest = Rule("month", interval, (day,), nth, until=until), rest[1:]
        return rule, rest[1:] if rest[:1] in (["month"], ["months"]) else rest
    if unit == "month":
        return Rule("month", interval, day=first.day, until=until), words
    if unit is None and not words:
        raise ToolError(EVERY)
    days = tuple(sorted({_weekday(word) for word in words}))
    return Rule("week", interval, days or (first.weekday(),), until=until), []


def _weekday(word: str) -> int:
    known = word in _DAYS or word in _FULL or word.removesuffix("s") in _FULL
    if not known:
        raise ToolError(EVERY)
    return _DAYS.index(word[:3])
