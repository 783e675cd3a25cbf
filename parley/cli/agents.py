"""`parley agents list | show | register | unregister | take-back` and `parley handoffs cleanup`,
beside a running program."""

import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from gateway.errors import BadInput, UsageError
from memory.agents.model import Agent, AgentSummary, AgentType
from memory.agents.overview import AgentPage, TakenBack
from memory.agents.registry import EVER
from memory.model.scope import RequestScope
from parley.cli.memory_access import OPERATOR, OpenedAgents, check_person, with_agents
from parley.cli.memory_table import show_records
from parley.cli.options import AsJson, Config, OfPerson, Tenant, Yes, confirmed
from parley.cli.terminal import plain, show, show_rows

NONE: Final = "There are no agents."
NEEDS_PERSON: Final = (
    "The agent {id} is not registered. To take back what it gave, name its person with --person, "
    "and write the whole id."
)
TAKE_BACK: Final = (
    "Delete everything that agent {id} of {person} gave{since}: {memories} memories, {waiting} "
    "waiting for review, {shares} shares, {handoffs} open handoffs?"
)
COUNTS: Final = ("memories", "waiting", "shares", "handoffs")
ENDED: Final = ("completed", "rejected", "expired")
MAX_DAYS: Final = 3_650
QUESTION: Final = (
    "Delete the completed, rejected and expired handoffs of everybody{since}? Agents that have not "
    "read a result cannot read it any more."
)

OlderThan = Annotated[
    int,
    typer.Option(
        "--older-than",
        metavar="DAYS",
        min=0,
        max=MAX_DAYS,
        help="Only those that ended more than this number of days ago.",
    ),
]
AgentId = Annotated[str, typer.Argument(metavar="ID", help="The id, or its first characters.")]


def show_all(
    person: OfPerson = "", tenant: Tenant = "", config: Config = None, as_json: AsJson = False
) -> int:
    """Print the agents of everybody, or of one person, with numbers only."""

    async def job(opened: OpenedAgents) -> list[AgentSummary]:
        if person:
            request = await opened.person(check_person(person))
            return list(await opened.services.overview.agents(request))
        return await opened.agents()

    agents = with_agents(config, job, tenant)
    names = ("id", "person", "type", "since", *COUNTS)
    show_rows(map(_values, agents), names, map(_row, agents), NONE, as_json=as_json)
    return 0


def show_one(
    agent: AgentId, person: OfPerson = "", config: Config = None, as_json: AsJson = False
) -> int:
    """Print an agent and its pools; with --person also the latest memories that it wrote."""

    async def job(opened: OpenedAgents) -> AgentPage:
        request, summary = await _agent_of(opened, agent, person)
        page = await opened.services.overview.page(request, summary)
        return page if person else AgentPage(page.summary, (), page.memberships)

    page = with_agents(config, job)
    show([_values(page.summary)], _lines(page, named=bool(person)), as_json=as_json)
    if person and not as_json:
        show_records(page.written, as_json=False, nothing="It wrote no memories.")
    return 0


def _lines(page: AgentPage, *, named: bool) -> Iterator[str]:
    yield "  ".join(_row(page.summary))
    for name, count in zip(COUNTS, _counts(page.summary), strict=True):
        yield f"{name}: {count}"
    for one in page.memberships:
        name = f" {plain(one.name)}" if named else ""
        yield f"pool {one.pool}{name}: {one.permission.value}, {one.shares} shares"
    if not named:
        yield "--person shows what it wrote."


def register(
    person: Annotated[str, typer.Argument(metavar="PLATFORM:ACCOUNT:ID", help="Its person.")],
    type_: Annotated[
        AgentType, typer.Option("--type", help="The type decides the capabilities.")
    ] = AgentType.CLAUDE_CODE,
    name: Annotated[str, typer.Option(help="A name by which the person knows it.")] = "",
    config: Config = None,
) -> int:
    """Register an agent of a person, and print its id."""

    async def job(opened: OpenedAgents) -> Agent:
        request = await opened.person(check_person(person))
        return await opened.services.registry.register_agent(request, type_, name=name)

    made = with_agents(config, job)
    sys.stdout.write(f"{made.id}\n")
    sys.stderr.write(
        f"`parley token {made.owner} --agent {made.id[:8]}` prints a token for its program.\n"
    )
    return 0


