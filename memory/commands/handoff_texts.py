"""The sentences about handoffs to people. The quoted text of the agent is escaped."""

from datetime import datetime
from typing import Final

from gateway.people import identity_of
from memory.agents.model import Handoff, HandoffStatus
from memory.text.display import one_line, quoted

SHORT: Final = 8
"""Characters of an id that a person types."""
MAX_NAMED: Final = 10
"""Files and entries of the state that a message names."""

ACCEPT: Final = "Accept"
REJECT: Final = "Reject"
OFFER: Final = """\
**An agent hands you a task.** From {source}.

{task}{details}

This text comes from an agent, not from me. Check it before you act on it.{warning}

Press a button, or write `/handoff accept {id}` or `/handoff reject {id} REASON`, before \
{until:%Y-%m-%d %H:%M} UTC."""
WARNING: Final = " **It contains text that looks like instructions to an assistant.**"
ACCEPTED: Final = """\
You have accepted the task. When it is done, write `/handoff done {id} RESULT`, before \
{until:%Y-%m-%d %H:%M} UTC. The agent then reads your result."""
REJECTED: Final = "You have rejected the task. The agent can read that{reason}."
COMPLETED: Final = "The task is completed. The agent can read your result."
EXPIRED: Final = "The time of this task is over, so it has expired. The agent can see that."
OVER: Final = "This task is not open any more: it is {state}."
ACCEPTED_BEFORE: Final = (
    "You have accepted this task already. When it is done, write `/handoff done {id} RESULT`."
)
NOT_ACCEPTED: Final = "You have not accepted this task yet. Write `/handoff accept {id}` first."
UNKNOWN: Final = "You have no open task with this id. `/handoffs` lists yours."
NONE: Final = "You have no open tasks from agents."
NONE_ACCEPTED: Final = "You have accepted no task. `/handoffs` lists those that wait for you."
WHICH: Final = "You have several tasks. Name the one that you mean: {ids}. `/handoffs` lists them."
NO_RESULT: Final = "The result is missing. Write `/handoff done ID RESULT`."
USAGE: Final = (
    "Write `/handoff accept ID`, `/handoff reject ID REASON` or `/handoff done ID RESULT`. "
    "`/handoffs` lists the tasks that agents handed to you."
)
LISTED: Final = "Tasks that agents handed to you:"
WITHDRAWN: Final = "The assistant can no longer write to this person."
"""The reason that the source agent reads."""


def short_id(handoff: Handoff) -> str:
    """Return the beginning of an id, which a person types."""
    return handoff.id[:SHORT]


def offer(handoff: Handoff) -> str:
    """Return the message that offers a task to a person."""
    context = handoff.context
    return OFFER.format(
        source=source(handoff),
        task=quoted(context.task_description),
        details=_details(handoff),
        warning=WARNING if context.findings else "",
        id=short_id(handoff),
        until=handoff.until,
    )


def source(handoff: Handoff) -> str:
    """Return the source agent in a few words: its name, and the person for whom it acts."""
    name = f"“{one_line(handoff.source_name)}”" if handoff.source_name else "an agent"
    if handoff.source_owner == handoff.target_person:
        return f"your agent {name}" if handoff.source_name else "an agent of yours"
    identity = identity_of(handoff.source_owner)
    return f"{name}, which acts for {one_line(identity.id, 60)} on {one_line(identity.platform)}"


def line(handoff: Handoff, now: datetime) -> str:
    """Return a task in one line of a list."""
    state = "waits for you" if handoff.status is HandoffStatus.PENDING else "accepted"
    minutes = max(0, round((handoff.until - now).total_seconds() / 60))
    left = f"{minutes} min left" if minutes < 120 else f"until {handoff.until:%Y-%m-%d %H:%M} UTC"
    task = one_line(handoff.context.task_description, 120)
    return f"- `{short_id(handoff)}` ({state}, {left}) {task}"


def _details(handoff: Handoff) -> str:
    """Return the files, the number of memories and the state, of which only a part is shown."""
    context, lines = handoff.context, []
    if context.relevant_files:
        lines.append(f"Files: {_named(context.relevant_files)}")
    if context.relevant_memories:
        lines.append(f"Memories: {len(context.relevant_memories)}, not shown here")
    if context.current_state:
        entries = [f"{name}: {_brief(value)}" for name, value in context.current_state.items()]
        lines.append(f"State: {_named(entries)}")
    return "".join(f"\n\n{text}" for text in lines)


def _named(texts: "tuple[str, ...] | list[str]") -> str:
    shown = ", ".join(one_line(text, 80) for text in texts[:MAX_NAMED])
    more = len(texts) - MAX_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _brief(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_brief(one) for one in value[:MAX_NAMED])
    return f"{len(value)} entries" if isinstance(value, dict) else str(value)
