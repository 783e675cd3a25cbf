"""The sentences about handoffs to people. The quoted text of the agent is escaped."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from gateway.text import Moment, Text, counted, joined, label, text, verbatim
from memory.agents.model import Handoff, HandoffStatus
from memory.commands.link_texts import person_by_name, platform_of
from memory.text.display import one_line, paragraphs, quoted

SHORT: Final = 8
"""Characters of an id that a person types."""
MAX_NAMED: Final = 10
"""Files and entries of the state that a message names."""

ACCEPT: Final = label("Accept")
REJECT: Final = label("Reject")
TYPED_ACCEPT: Final = label("accept")
TYPED_REJECT: Final = label("reject")
"""What a person writes instead of pressing a button."""
OFFER: Final = text("**An agent hands you a task.** From {source}.")
NOT_FROM_ME: Final = text(
    "This text comes from an agent, not from me. Check it before you act on it."
)
WARNING: Final = text(
    "This text comes from an agent, not from me. Check it before you act on it. **It contains text "
    "that looks like instructions to an assistant.**"
)
HOW_TO_ANSWER: Final = text(
    "Press a button, or write `/handoff accept {id}` or `/handoff reject {id} REASON`, before "
    "{until}."
)
ACCEPTED: Final = text(
    "You have accepted the task. When it is done, write `/handoff done {id} RESULT`, before "
    "{until}. The agent then reads your result."
)
REJECTED: Final = text("You have rejected the task. The agent can read that.")
REJECTED_WITH_REASON: Final = text(
    "You have rejected the task. The agent can read that and your reason."
)
COMPLETED: Final = text("The task is completed. The agent can read your result.")
EXPIRED: Final = text("The time for this task is over. The agent can see that.")
OVER: Final = {
    HandoffStatus.REJECTED: text("This task is no longer open: it was rejected."),
    HandoffStatus.COMPLETED: text("This task is no longer open: it is completed."),
    HandoffStatus.EXPIRED: text("This task is no longer open: its time is over."),
}
ACCEPTED_BEFORE: Final = text(
    "You have accepted this task already. When it is done, write `/handoff done {id} RESULT`."
)
NOT_ACCEPTED: Final = text(
    "You have not accepted this task yet. Write `/handoff accept {id}` first."
)
UNKNOWN: Final = text("You have no open task with this id. `/handoffs` lists yours.")
NONE: Final = text("You have no open tasks from agents.")
NONE_ACCEPTED: Final = text("You have accepted no task. `/handoffs` lists those that wait for you.")
WHICH: Final = text(
    "You have several tasks. Name the one that you mean: {ids}. `/handoffs` lists them."
)
TOO_LONG: Final = text("The result is longer than {most} characters. Shorten it.")
NO_RESULT: Final = text("The result is missing. Write `/handoff done ID RESULT`.")
USAGE: Final = text(
    "Write `/handoff accept ID`, `/handoff reject ID REASON` or `/handoff done ID RESULT`. "
    "`/handoffs` lists the tasks that agents handed to you."
)
LISTED: Final = text("Tasks that agents handed to you:")
WITHDRAWN: Final = "The assistant can no longer write to this person."
"""The reason that the source agent reads."""


def short_id(handoff: Handoff) -> str:
    """Return the beginning of an id, which a person types."""
    return handoff.id[:SHORT]


# Translators: where a task comes from. {name} is an agent's name, {person} its owner's.
_YOUR_AGENT: Final = text("your agent “{name}”")
_AGENT_OF_YOURS: Final = text("an agent of yours")
_AGENT_OF: Final = text("“{name}”, which acts for {person} on {platform}")
_UNNAMED_AGENT_OF: Final = text("an agent, which acts for {person} on {platform}")
_WAITS: Final = counted(
    "`{id}` (waits for you, {count} min left) {task}",
    "`{id}` (waits for you, {count} min left) {task}",
)
_WAITS_UNTIL: Final = text("`{id}` (waits for you, until {until}) {task}")
_ACCEPTED: Final = counted(
    "`{id}` (accepted, {count} min left) {task}", "`{id}` (accepted, {count} min left) {task}"
)
_ACCEPTED_UNTIL: Final = text("`{id}` (accepted, until {until}) {task}")
_FILES: Final = text("Files: {files}")
_MEMORIES: Final = counted("Memories: {count}, not shown here", "Memories: {count}, not shown here")
_STATE: Final = text("State: {entries}")
_AND_MORE: Final = counted("{named} and {count} more", "{named} and {count} more")
_ENTRY: Final = text("{name}: {value}")
_ENTRIES: Final = counted("{count} entries", "{count} entries")


def offer(handoff: Handoff, source_person: str = "") -> Text:
    """Return the message that offers a task to a person. `source_person` is the name of the person
    for whom the other agent acts."""
    context = handoff.context
    how = HOW_TO_ANSWER.of(id=verbatim(short_id(handoff)), until=Moment(handoff.until))
    return paragraphs(
        OFFER.of(source=source(handoff, source_person)),
        verbatim(quoted(context.task_description)),
        *_details(handoff),
        WARNING if context.findings else NOT_FROM_ME,
        how,
    )


def source(handoff: Handoff, person: str = "") -> Text:
    """Return the source agent in a few words: its name, and the person for whom it acts."""
    name = verbatim(one_line(handoff.source_name))
    if handoff.source_owner == handoff.target_person:
        return _YOUR_AGENT.of(name=name) if name else _AGENT_OF_YOURS
    agent = _AGENT_OF.of(name=name) if name else _UNNAMED_AGENT_OF
    owner = handoff.source_owner
    return agent.of(person=person_by_name(owner, person), platform=platform_of(owner))


def line(handoff: Handoff, now: datetime, source_person: str = "") -> Text:
    """Return a task in one line of a list, with its source. `source_person` is the name of the
    person for whom the other agent acts."""
    pending = handoff.status is HandoffStatus.PENDING
    minutes = max(0, round((handoff.until - now).total_seconds() / 60))
    if minutes < 120:
        shown = (_WAITS if pending else _ACCEPTED).of(count=minutes)
    else:
        shown = (_WAITS_UNTIL if pending else _ACCEPTED_UNTIL).of(until=Moment(handoff.until))
    task = verbatim(one_line(handoff.context.task_description, 120))
    shown = shown.of(id=verbatim(short_id(handoff)), task=task)
    return joined((shown, source(handoff, source_person)), " · ")


def _details(handoff: Handoff) -> list[Text]:
    """Return the files, the number of memories and the state, of which only a part is shown."""
    context = handoff.context
    lines: list[Text] = []
    if context.relevant_files:
        lines.append(_FILES.of(files=_named([_shortened(one) for one in context.relevant_files])))
    if context.relevant_memories:
        lines.append(_MEMORIES.of(count=len(context.relevant_memories)))
    if context.current_state:
        entries = [_entry(name, value) for name, value in context.current_state.items()]
        lines.append(_STATE.of(entries=_named(entries)))
    return lines


def _entry(name: str, value: object) -> Text:
    if isinstance(value, dict):
        return _ENTRY.of(name=_shortened(name), value=_ENTRIES.of(count=len(value)))
    return _shortened(f"{name}: {_brief(value)}")


def _shortened(shown: str) -> Text:
    return verbatim(one_line(shown, 80))


def _named(entries: Sequence[Text]) -> Text:
    shown = joined(entries[:MAX_NAMED], ", ")
    more = len(entries) - MAX_NAMED
    return _AND_MORE.of(named=shown, count=more) if more > 0 else shown


def _brief(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_brief(one) for one in value[:MAX_NAMED])
    return f"{{{len(value)}}}" if isinstance(value, dict) else str(value)
