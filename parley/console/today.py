"""The messages since midnight: by hour, by how their handling ended, with answer times and cost.
Every message is counted once, so that the numbers add up."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal, get_args

from pydantic import Field

from gateway.policy.question_age import EXPIRED
from gateway.policy.takeover_return import HANDED_OVER
from gateway.ports.action import Output
from gateway.ports.traces import FAILED, HandledMessages
from gateway.ports.usage import LATENCIES
from gateway.stores.usage_days import quantile
from gateway.turn.model_turn import Outcome
from gateway.zones import zone_named
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer

Ended = Literal[
    "answered",
    "failed",
    "too_many",
    "budget",
    "not_allowed",
    "refused",
    "joined",
    "operator",
    "too_old",
    "withdrawn",
    "other",
]
"""How the handling of a message ended, for people."""
ENDED: Final[Sequence[Ended]] = get_args(Ended)
ANSWERED: Final = frozenset(get_args(Outcome)) - frozenset(FAILED)
"""Outcomes of messages with an answer, also with a part of one."""
REFUSED_BY: Final[dict[str, Ended]] = {
    "limits": "too_many",
    "budget": "budget",
    "access": "not_allowed",
    "pairing": "not_allowed",
    "identity": "not_allowed",
}
"""How the handling ended, by the stage that refused a message."""
OTHERWISE: Final[dict[str, Ended]] = {
    "collected": "joined",
    HANDED_OVER: "operator",
    EXPIRED: "too_old",
    "deleted": "withdrawn",
    "dropped": "withdrawn",
}
REFUSED: Final = "refused:"
MAX_HOURS: Final = 25
"""Hours of the longest day, on which clocks are set back."""


class EndedOut(Output):
    """The number of messages whose handling ended so."""

    how: Ended
    number: int


class HourOut(Output):
    """The messages of one hour of the viewer's day. `begin` is the time on the clock, such as
    "09:00"; those that are neither answered nor failed were not answered for another reason."""

    begin: str
    messages: int
    answered: int
    failed: int


class Today(Output):
    """The figures since midnight in the viewer's time zone; money in millionths of a dollar, times
    in milliseconds, None without an answer. `ended` adds up to `messages`."""

    since: datetime
    day: str
    """The day in the viewer's time zone, such as 2026-11-23."""
    messages: int
    answered: int
    failed: int
    micros: int
    p50: int | None = None
    p95: int | None = None
    ended: tuple[EndedOut, ...] = Field(default=(), max_length=len(ENDED))
    hours: tuple[HourOut, ...] = Field(default=(), max_length=MAX_HOURS)


async def today_of(viewer: Viewer, services: ConsoleServices) -> Today:
    """Return the figures of everybody for operators, of the viewer alone for other people. Raises
    `StoreUnavailable`."""
    now, stores = services.gateway.clock.now(), services.gateway.stores
    since = midnight_of(now, viewer.zone)
    persons = None if viewer.is_operator else sorted(viewer.persons)
    found = await stores.traces.handled(viewer.tenant, since, persons)
    totals = await stores.usage.recent_totals(viewer.tenant, since, persons)
    numbers = Counter[Ended]()
    took = [0] * (len(LATENCIES) + 1)
    for one in found:
        numbers[ended(one.outcome)] += one.number
        took = [here + more for here, more in zip(took, one.took, strict=True)]
    return Today(
        since=since,
        day=since.astimezone(zone_of(viewer.zone)).date().isoformat(),
        messages=numbers.total(),
        answered=numbers["answered"],
        failed=numbers["failed"],
        micros=sum(total.micros for total in totals),
        p50=_rounded(quantile(took, 0.5)),
        p95=_rounded(quantile(took, 0.95)),
        ended=tuple(EndedOut(how=how, number=numbers[how]) for how in ENDED if numbers[how]),
        hours=tuple(_hours(found, since, now, zone_of(viewer.zone))),
    )


def ended(outcome: str) -> Ended:
    """Return how the handling of a message ended, by the outcome of its trace."""
    if outcome.startswith(REFUSED):
        return REFUSED_BY.get(outcome.removeprefix(REFUSED), "refused")
    if outcome in FAILED:
        return "failed"
    return "answered" if outcome in ANSWERED else OTHERWISE.get(outcome, "other")


def _hours(
    found: Sequence[HandledMessages], since: datetime, now: datetime, zone: tzinfo
) -> Iterator[HourOut]:
    """Return every hour of the day until now, also those without a message."""
    numbers: dict[int, Counter[Ended]] = {}
    for one in found:
        numbers.setdefault(one.hour, Counter())[ended(one.outcome)] += one.number
    last = int((now - since) / timedelta(hours=1))
    for hour in range(min(last + 1, MAX_HOURS)):
        counts = numbers.get(hour, Counter())
        yield HourOut(
            begin=f"{(since + timedelta(hours=hour)).astimezone(zone):%H:%M}",
            messages=counts.total(),
            answered=counts["answered"],
            failed=counts["failed"],
        )


def midnight_of(now: datetime, zone: str) -> datetime:
    """Return the begin of the day in a time zone, in UTC; of the UTC day for an unknown zone."""
    local = now.astimezone(zone_of(zone))
    return local.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)


def zone_of(name: str) -> tzinfo:
    """Return the time zone of a name, UTC for an empty or unknown one."""
    return zone_named(name) or UTC


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)
