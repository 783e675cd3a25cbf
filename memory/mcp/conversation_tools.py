"""The tools of a conversation: the task of an agent, the person's recent activity, and their open
tasks."""

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from gateway.errors import ToolError
from gateway.ports.action import Output
from gateway.ports.rights import AGENT_READS, AGENT_WRITES, TokenScope, by_agent_too
from memory.agents.model import Capability
from memory.mcp.memory_tools import remembering
from memory.mcp.names import SESSION
from memory.mcp.tool_definition import AnyTool, AsAgent, McpCall, ToolDefinition
from memory.model.record import Record
from memory.ports.memories import Filter
from memory.ports.people import MAX_TASK_TEXT
from memory.turns.arguments import Arguments
from safety.injection_detection.detect import detect_injection
from safety.secret_detection.detect import redact_secrets
from safety.unicode import safe_unicode

MAX_LINE: Final = 500
MAX_LINES: Final = 10
MAX_ACTIVITY: Final = 50
MAX_GOALS: Final = 50
MAX_EXCERPT: Final = 500

_Line = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LINE)]
_Lines = Annotated[list[_Line], Field(max_length=MAX_LINES)]


class NoArguments(Arguments):
    """No arguments."""


class TaskArguments(AsAgent):
    """The arguments of `get_task_context`."""


class TaskDetails(Arguments):
    """The state of a task, in the form that the skill `session-save` gives."""

    completed: _Lines = Field(default_factory=list)
    in_progress: Annotated[str, StringConstraints(max_length=MAX_LINE)] | _Lines = ""
    blockers: _Lines = Field(default_factory=list)
    files_modified: _Lines = Field(default_factory=list)


class SetTaskArguments(AsAgent):
    """The arguments of `set_task_context`."""

    task: Annotated[
        str,
        StringConstraints(max_length=MAX_LINE),
        Field(description="The task in one sentence; empty ends it."),
    ]
    completed: Annotated[_Lines, Field(description="Finished parts.")] = Field(default_factory=list)
    in_progress: Annotated[_Lines, Field(description="Parts in work.")] = Field(
        default_factory=list
    )
    blockers: Annotated[_Lines, Field(description="Obstacles.")] = Field(default_factory=list)
    files_modified: Annotated[_Lines, Field(description="Paths of changed files.")] = Field(
        default_factory=list
    )
    details: Annotated[
        TaskDetails, Field(description="The four lists as one object; both forms are added.")
    ] = Field(default_factory=TaskDetails)


class ActivityArguments(Arguments):
    """The arguments of `get_recent_activity`."""

    limit: Annotated[int, Field(ge=1, le=MAX_ACTIVITY, description="The most entries.")] = 10


class TaskResult(Output):
    """The task, with its details as lines of text; empty for none."""

    task: str
    details: list[str]


class ActivityEntry(Output):
    """A message, an answer, a task or a memory."""

    at: str
    kind: str
    text: str
    id: str | None = None


class ActivityResult(Output):
    """The latest entries first."""

    entries: list[ActivityEntry]


class GoalsResult(Output):
    """The tasks that are set in the person's conversations, what waits for their decision, and the
    project's status."""

    tasks: list[ActivityEntry]
    waiting_reviews: int
    status: str


async def set_task(call: McpCall, given: SetTaskArguments) -> TaskResult:
    """Set the task of the agent, or of all agents of the person. Raises `ToolError` for a text
    that is not allowed."""
    text = _task_text(given)
    if detect_injection(text):
        raise ToolError(
            "The task was not set: it reads like instructions to a model. Describe the work."
        )
    if len(text) > MAX_TASK_TEXT:
        raise ToolError(
            f"The task was not set: with its details it has {len(text):,} characters, and "
            f"{MAX_TASK_TEXT:,} are the most. Shorten it."
        )
    tenant, agent = call.caller.principal.tenant, call.handle.request.agent
    await call.services.tasks.set_task(tenant, call.person, agent, text, call.caller.at)
    return _task_result(text)


