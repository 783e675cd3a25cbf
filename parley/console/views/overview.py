"""The overview: what needs attention, today's figures, and for operators the state of the parts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, TypeVar, get_args
from urllib.parse import quote, urlencode

from pydantic import Field

from db.errors import StoreUnavailable
from gateway.inbound.crash_loop_guard import MAX_LISTED
from gateway.people import Role
from gateway.ports.action import Input, Output
from gateway.ports.queues import Backlog
from gateway.ports.rights import to_read
from gateway.ports.usage import UsageFilter, UsageSum
from gateway.stores.usage import first_day
from gateway.text import Text, Unconverted, as_text, counted, text
from parley.console import words
from parley.console.limits_in_use import BudgetUseOut, budgets_in_use
from parley.console.names import names_of, room_key
from parley.console.route import AnyRoute, ConsoleRoute
from parley.console.said import SaidOrStr
from parley.console.services import ConsoleServices
from parley.console.today import Today, today_of
from parley.console.viewer import Viewer
from parley.console.views.usage import DIRECT, MAX_TEXT
from parley.runtime.installation import MISSING, STARTING, STORE_STEP, STORES
from parley.runtime.installation import InstallationPart as Served
from parley.wiring.accounts import identity_conflicts
from parley.wiring.storage import read_hot

SLOW: Final = timedelta(minutes=5)
"""A message that waits longer needs attention."""
READY: Final = "ready"
PROBLEM: Final = "problem"
NOTE: Final = "note"
IS: Final = text("{name} is {state}.")
BECAUSE: Final = text("{name} is {state}: {problem}")
CHECK: Final = text("Check the model, the platforms and the stores")
Read = TypeVar("Read")
ACTIVE: Final = 5
"""People and rooms that the page names."""
ACTIVE_DAYS: Final = 7
FEW_BUDGETS: Final = 4
MOST: Final = 50
"""Entries of each list of the page."""
ELSEWHERE: Final = frozenset({"quarantine", "overrides"})
"""Problems that the overview shows in their own place."""
REVIEWS: Final = "/memory/reviews"


Part: TypeAlias = Literal["today", "budgets", "active"]
"""A part of the page that needs the store."""


class OverviewQuery(Input):
    """The overview has no parameters."""


class Need(Output):
    """Something that needs a person: `kind` in one word, and the next step, as a page of the
    console where `path` is set, otherwise as a command."""

    kind: str
    text: SaidOrStr
    step: SaidOrStr
    path: str = ""
    urgent: bool = False


class PlatformState(Output):
    """An account: `state` is a state of its connection, or `missing` if no process serves it;
    `last_event` is the last event, whoever it was meant for. `step`: what to do about a missing
    one."""

    name: str
    state: str
    since: datetime | None
    last_event: datetime | None
    reconnects: int
    problem: SaidOrStr
    step: SaidOrStr = ""


class PartCondition(Output):
    """A store, a listener, a memory backend, a tool server, or the workers. `step`: what to do,
    where that is known."""

    name: str
    state: str
    well: bool
    problem: SaidOrStr
    step: SaidOrStr = ""


class Queue(Output):
    """Events and answers that wait, and those that were given up."""

    events: int = 0
    oldest_event: datetime | None = None
    sends: int = 0
    oldest_send: datetime | None = None
    dead: int = 0
    quarantined: int = 0


class ActiveOut(Output):
    """A person or a room and what it used. `of` is the workspace of a room, whose `name` (an id)
    is empty for direct messages; `title` is its name for people, empty where none is known; `path`
    leads to its usage, empty where the name is too long."""

    name: str
    title: str = ""
    of: str = ""
    messages: int
    micros: int
    path: str = ""


class OverviewOut(Output):
    """The overview. `of`: the figures are of everybody, or only the viewer's own. `today` is null
    and the lists are empty where `not_read` names them: the store cannot be read. `budgets` are
    those of which most is spent, `people` and `rooms` those that used most in the last
    `active_days` days (UTC)."""

    of: Literal["all", "own"]
    needs: tuple[Need, ...] = Field(max_length=4 * MOST)
    today: Today | None
    not_read: tuple[Part, ...] = ()
    budgets: tuple[BudgetUseOut, ...] = Field(default=(), max_length=FEW_BUDGETS)
    people: tuple[ActiveOut, ...] = Field(default=(), max_length=ACTIVE)
    rooms: tuple[ActiveOut, ...] = Field(default=(), max_length=ACTIVE)
    active_days: int = ACTIVE_DAYS
    platforms: tuple[PlatformState, ...] = ()
    parts: tuple[PartCondition, ...] = ()
    queue: Queue | None = None


async def overview(
    viewer: Viewer, services: ConsoleServices, _params: OverviewQuery
) -> OverviewOut:
    """Return the overview of everybody for operators, of the viewer alone for other people."""
    today, budgets, own = await asyncio.gather(
        _if_read(today_of(viewer, services)),
        _if_read(_budgets(viewer, services)),
        _own(viewer, services),
    )
    if not viewer.is_operator:
        return OverviewOut(
            of="own",
            needs=tuple(own),
            today=today,
            not_read=_missing(today=today, budgets=budgets),
            budgets=budgets or (),
        )
    active = await _if_read(_active(viewer, services))
    people, rooms = active or ((), ())
    platforms, parts = platform_states(services), _parts(services)
    queue, _ = await read_hot(_queue(services), None)
    states = services.storage.hot.states
    conflicts, _ = await read_hot(identity_conflicts(services.settings, states), [])
    waiting = (
        []
        if services.gateway.pairing is None
        else await services.gateway.pairing.waiting(viewer.tenant)
    )
    now = services.gateway.clock.now()
    needs = (
        *(_of_platform(one) for one in platforms if not (one.state == READY or _starts(one))),
        *(_of_part(one) for one in parts if not one.well),
        *(() if queue is None else _of_queue(queue, now)),
        *((_of_requests(len(waiting)),) if waiting else ()),
        *_of_overrides(services),
        *map(_of_identities, conflicts),
        *own,
    )
    return OverviewOut(
        of="all",
        needs=tuple(sorted(needs, key=lambda need: not need.urgent)[: 4 * MOST]),
        today=today,
        not_read=_missing(today=today, budgets=budgets, active=active),
        budgets=budgets or (),
        people=people,
        rooms=rooms,
        platforms=platforms,
        parts=parts,
        queue=queue,
    )


async def _if_read(reading: Awaitable[Read]) -> Read | None:
    """Return what was read; None without the store, which a need of the page names."""
    try:
        return await reading
    except StoreUnavailable:
        return None


def _missing(**read: object) -> tuple[Part, ...]:
    """Return the names of the parts that were not read."""
    return tuple(name for name in get_args(Part) if name in read and read[name] is None)


async def _active(viewer: Viewer, services: ConsoleServices) -> tuple[tuple[ActiveOut, ...], ...]:
    """Return the people and the rooms that used most in the last days; those of everybody."""
    last = first_day(services.gateway.clock.now(), 1)
    wanted = UsageFilter(viewer.tenant, first_day(last, ACTIVE_DAYS), last + timedelta(days=1))
    read = services.storage.usage_figures.by
    people, rooms = await asyncio.gather(
        read("person", wanted, ACTIVE + 1), read("channel", wanted, ACTIVE + 1)
    )
    known = [one for one in people if one.name]
    places = [one for one in rooms if one.name.partition("\n")[0]]
    shown = (
        tuple(_active_out(one, {"person": one.name}, one.name) for one in known[:ACTIVE]),
        tuple(_active_room(one) for one in places[:ACTIVE]),
    )
    keys = {one: _room_key(one) for one in shown[1] if one.name}
    names = await names_of(viewer, services, (one.name for one in shown[0]), rooms=keys.values())

    def titled(one: ActiveOut) -> ActiveOut:
        return one.model_copy(update={"title": names.get(keys.get(one, one.name), "")})

    return tuple(tuple(map(titled, each)) for each in shown)


def _room_key(one: ActiveOut) -> str:
    platform, _, rest = one.of.partition(":")
    return room_key(platform, rest.partition(":")[0], one.name)


def _active_room(one: UsageSum) -> ActiveOut:
    workspace, _, channel = one.name.partition("\n")
    keys = {"workspace": workspace, "channel": channel or DIRECT}
    return _active_out(one, keys, channel, workspace)


def _active_out(one: UsageSum, keys: Mapping[str, str], name: str, of: str = "") -> ActiveOut:
    query = urlencode({"days": ACTIVE_DAYS, **keys, "by": "model"})
    short = all(len(value) <= MAX_TEXT for value in keys.values())
    return ActiveOut(
        name=name,
        of=of,
        messages=one.messages,
        micros=one.micros,
        path=f"/usage?{query}" if short else "",
    )


async def _budgets(viewer: Viewer, services: ConsoleServices) -> tuple[BudgetUseOut, ...]:
    """Return the budgets of which the largest shares are spent."""
    found = [one async for one in budgets_in_use(viewer, services)]
    found.sort(key=lambda one: one.spent / one.limit if one.limit else 1.0, reverse=True)
    return tuple(found[:FEW_BUDGETS])


async def _own(viewer: Viewer, services: ConsoleServices) -> list[Need]:
    """Return what the viewer is to decide; nothing on a full disk, where no session of memory
    begins: the page then names the disk."""
    try:
        return [need async for need in _own_needs(viewer, services)]
    except StoreUnavailable as error:
        if not error.full:
            raise
        return []


async def _own_needs(viewer: Viewer, services: ConsoleServices) -> AsyncIterator[Need]:
    taken = await _taken_over(viewer, services) if viewer.is_operator else 0
    if taken:
        said = counted(
            "You are answering one conversation instead of the assistant.",
            "You are answering {count} conversations instead of the assistant.",
            count=taken,
        )
        path = "/conversations?state=handed_over"
        yield Need(
            kind="taken over",
            text=said,
            step=text("Answer, or give back to the assistant"),
            path=path,
        )
    if services.memory.memory is None:
        return
    handle = await services.memory_of(viewer)
    waiting = await handle.review.waiting(MOST)
    if waiting:
        said = counted(
            "One memory is waiting for your decision.",
            "{count} memories are waiting for your decision.",
            count=len(waiting),
        )
        yield Need(kind="memories", text=said, step=text("Decide"), path=REVIEWS)
    if not viewer.is_operator:
        return
    known = await services.storage.memory.counts.projects(viewer.tenant, MOST)
    others = [one for one in known if one.waiting and one.id != handle.access.project]
    if others:
        said = counted(
            "One proposal for a project is waiting for an operator's decision.",
            "{count} proposals for projects are waiting for an operator's decision.",
            count=sum(one.waiting for one in others),
        )
        path = f"{REVIEWS}?project={quote(others[0].id, safe='')}"
        yield Need(kind="memories", text=said, step=text("Decide"), path=path)


async def _taken_over(viewer: Viewer, services: ConsoleServices) -> int:
    since = services.gateway.clock.now() - services.gateway.policies.takeover_idle
    listed = await services.storage.takeovers.listed(viewer.tenant, since, MOST)
    return sum(one.operator == viewer.person for one in listed)


def platform_states(services: ConsoleServices) -> tuple[PlatformState, ...]:
    """Return the state of each account, also of those that other processes serve."""
    supervisor = services.health.supervisor
    if supervisor is None:
        return ()
    here = tuple(
        PlatformState(
            name=name,
            state=state,
            since=supervisor.connected_at.get(name),
            last_event=supervisor.last_events.get(name),
            reconnects=supervisor.reconnects.get(name, 0),
            problem=supervisor.errors.get(name, ""),
        )
        for name, state in list(supervisor.states.items())[:MOST]
    )
    everywhere, now = services.health.installation, services.gateway.clock.now()
    if everywhere is None:
        return here
    others = (one for one in everywhere.parts if one.account and one.name not in supervisor.states)
    return (*here, *(_elsewhere(one, now) for one in others))[:MOST]


def _starts(one: PlatformState) -> bool:
    return one.state == STARTING and not one.problem


def _elsewhere(part: Served, now: datetime) -> PlatformState:
    """Return the state of an account that another process serves, or none."""

    def ago(seconds: float | None) -> datetime | None:
        return None if seconds is None else now - timedelta(seconds=seconds)

    return PlatformState(
        name=part.name,
        state=part.state,
        since=ago(part.connected),
        last_event=ago(part.last_event),
        reconnects=0,
        problem=part.problem,
        step=part.step,
    )


def _parts(services: ConsoleServices) -> tuple[PartCondition, ...]:
    readiness, supervisor = services.health.readiness(), services.health.supervisor
    accounts = set() if supervisor is None else set(supervisor.states)
    parts = [
        PartCondition(
            name=name,
            state=state,
            well=state == READY,
            problem=readiness.problems.get(name, ""),
            step=STORE_STEP if name in STORES and state != READY else "",
        )
        for name, state in readiness.parts.items()
        if name not in accounts
    ]
    parts += [
        PartCondition(
            name=f"tools: {server.name}",
            state=READY if server.connected else "unavailable",
            well=not server.problem and not server.refusal,
            problem=readiness.problems.get(f"tools: {server.name}", server.problem),
        )
        for server in services.health.tool_servers()
    ]
    if (everywhere := services.health.installation) is not None:
        accounts |= {part.account for part in everywhere.parts}
        parts += [
            PartCondition(
                name=one.name,
                state=one.state,
                well=one.is_well,
                problem=one.problem,
                step=one.step,
            )
            for one in everywhere.parts
            if not one.account
        ]
    known = {*readiness.parts, *accounts, *(part.name for part in parts), *ELSEWHERE}
    parts += [
        PartCondition(name=name, state=PROBLEM, well=False, problem=problem)
        for name, problem in readiness.problems.items()
        if name not in known
    ]
    parts += [
        PartCondition(name=f"model, note {number}", state=NOTE, well=True, problem=note)
        for number, note in enumerate(readiness.notes, 1)
    ]
    return tuple(parts[:MOST])


async def _queue(services: ConsoleServices) -> Queue | None:
    backlog: Backlog = await services.storage.hot.backlog.look()
    return Queue(
        events=backlog.events,
        oldest_event=backlog.oldest_event,
        sends=backlog.sends,
        oldest_send=backlog.oldest_send,
        dead=backlog.dead,
        quarantined=len(await services.storage.quarantine.listed(MAX_LISTED)),
    )


def _of_platform(one: PlatformState) -> Need:
    return _need("platform", one.name, one.state, one.problem, one.step)


def _of_part(one: PartCondition) -> Need:
    return _need("part", one.name, one.state, one.problem, one.step)


def _need(kind: str, name: str, state: str, problem: Unconverted, step: Unconverted) -> Need:
    """Return what a part needs: its next step, or else the checks."""
    named = {"name": words.part(name), "state": words.said(state)}
    said: Text = IS.of(**named)
    if problem:
        said = BECAUSE.of(problem=as_text(problem), **named)
    if state in (PROBLEM, MISSING):
        said = as_text(problem)
    if step:
        return Need(kind=kind, text=said, step=step, urgent=True)
    return Need(kind=kind, text=said, step=CHECK, path="/health", urgent=True)


def _of_queue(queue: Queue, now: datetime) -> Iterator[Need]:
    if queue.oldest_event and now - queue.oldest_event > SLOW:
        said = counted(
            "One message has been waiting for an answer for more than 5 minutes.",
            "{count} messages are waiting for an answer, the first one for more than 5 minutes.",
            count=queue.events,
        )
        yield Need(kind="slow", text=said, step=CHECK, path="/health", urgent=True)
    if queue.oldest_send and now - queue.oldest_send > SLOW:
        said = counted(
            "One answer has been waiting to be sent for more than 5 minutes.",
            "{count} answers are waiting to be sent, the first one for more than 5 minutes.",
            count=queue.sends,
        )
        yield Need(kind="slow", text=said, step=CHECK, path="/health", urgent=True)
    if queue.dead:
        said = counted(
            "One answer was not delivered.", "{count} answers were not delivered.", count=queue.dead
        )
        step = text("See why, and send again")
        yield Need(kind="not delivered", text=said, step=step, path="/outbox", urgent=True)
    if queue.quarantined:
        said = counted(
            "One message is set aside because it crashed the program repeatedly.",
            "{count} messages are set aside because they crashed the program repeatedly.",
            count=queue.quarantined,
        )
        yield Need(
            kind="set aside", text=said, step=text("Run `parley quarantine list`"), urgent=True
        )


def _of_overrides(services: ConsoleServices) -> Iterator[Need]:
    if problem := services.configuration.said:
        step = text("Correct the configuration")
        yield Need(kind="configuration", text=problem, step=step, path="/configuration")


def _of_identities(conflict: Text) -> Need:
    step = text("Ask the person before you join anything")
    return Need(kind="accounts", text=conflict, step=step)


def _of_requests(number: int) -> Need:
    said = counted(
        "One person is waiting for your approval to write to the assistant.",
        "{count} people are waiting for your approval to write to the assistant.",
        count=number,
    )
    return Need(kind="access", text=said, step=text("Approve or reject"), path="/access")


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="overview",
        method="GET",
        path="/overview",
        allowed=to_read(Role.GUEST),
        summary=text("What needs attention, today's figures, the state of the parts"),
        run=overview,
        template="overview.html",
        menu=text("Overview"),
    ),
)
