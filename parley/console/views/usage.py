"""Usage: cost, tokens, answer times, messages and errors by day, person, channel, workspace and
model; limits and budgets in use."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field, StringConstraints

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.people import Role
from gateway.policy.budgets import MICRO
from gateway.ports.action import Input, Output
from gateway.ports.model import Usage
from gateway.ports.rights import to_read
from gateway.ports.usage import LATENCIES, UsageFilter, UsageKey, UsageSum
from gateway.stores.usage import MAX_DAYS, first_day
from gateway.stores.usage_days import quantile
from gateway.text import (
    NO_TEXT,
    text,
    verbatim,
)
from memory.actions.call import Digits
from parley.console.limits_in_use import (
    MAX_BUDGETS,
    MAX_RATES,
    BudgetUseOut,
    RateOut,
    RateUseOut,
    budgets_in_use,
    rates_in_use,
    rates_of,
)
from parley.console.names import names_of, room_key
from parley.console.route import AnyRoute, ConsoleRoute, File
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.text import csv_text
from parley.console.viewer import Viewer
from parley.wiring.storage import read_hot

PATH: Final = "/usage"
ROWS: Final = 100
"""Values of a key that the page shows, the dearest ones."""
MAX_CSV: Final = 10_000
DAILY: Final = 92
"""Days of a period up to which each day has figures of its own, and each week beyond."""
HOURS: Final = 24
DIRECT: Final = "direct"
"""The value of `channel` for direct conversations."""
NO_DAY: Final = text("{day} is no day. Write it as 2026-11-30.")
FUTURE: Final = text("{day} is in the future. Choose a day up to today (UTC).")
MAX_TEXT: Final = 300
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Day = Annotated[str, StringConstraints(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")]
N = TypeVar("N", bound=Output)
By = Literal["", "person", "channel", "workspace", "model"]
HEADER: Final = (
    *("messages", "errors", "answers", "input_tokens", "output_tokens", "cache_read_tokens"),
    *("cache_write_tokens", "cache_share_percent", "p50_ms", "p95_ms", "cost_dollars"),
)


class UsagePageQuery(Input):
    """The last `days` up to `until`, today without it; days are UTC. `by` is the key of the table,
    the person by default for operators and the channel for other people. Empty filters are off;
    `channel` is an id, or "direct" for direct conversations."""

    days: Annotated[int, Field(ge=1, le=MAX_DAYS), Digits] = 30
    until: Day = ""
    by: By = ""
    person: Text = ""
    channel: Text = ""
    workspace: Text = ""
    model: Text = ""


class SpendingFigures(Output):
    """Sums. Money in millionths of a dollar; `answers` are calls of a model; `cache_share` is the
    share of the read tokens that came from the cache. `p50` and `p95` are the milliseconds within
    which so many percent of the answers came, to about a fifth; None without an answer."""

    messages: int = 0
    errors: int = 0
    answers: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_share: float | None = None
    micros: int = 0
    p50: int | None = None
    p95: int | None = None


class PeriodOut(Output):
    """The figures of an hour, of a day, or of up to seven days from `begin` (UTC) on."""

    begin: datetime
    figures: SpendingFigures


class RowOut(Output):
    """The figures of one value of the key; the other keys are empty. `channel` is "direct" for
    direct conversations. All empty: nobody, or a person who was erased."""

    person: str = ""
    workspace: str = ""
    channel: str = ""
    model: str = ""
    figures: SpendingFigures
    name: str = ""
    """The name of the person or room; empty if unknown, and for other keys."""


class UsagePageOut(Output):
    """The usage of everybody for operators, of the viewer alone for other people. `step` is the
    number of days of each of `periods`, 0 for hours. They begin with the first day with usage, as
    `since`. `more`: the table has further rows, as in the CSV file. `rates_missing`: the reason why
    `rates_in_use` is not known."""

    of: Literal["all", "own"]
    since: date
    until: date
    today: date
    """The current day, UTC."""
    yesterday: date
    by: Literal["person", "channel", "workspace", "model"]
    total: SpendingFigures
    step: int
    periods: tuple[PeriodOut, ...] = Field(max_length=DAILY + 1)
    rows: tuple[RowOut, ...] = Field(max_length=ROWS)
    more: bool
    budgets: tuple[BudgetUseOut, ...] = Field(max_length=MAX_BUDGETS)
    rates: tuple[RateOut, ...] = Field(max_length=4)
    rates_in_use: tuple[RateUseOut, ...] = Field(max_length=MAX_RATES)
    rates_missing: Said = NO_TEXT


async def usage(viewer: Viewer, services: ConsoleServices, params: UsagePageQuery) -> UsagePageOut:
    """Return the usage of a period. Raises `BadInput` for a day that does not exist."""
    wanted, key = filter_of(viewer, services, params), _key(viewer, params)
    read = services.storage.usage_figures.by
    # Two readers: each sums a year by itself.
    days, rows = await asyncio.gather(read("day", wanted, MAX_DAYS), read(key, wanted, ROWS + 1))
    period = replace(wanted, since=_first(days, wanted))
    number = (period.until - period.since).days
    step = 0 if number == 1 else 1 if number <= DAILY else 7
    hours = await read("hour", period, HOURS) if step == 0 else ()
    used, missing = await read_hot(rates_in_use(viewer, services), ())
    budgets = [one async for one in budgets_in_use(viewer, services)]
    shown = [_row(key, one) for one in rows[:ROWS]]
    today = first_day(services.gateway.clock.now(), 1)
    whose = (*(one.whose for one in budgets), *(one.whose for one in used))
    names = await names_of(
        viewer,
        services,
        (*(one.person for one in shown), *whose),
        rooms=(key for key in map(_room_of, shown) if key),
    )
    return UsagePageOut(
        of="all" if viewer.is_operator else "own",
        since=period.since.date(),
        until=(wanted.until - timedelta(days=1)).date(),
        today=today.date(),
        yesterday=(today - timedelta(days=1)).date(),
        by=key,
        total=figures_of(days),
        step=step,
        periods=tuple(
            _hours(hours, period, services.gateway.clock.now())
            if step == 0
            else _periods(days, period, step)
        ),
        rows=tuple(_named(one, one.person or _room_of(one), names) for one in shown),
        more=len(rows) > ROWS,
        budgets=tuple(_named(one, one.whose, names) for one in budgets),
        rates=rates_of(services),
        rates_in_use=tuple(_named(one, one.whose, names) for one in used),
        rates_missing=missing,
    )


async def usage_csv(viewer: Viewer, services: ConsoleServices, params: UsagePageQuery) -> File:
    """Return the table as a file, with at most 10,000 rows."""
    wanted, key = filter_of(viewer, services, params), _key(viewer, params)
    rows = await services.storage.usage_figures.by(key, wanted, MAX_CSV)
    shown = (_row(key, one) for one in rows)
    names = ("workspace", "channel") if key == "channel" else (key,)
    text = csv_text(
        (*names, *HEADER),
        ((*(getattr(one, name) for name in names), *_cells(one.figures)) for one in shown),
    )
    name = f"usage-by-{key}-{wanted.since:%Y-%m-%d}-{params.days}-days.csv"
    return File(name=name, content_type="text/csv; charset=utf-8", content=text)


def filter_of(viewer: Viewer, services: ConsoleServices, params: UsagePageQuery) -> UsageFilter:
    """Return what this viewer may see of what the parameters want. Raises `BadInput`."""
    today = first_day(services.gateway.clock.now(), 1)
    last = _day(params.until) if params.until else today
    if last > today:
        raise BadInput(FUTURE.of(day=verbatim(params.until)))
    everything = UsageFilter(
        viewer.tenant,
        first_day(last, params.days),
        last + timedelta(days=1),
        None if viewer.is_operator else tuple(sorted(viewer.persons)),
        params.person.strip(),
        params.workspace.strip(),
        model=params.model.strip(),
    )
    channel = params.channel.strip()
    return replace(everything, channel="" if channel == DIRECT else channel or None)


def _day(written: str) -> datetime:
    try:
        return datetime.fromisoformat(written).replace(tzinfo=UTC)
    except ValueError:
        raise BadInput(NO_DAY.of(day=verbatim(written))) from None


def _key(
    viewer: Viewer, params: UsagePageQuery
) -> Literal["person", "channel", "workspace", "model"]:
    return params.by or ("person" if viewer.is_operator else "channel")


def figures_of(sums: Iterable[UsageSum]) -> SpendingFigures:
    """Return the figures of several sums together."""
    tokens, took = Usage(), [0] * (len(LATENCIES) + 1)
    calls = cost = messages = errors = 0
    for one in sums:
        tokens += one.usage
        took = [here + more for here, more in zip(took, one.took, strict=True)]
        calls, cost = calls + one.calls, cost + one.micros
        messages, errors = messages + one.messages, errors + one.errors
    read = tokens.input_tokens + tokens.cache_read_tokens + tokens.cache_write_tokens
    return SpendingFigures(
        messages=messages,
        errors=errors,
        answers=calls,
        input_tokens=tokens.input_tokens,
        output_tokens=tokens.output_tokens,
        cache_read_tokens=tokens.cache_read_tokens,
        cache_write_tokens=tokens.cache_write_tokens,
        cache_share=tokens.cache_read_tokens / read if read else None,
        micros=cost,
        p50=_rounded(quantile(took, 0.5)),
        p95=_rounded(quantile(took, 0.95)),
    )


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _first(days: Sequence[UsageSum], wanted: UsageFilter) -> datetime:
    """Return the begin of the first day with usage, of the last day without any."""
    last = wanted.until - timedelta(days=1)
    begin = min((int(one.name) / MICRO for one in days), default=last.timestamp())
    return max(wanted.since, min(datetime.fromtimestamp(begin, UTC), last))


def _hours(hours: Sequence[UsageSum], wanted: UsageFilter, now: datetime) -> Iterator[PeriodOut]:
    """Return every hour of a day until now, also those without usage."""
    found = {int(one.name) // MICRO: one for one in hours}
    for number in range(HOURS):
        begin = wanted.since + timedelta(hours=number)
        one = found.get(round(begin.timestamp()))
        if one is None and begin > now:
            break
        yield PeriodOut(begin=begin, figures=figures_of(() if one is None else (one,)))


def _periods(days: Sequence[UsageSum], wanted: UsageFilter, step: int) -> Iterator[PeriodOut]:
    """Return every period, also those without usage; the first one may be shorter."""
    found = {int(one.name) // MICRO: one for one in days}
    number = (wanted.until - wanted.since).days
    every = [wanted.since + timedelta(days=index) for index in range(number)]
    first = number % step
    begins = ([0] if first else []) + list(range(first, number, step))
    for begin, end in zip(begins, (*begins[1:], number), strict=True):
        part = every[begin:end]
        sums = (found.get(round(day.timestamp())) for day in part)
        figures = figures_of(one for one in sums if one is not None)
        yield PeriodOut(begin=part[0], figures=figures)


def _row(key: UsageKey, one: UsageSum) -> RowOut:
    figures = figures_of((one,))
    if key == "channel":
        workspace, _, channel = one.name.partition("\n")
        shown = channel or (DIRECT if workspace else "")
        return RowOut(workspace=workspace, channel=shown, figures=figures)
    return RowOut.model_validate({key: one.name, "figures": figures})


def _room_of(row: RowOut) -> str:
    """Return the `room_key` of the room of a row, empty for none."""
    if row.channel in ("", DIRECT):
        return ""
    platform, _, rest = row.workspace.partition(":")
    return room_key(platform, rest.partition(":")[0], row.channel)


def _named(row: N, person: str, names: Mapping[str, str]) -> N:
    """Return a row with the name of its person or room."""
    return row.model_copy(update={"name": names[person]}) if person in names else row


def _cells(one: SpendingFigures) -> tuple[object, ...]:
    share = "" if one.cache_share is None else round(100 * one.cache_share, 1)
    times = ("" if value is None else value for value in (one.p50, one.p95))
    return (
        *(one.messages, one.errors, one.answers, one.input_tokens, one.output_tokens),
        *(one.cache_read_tokens, one.cache_write_tokens, share, *times),
        f"{one.micros / MICRO:.6f}",
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="usage",
        method="GET",
        path=PATH,
        allowed=to_read(Role.GUEST),
        summary=text("Cost, tokens, answer times and errors; limits and budgets in use"),
        run=usage,
        template="usage.html",
        menu=text("Usage"),
        example={"days": "7", "by": "model"},
    ),
    ConsoleRoute(
        name="usage_csv",
        method="GET",
        path=f"{PATH}.csv",
        allowed=to_read(Role.GUEST),
        summary="The table of the usage as a CSV file",
        run=usage_csv,
        example={"days": "7"},
    ),
)