def unregister(agent: AgentId, yes: Yes = 0, config: Config = None) -> int:
    """Unregister an agent after confirmation: it leaves its pools with what it shares there, and
    its pending handoffs end."""

    async def job(opened: OpenedAgents) -> bool | None:
        request, summary = await _agent_of(opened, agent, "")
        person = _person_of(summary)
        if not confirmed([f"Unregister agent {summary.id} of {person}?"], yes):
            return None
        return await opened.services.registry.unregister_agent(request, summary.id)

    gone = with_agents(config, job)
    if gone:
        sys.stdout.write(
            "Unregistered. Its tokens are revoked. `parley agents take-back` deletes what it "
            "wrote. A program with a token of the person can register again: `parley token revoke "
            "NAME` ends that.\n"
        )
    return 0 if gone else 1


def take_back(
    agent: AgentId,
    since: Annotated[
        str, typer.Option(metavar="DAY", help="Only what it gave from this day on, in UTC.")
    ] = "",
    person: OfPerson = "",
    yes: Yes = 0,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Delete everything that an agent wrote, end its shares and reject its open handoffs, after
    confirmation. An agent that is no longer registered needs its whole id and --person."""
    from_then = _day(since)

    async def job(opened: OpenedAgents) -> TakenBack | None:
        request, summary = await _agent_of(opened, agent, person)
        counts = dict(zip(COUNTS, _counts(summary), strict=True))
        named = person or _person_of(summary)
        when = f" since {from_then:%Y-%m-%d}" if since else ""
        question = TAKE_BACK.format(id=summary.id, person=named, since=when, **counts)
        if not confirmed([question], yes):
            return None
        return await opened.services.origins.take_back(request, summary.id, from_then)

    taken = with_agents(config, job)
    if taken is None:
        return 1
    numbers = (taken.memories, taken.reviews, taken.shares, taken.handoffs)
    values = dict(zip(COUNTS, numbers, strict=True))
    counts = ", ".join(f"{count} {name}" for name, count in values.items())
    show([values], [f"Taken back: {counts}."], as_json=as_json)
    return 0


def cleanup(
    older_than: OlderThan = 0, yes: Yes = 0, config: Config = None, as_json: AsJson = False
) -> int:
    """Delete the handoffs of everybody that ended, after confirmation. The program does it by
    itself 7 days after their end; open ones stay."""

    async def job(opened: OpenedAgents) -> Counter[str] | None:
        since = f" that ended more than {older_than} days ago" if older_than else ""
        if not confirmed([QUESTION.format(since=since)], yes):
            return None
        return await opened.services.handoffs.delete_ended(
            str(OPERATOR), timedelta(days=older_than)
        )

    deleted = with_agents(config, job)
    if deleted is None:
        return 1
    numbers = {status: deleted[status] for status in ENDED}
    counts = ", ".join(f"{count:,} {status}" for status, count in numbers.items())
    show([numbers], [f"Deleted: {counts}."], as_json=as_json)
    return 0


async def _agent_of(
    opened: OpenedAgents, agent: str, person: str
) -> tuple[RequestScope, AgentSummary]:
    """The request of the agent's person, and the agent as that person sees it."""
    overview = opened.services.overview
    if person:
        request = await opened.person(check_person(person))
        return request, await overview.named(request, agent)
    try:
        summary = await opened.agent(agent)
    except BadInput as error:
        if len(agent) == 32:
            raise UsageError(NEEDS_PERSON.format(id=agent)) from error
        raise
    request = await opened.person(_person_of(summary))
    return request, await overview.named(request, summary.id)


def _person_of(one: AgentSummary) -> str:
    return one.agent.owner if one.agent is not None else ""


def _counts(one: AgentSummary) -> tuple[int, int, int, int]:
    activity = one.activity
    return activity.memories, activity.waiting, activity.shares, activity.handoffs


def _row(one: AgentSummary) -> tuple[str, ...]:
    counts = tuple(str(count) for count in _counts(one))
    if one.agent is None:
        return one.id, "-", "unregistered", "-", *counts
    agent = one.agent
    return one.id, plain(agent.owner), agent.type.value, str(agent.registered_at.date()), *counts


def _values(one: AgentSummary) -> dict[str, object]:
    agent = one.agent
    return {
        "id": one.id,
        "person": agent.owner if agent else None,
        "type": agent.type.value if agent else None,
        "registered_at": agent.registered_at if agent else None,
        "capabilities": sorted(agent.capabilities) if agent else [],
        **dict(zip(COUNTS, _counts(one), strict=True)),
    }


def _day(text: str) -> datetime:
    if not text:
        return EVER
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(
            f"--since: {text[:40]!r} is not a date. Write it as in 2026-11-23."
        ) from None