async def get_task(call: McpCall, _given: TaskArguments) -> TaskResult:
    """Return the task of the agent, or of all agents of the person."""
    tenant, agent = call.caller.principal.tenant, call.handle.request.agent
    text = await call.services.tasks.task(tenant, call.person, agent)
    return _task_result(redact_secrets(text).text)


async def recent_activity(call: McpCall, given: ActivityArguments) -> ActivityResult:
    """Return the latest messages, answers and memories of the person."""
    read = remembering(call).handle.read
    spoken = [record for record in await read.working() if record.role]
    filters = Filter(own_only=True, turns=False, limit=given.limit)
    learned = [match.record for match in await read.search(filters)]
    ordered = sorted((*spoken, *learned), key=lambda one: one.provenance.at, reverse=True)
    return ActivityResult(entries=[_entry(record) for record in ordered[: given.limit]])


async def goals(call: McpCall, _given: NoArguments) -> GoalsResult:
    """Return the open tasks of the person, and the status of their project."""
    handle = remembering(call).handle
    tasks = [record for record in await handle.read.working() if "task" in record.tags]
    parts = await handle.brain_parts()
    return GoalsResult(
        tasks=[_entry(record) for record in tasks[:MAX_GOALS]],
        waiting_reviews=len(await handle.review.waiting(MAX_GOALS)),
        status=redact_secrets(parts.heartbeat).text,
    )


def _task_text(given: SetTaskArguments) -> str:
    """Return a task as it is stored: one line for the task and for each list."""
    if not given.task.strip():
        return ""
    more = given.details
    going_on = [more.in_progress] if isinstance(more.in_progress, str) else more.in_progress
    lists = {
        "completed": [*given.completed, *more.completed],
        "in_progress": [*given.in_progress, *filter(None, going_on)],
        "blockers": [*given.blockers, *more.blockers],
        "files_modified": [*given.files_modified, *more.files_modified],
    }
    lines = [given.task, *(f"{name}: {'; '.join(each)}" for name, each in lists.items() if each)]
    flat = "\n".join(" ".join(safe_unicode(line).split()) for line in lines)
    return redact_secrets(flat).text


def _task_result(text: str) -> TaskResult:
    task, *details = text.splitlines() or [""]
    return TaskResult(task=task, details=details)


def _entry(record: Record) -> ActivityEntry:
    kind = record.role or ("task" if "task" in record.tags else record.kind.value)
    return ActivityEntry(
        at=record.provenance.at.isoformat(timespec="seconds"),
        kind=kind,
        text=record.content[:MAX_EXCERPT],
        id=None if record.role or kind == "task" else record.id,
    )


CONVERSATION_TOOLS: Final[tuple[AnyTool, ...]] = (
    ToolDefinition(
        "get_task_context",
        "Task",
        "Return the task as the last session left it: yours with your agent_id, or without it "
        "the one that all agents of this person share.",
        SESSION,
        AGENT_READS,
        get_task,
        agent="agent_id",
        idempotent=True,
    ),
    ToolDefinition(
        "set_task_context",
        "Set the task",
        "Replace the task and its state, for the next session.",
        SESSION,
        AGENT_WRITES,
        set_task,
        agent="agent_id",
        idempotent=True,
    ),
    ToolDefinition(
        "get_recent_activity",
        "Recent activity",
        "Return the person's latest messages to the assistant, its answers, and new memories.",
        SESSION,
        by_agent_too(TokenScope.READ, Capability.MEMORY_READ),
        recent_activity,
        idempotent=True,
    ),
    ToolDefinition(
        "get_goals",
        "Goals",
        "Return the tasks that are set in the person's conversations, the number of entries "
        "that wait for their review, and the status of their project.",
        SESSION,
        by_agent_too(TokenScope.READ, Capability.MEMORY_READ),
        goals,
        idempotent=True,
    ),
)
"""The tools, in the order in which they are listed."""
