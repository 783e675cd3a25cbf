"""The sentences of `/agents`. People name agents, so names are escaped."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from gateway.text import Moment, Sentence, Text, counted, joined, text, verbatim
from memory.agents.model import Agent, AgentActivity, AgentSummary, Membership, Permission
from memory.agents.overview import AgentPage, TakenBack
from memory.commands.invitation_texts import LEAVE_ASKED, LEAVE_MEANS
from memory.commands.link_texts import person_by_name
from memory.commands.texts import memory_line
from memory.text.display import bullets, one_line, paragraphs

SHORT: Final = 8
"""Characters of an id that a person types."""
MAX_SHOWN: Final = 30
"""Agents of a list in one message."""

USAGE: Final = text(
    "Write `/agents` for the list, `/agents ID` to see what an agent wrote and shared, "
    "`/agents accept ID` or `/agents decline ID` to answer an invitation, `/agents leave ID POOL`, "
    "`/agents unregister ID`, or `/agents take-back ID`."
)
NONE: Final = text(
    "You have no agents. A program that works for you, such as a coding assistant, registers itself"
    " when it connects with your token."
)
NONE_AT_ALL: Final = text("Nobody has an agent.")
GONE: Final = text(
    "This agent is not registered any more. `/agents take-back ID` still takes back what it gave."
)
NO_DAY: Final = text(
    "'{text}' is not a date. Write it as in 2026-11-23, or leave it out to take back everything."
)
FOOT: Final = text(
    "_`/agents ID` shows what an agent wrote and shared. `/agents unregister ID` ends its access to"
    " pools. `/agents take-back ID` deletes what it gave. The first four characters of an id are "
    "enough._"
)
ALL_FOOT: Final = text(
    "_These are numbers only. `/agents take-back` with a whole id ends the shares and handoffs of "
    "an agent, and deletes what it wrote for a project or for everybody._"
)
UNREGISTER_MEANS: Final = text(
    "It leaves all pools, with everything that it shares there. Its pending handoffs end. "
    "What it wrote in your memory stays: `/agents take-back` deletes that."
)
UNREGISTERED: Final = text(
    "The agent is unregistered. `/agents take-back {id}` deletes what it wrote. A program that has "
    "your token can register again: an operator ends that with `parley token revoke NAME`."
)
TAKE_BACK_MEANS: Final = text(
    "This deletes the memories that it wrote, ends its shares in pools, deletes what waits for "
    "review, and rejects its open handoffs. It cannot be undone. Shares of your own words end too; "
    "these words stay in your memory."
)


YOURS: Final = text("**Your agents**")
OF_ALL: Final = text("**The agents of everybody**")
UNREGISTERED_AGENT: Final = text("An unregistered agent")
UNNAMED: Final = text("An agent without a name")
CAPABILITIES: Final = text("{type}, since {at}. Capabilities: {capabilities}.")
LATEST: Final = counted(
    "The latest of {count} memory:",
    "The latest of {count} memories:",
)
WROTE_NOTHING: Final = text("It wrote no memories.")
POOLS: Final = text("Its pools:")
LEAVES: Final = text("_`/agents leave {id} POOL` takes it out of a pool._")
DELETES: Final = text(
    "_`/forget ID` deletes one memory. `/agents take-back {id}` deletes all of them._"
)
_POOL_READS: Final = counted(
    "{pool} `{id}` (read, {count} share)", "{pool} `{id}` (read, {count} shares)"
)
_POOL_WRITES: Final = counted(
    "{pool} `{id}` (write, {count} share)", "{pool} `{id}` (write, {count} shares)"
)
UNREGISTER_ASKED: Final = text("Unregister {agent} `{id}`?")
TAKE_BACK_ASKED: Final = text("Take back everything that {agent} `{id}` gave?")
TAKE_BACK_SINCE: Final = text("Take back everything that {agent} `{id}` gave since {at}?")
GAVE: Final = text("In all, it gave: {activity}.")
TAKEN_BACK: Final = text("Taken back: {activity}. `/agents` lists your agents.")
# Translators: the line of an agent in a list. {type} is such as "custom".
_LINE: Final = text("{agent} `{id}`: {type}, since {at}; {activity}")
_LINE_OF: Final = text("{agent} `{id}`: of {owner}, {type}, since {at}; {activity}")
_LINE_GONE: Final = text("{agent} `{id}`: {activity}")
_MORE: Final = counted(
    "and {count} more, which `parley agents list` shows",
    "and {count} more, which `parley agents list` shows",
)
_MEMORIES: Final = counted("{count} memory", "{count} memories")
_WAITING: Final = counted("{count} waiting for review", "{count} waiting for review")
_SHARES: Final = counted("{count} share", "{count} shares")
_HANDOFFS: Final = counted("{count} open handoff", "{count} open handoffs")


def listed(agents: Sequence[AgentSummary]) -> Text:
    """Return the agents of a person."""
    if not agents:
        return NONE
    return _list(YOURS, [_line(one) for one in agents[:MAX_SHOWN]], len(agents), FOOT)


def all_listed(agents: Sequence[AgentSummary], names: Mapping[str, str]) -> Text:
    """Return the agents of everybody, for operators. `names` are those of their owners."""
    if not agents:
        return NONE_AT_ALL
    lines = [_line_of(one, names) for one in agents[:MAX_SHOWN]]
    return _list(OF_ALL, lines, len(agents), ALL_FOOT)


def page(shown: AgentPage) -> Text:
    """Return what an agent wrote and shared."""
    summary = shown.summary
    agent, short = summary.agent, _short(summary)
    title = joined(
        (verbatim("**"), _name(agent), verbatim("** `"), verbatim(summary.id), verbatim("`"))
    )
    parts: list[Text] = [title]
    if agent is not None:
        may = ", ".join(sorted(one.value for one in agent.capabilities))
        parts.append(
            CAPABILITIES.of(
                type=verbatim(agent.type.value),
                at=Moment(agent.registered_at, "day"),
                capabilities=verbatim(may),
            )
        )
    if shown.written:
        parts.append(LATEST.of(count=summary.activity.memories))
        parts.append(bullets(map(memory_line, shown.written)))
    else:
        parts.append(WROTE_NOTHING)
    if shown.memberships:
        parts += [POOLS, bullets(map(_pool, shown.memberships)), LEAVES.of(id=short)]
    return paragraphs(*parts, DELETES.of(id=short))


def _pool(one: Membership) -> Text:
    line = _POOL_WRITES if one.permission is Permission.WRITE else _POOL_READS
    pool, id_ = verbatim(one_line(one.name)), verbatim(one.pool[:SHORT])
    return line.of(pool=pool, id=id_, count=one.shares)


def leave_asked(agent: AgentSummary, pool: Membership) -> Text:
    """Return the question before an agent leaves a pool."""
    asked = LEAVE_ASKED.of(
        agent=_name(agent.agent),
        short=_short(agent),
        pool=verbatim(one_line(pool.name)),
        pool_id=verbatim(pool.pool[:SHORT]),
    )
    return paragraphs(asked, LEAVE_MEANS)


def unregister_asked(agent: AgentSummary) -> Text:
    """Return the question before an agent is unregistered."""
    asked = UNREGISTER_ASKED.of(agent=_name(agent.agent), id=_short(agent))
    return paragraphs(asked, UNREGISTER_MEANS)


def unregistered(agent_id: str) -> Text:
    """Return the result."""
    return UNREGISTERED.of(id=verbatim(agent_id[:SHORT]))


def take_back_asked(agent: AgentSummary, since: datetime | None) -> Text:
    """Return the question before everything that an agent gave is taken back."""
    asked = TAKE_BACK_ASKED if since is None else TAKE_BACK_SINCE.of(at=Moment(since, "day"))
    asked = asked.of(agent=_name(agent.agent), id=_short(agent))
    return paragraphs(asked, GAVE.of(activity=_activity(agent.activity)), TAKE_BACK_MEANS)


def taken_back(taken: TakenBack) -> Text:
    """Return the result of a take-back."""
    activity = AgentActivity(taken.memories, taken.reviews, taken.shares, taken.handoffs)
    return TAKEN_BACK.of(activity=_activity(activity))


def _list(title: Sentence, lines: Sequence[Text], all_: int, foot: Sentence) -> Text:
    """Return lines under a title; `all_` is the number of all agents."""
    more = [_MORE.of(count=all_ - len(lines))] if all_ > len(lines) else []
    return paragraphs(title, bullets([*lines, *more]), foot)


def _line(one: AgentSummary) -> Text:
    return _shown(one, _LINE, _short(one))


def _line_of(one: AgentSummary, names: Mapping[str, str]) -> Text:
    """Return the line of an agent with its owner, and the whole id."""
    owner = one.agent.owner if one.agent else ""
    of_owner = _LINE_OF.of(owner=person_by_name(owner, names.get(owner, "")))
    return _shown(one, of_owner, verbatim(one.id))


def _shown(one: AgentSummary, line: Sentence, id_: Text) -> Text:
    agent = one.agent
    if agent is None:
        line = _LINE_GONE
    else:
        line = line.of(type=verbatim(agent.type.value), at=Moment(agent.registered_at, "day"))
    return line.of(agent=_name(agent), id=id_, activity=_activity(one.activity))


def _activity(activity: AgentActivity) -> Text:
    return joined(
        (
            _MEMORIES.of(count=activity.memories),
            _WAITING.of(count=activity.waiting),
            _SHARES.of(count=activity.shares),
            _HANDOFFS.of(count=activity.handoffs),
        ),
        ", ",
    )


def _name(agent: Agent | None) -> Text:
    if agent is None:
        return UNREGISTERED_AGENT
    return verbatim(f"“{one_line(agent.name)}”") if agent.name else UNNAMED


def _short(one: AgentSummary) -> Text:
    return verbatim(one.id[:SHORT])
