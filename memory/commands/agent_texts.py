"""The sentences of `/agents`. People name agents, so names are escaped."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from memory.agents.model import Agent, AgentActivity, AgentSummary, Membership
from memory.agents.overview import AgentPage, TakenBack
from memory.commands.invitation_texts import LEAVE_ASKED
from memory.commands.texts import memory_line
from memory.text.display import one_line

SHORT: Final = 8
"""Characters of an id that a person types."""
MAX_SHOWN: Final = 30
"""Agents of a list in one message."""

USAGE: Final = (
    "Write `/agents` for the list, `/agents ID` to see what an agent wrote and shared, "
    "`/agents accept ID` or `/agents decline ID` to answer an invitation, `/agents leave ID POOL`, "
    "`/agents unregister ID`, or `/agents take-back ID`."
)
NONE: Final = (
    "You have no agents. A program that works for you, such as a coding assistant, registers itself"
    " when it connects with your token."
)
NONE_AT_ALL: Final = "Nobody has an agent."
GONE: Final = (
    "This agent is not registered any more. `/agents take-back ID` still takes back what it gave."
)
NO_DAY: Final = (
    "{text!r} is not a date. Write it as in 2026-11-23, or leave it out to take back everything."
)
FOOT: Final = (
    "_`/agents ID` shows what an agent wrote and shared. `/agents unregister ID` ends its access to"
    " pools. `/agents take-back ID` deletes what it gave. The first four characters of an id are "
    "enough._"
)
ALL_FOOT: Final = (
    "_These are numbers only. `/agents take-back` with a whole id ends the shares and handoffs of "
    "an agent, and deletes what it wrote for a project or for everybody._"
)
UNREGISTER_MEANS: Final = (
    "It leaves all pools, with everything that it shares there. Its pending handoffs end. "
    "What it wrote in your memory stays: `/agents take-back` deletes that."
)
UNREGISTERED: Final = (
    "The agent is unregistered. `/agents take-back {id}` deletes what it wrote. A program that has "
    "your token can register again: an operator ends that with `parley token revoke NAME`."
)
TAKE_BACK_MEANS: Final = (
    "This deletes the memories that it wrote, ends its shares in pools, deletes what waits for "
    "review, and rejects its open handoffs. It cannot be undone. Shares of your own words end too; "
    "these words stay in your memory."
)


def listed(agents: Sequence[AgentSummary]) -> str:
    """Return the agents of a person."""
    if not agents:
        return NONE
    return _list("Your agents", agents, FOOT, whole=False)


def all_listed(agents: Sequence[AgentSummary]) -> str:
    """Return the agents of everybody, for operators."""
    if not agents:
        return NONE_AT_ALL
    return _list("The agents of everybody", agents, ALL_FOOT, whole=True)


def page(shown: AgentPage) -> str:
    """Return what an agent wrote and shared."""
    summary = shown.summary
    parts = [f"**{_name(summary.agent)}** `{summary.id}`"]
    if summary.agent is not None:
        may = ", ".join(sorted(one.value for one in summary.agent.capabilities))
        parts.append(f"{_type(summary.agent)}. Capabilities: {may}.")
    if shown.written:
        lines = "\n".join(f"- {memory_line(one)}" for one in shown.written)
        parts.append(f"The latest of {summary.activity.memories} memories:\n\n{lines}")
    else:
        parts.append("It wrote no memories.")
    if shown.memberships:
        pools = "\n".join(
            f"- {one_line(one.name)} `{one.pool[:SHORT]}` ({one.permission.value}, "
            f"{_counted(one.shares, 'share')})"
            for one in shown.memberships
        )
        parts.append(f"Its pools:\n\n{pools}")
        parts.append(f"_`/agents leave {_short(summary)} POOL` takes it out of a pool._")
    parts.append(
        f"_`/forget ID` deletes one memory. `/agents take-back {_short(summary)}` deletes "
        "all of them._"
    )
    return "\n\n".join(parts)


def leave_asked(agent: AgentSummary, pool: Membership) -> str:
    """Return the question before an agent leaves a pool."""
    return LEAVE_ASKED.format(
        agent=_name(agent.agent),
        short=_short(agent),
        pool=one_line(pool.name),
        pool_id=pool.pool[:SHORT],
    )


def unregister_asked(agent: AgentSummary) -> str:
    """Return the question before an agent is unregistered."""
    return f"Unregister {_name(agent.agent)} `{_short(agent)}`?\n\n{UNREGISTER_MEANS}"


def unregistered(agent_id: str) -> str:
    """Return the result."""
    return UNREGISTERED.format(id=agent_id[:SHORT])


def take_back_asked(agent: AgentSummary, since: datetime | None) -> str:
    """Return the question before everything that an agent gave is taken back."""
    when = "" if since is None else f" since {since:%Y-%m-%d}"
    gave = f"In all, it gave: {_activity(agent.activity)}."
    return (
        f"Take back everything that {_name(agent.agent)} `{_short(agent)}` gave{when}?\n\n{gave}"
        f"\n\n{TAKE_BACK_MEANS}"
    )


def taken_back(taken: TakenBack) -> str:
    """Return the result of a take-back."""
    activity = AgentActivity(taken.memories, taken.reviews, taken.shares, taken.handoffs)
    return f"Taken back: {_activity(activity)}. `/agents` lists your agents."


def _list(title: str, agents: Sequence[AgentSummary], foot: str, *, whole: bool) -> str:
    lines = [_line(one, whole=whole) for one in agents[:MAX_SHOWN]]
    more = len(agents) - MAX_SHOWN
    if more > 0:
        lines.append(f"- and {more} more, which `parley agents list` shows")
    return "\n".join((f"**{title}**", "", *lines, "", foot))


def _line(one: AgentSummary, *, whole: bool) -> str:
    details = _activity(one.activity)
    if one.agent is not None:
        details = f"{_type(one.agent)}; {details}"
        if whole:
            details = f"of {one_line(one.agent.owner)}, {details}"
    shown = one.id if whole else _short(one)
    return f"- {_name(one.agent)} `{shown}`: {details}"


def _activity(activity: AgentActivity) -> str:
    return ", ".join(
        (
            _counted(activity.memories, "memory", "memories"),
            f"{activity.waiting} waiting for review",
            _counted(activity.shares, "share"),
            _counted(activity.handoffs, "open handoff"),
        )
    )


def _counted(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"


def _name(agent: Agent | None) -> str:
    if agent is None:
        return "An unregistered agent"
    return f"“{one_line(agent.name)}”" if agent.name else "An agent without a name"


def _type(agent: Agent) -> str:
    return f"{agent.type.value}, since {agent.registered_at:%Y-%m-%d}"


def _short(one: AgentSummary) -> str:
    return one.id[:SHORT]
