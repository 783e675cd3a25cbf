"""The handling of one message, read from its trace: decisions, model calls, tools, recall and the
blocks of the prompt. Metadata only, no text of the message."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.policy.decision import Decision
from gateway.ports.action import Output
from gateway.ports.prompt_blocks import Why
from gateway.ports.traces import CallFigures, Duration, Trace
from gateway.text import ENGLISH, Language, Text, text
from gateway.turn.context.token_budgets import BlockFigures, BudgetFigures, figures_in
from parley.console.said import Said, SaidOrStr
from parley.console.words import said
from parley.maintenance.message_log import step_after

MAX_STEPS: Final = 120
MAX_RECALLED: Final = 20
MAX_BLOCKS: Final = 10
MAX_LOST: Final = 50
_MILLI: Final = 1_000

STAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "identify": ("identity",),
    "guard_loops": ("loop_guard",),
    "check_access": ("access",),
    "check_limits": ("limits",),
    "check_command_limits": ("limits",),
    "check_readable": ("readable",),
    "reserve_budget": ("budget",),
    "open_memory": ("memory",),
    "hear": ("voice", "speech"),
    "read_history": ("context",),
    "read_thread": ("thread",),
    "read_attachments": ("attachments",),
    "recall": ("recall",),
    "search_documents": ("documents",),
    "assemble": ("context",),
    "generate": ("model",),
    "filter_answer": ("response_filter",),
    "remember": ("memory",),
    "settle_task": ("task",),
    "keep_appointments": ("appointments",),
    "speak": ("speech",),
    "render_answer": ("render",),
}
"""The stages of a decision by the name of the function whose duration is stored."""
TITLES: Final[Mapping[str, Text]] = {
    "invocation": text("Addressed to the assistant"),
    "identity": text("Role of the person"),
    "loop_guard": text("Check for bot loops"),
    "access": text("Access"),
    "pairing": text("Approval"),
    "limits": text("Rate limits"),
    "readable": text("Content that can be read"),
    "budget": text("Budget"),
    "memory": text("Memory"),
    "context": text("Prompt"),
    "thread": text("Running thread"),
    "attachments": text("Files"),
    "recall": text("Recall"),
    "documents": text("Documents"),
    "tool": text("Tool"),
    "model": text("Model"),
    "response_filter": text("Check of the answer"),
    "task": text("Task of the conversation"),
    "appointments": text("Appointments"),
    "render": text("Formatting"),
    "save": text("Stored"),
    "queue": text("Queue"),
    "crash_guard": text("Repeated crashes"),
    "confirmation": text("Confirmation"),
    "age": text("Age of the message"),
    "voice": text("Voice messages"),
    "speech": text("Speech"),
    "proactive": text("Messages without being asked"),
    "repetition": text("Repeated answer"),
    "project": text("Project"),
    "project_notes": text("Project notes"),
}
"""The name of a stage for people."""
BLOCKS: Final[Mapping[str, Text]] = {
    "system": text("Rules, preferences and brief"),
    "project": text("Project notes and status"),
    "task": text("Task"),
    "history": text("Conversation so far"),
    "knowledge": text("Memories and knowledge"),
}
PARTS: Final[Mapping[str, Text]] = {
    "soul": text("Preferences"),
    "brief": text("Brief"),
    "skills": text("Skills"),
    "bible": text("Project notes"),
    "heartbeat": text("Status"),
    "shared": text("Shared memories"),
    "task": text("Task"),
    "turns": text("Earlier messages"),
    "latest_turns": text("Latest messages"),
    "summary": text("Summary"),
}
"""The name of a part of a block for people; a memory has none."""
MEMORY: Final = text("A memory")
LOST: Final[Mapping[Why, Text]] = {
    "left_out": text("left out, because it did not fit"),
    "cut": text("cut at the end of a sentence"),
    "summarised": text("replaced by the summary"),
}
SEARCHES: Final[Mapping[str, Text]] = {
    "bm25": text("words"),
    "vector": text("meaning"),
    "reranker": text("second look"),
}
"""The name of a search of memory for people."""


class TimelineStepOut(Output):
    """A decision: `after` is when it was made and `took` how long its stage took, both in
    milliseconds from the begin of the handling; None for a decision within a stage. `next_step` is
    empty unless an operator can do something about a refusal."""

    stage: str
    title: SaidOrStr
    """The name of the stage, for people."""
    allowed: bool
    """False for a refusal."""
    reason: str
    """The code of the reason."""
    detail: str
    """The details of the decision, without content; empty for none."""
    after: float | None = None
    took: float | None = None
    next_step: str = ""


class CallOut(Output):
    """A call of a model: its begin and duration in milliseconds; `ended` is "ok", "stopped" or the
    kind of the error. A call without an answer has no tokens and no cost."""

    model: str
    after: float
    """Milliseconds from the begin of the handling."""
    took: float
    """Milliseconds of the call."""
    ended: str
    input_tokens: int = 0
    """Tokens of the prompt, without those of the cache."""
    output_tokens: int = 0
    """Tokens of the answer."""
    cache_read_tokens: int = 0
    """Tokens that were read from the provider's cache."""
    cache_write_tokens: int = 0
    """Tokens that were written to the provider's cache."""
    micros: int = 0
    """The cost in millionths of a dollar."""


class UsedToolOut(Output):
    """A call of a tool; `seconds` is None for one of which the time is not stored."""

    name: str
    """The name of the tool."""
    ok: bool
    """False for a call that failed."""
    note: str
    """The detail of the decision; empty for none."""
    seconds: float | None


class RankOut(Output):
    """The rank of a memory in one search, from 1."""

    search: str
    title: SaidOrStr
    """The name of the search, for people."""
    rank: int


class RecalledOut(Output):
    """A recalled memory, without its text; `id` is the beginning of its id."""

    id: str
    kind: str
    """The kind of the memory."""
    scope: str
    """The scope of the memory."""
    score: float
    """The score by which recall ordered the memory."""
    ranks: tuple[RankOut, ...] = Field(max_length=10)
    """The rank in each search that found it."""


class LossOut(Output):
    """A part that a block has not: its name and its size."""

    what: Said
    """The name of the part."""
    why: Said
    """The reason in words."""
    tokens: int
    """The size in tokens."""


class BlockOut(Output):
    """A block of the prompt, in tokens. `needed` is its size without cuts. `more` losses are not
    named."""

    kind: str
    """The code of the block."""
    title: Said
    """The name of the block, for people."""
    tokens: int
    budget: int
    """The tokens that the block may take."""
    needed: int
    lost: tuple[LossOut, ...] = Field(max_length=MAX_LOST)
    """The parts that are not in the prompt."""
    more: int


class TimelineOut(Output):
    """The handling of a message. Milliseconds; `waited` is the time in the queue before it, None
    where it is not stored. `window` and `reserved` are tokens of the model's window, 0 without a
    prompt."""

    waited: float | None
    milliseconds: float
    """The duration of the handling."""
    steps: tuple[TimelineStepOut, ...] = Field(max_length=MAX_STEPS)
    """The decisions, in their order."""
    calls: tuple[CallOut, ...] = Field(max_length=MAX_STEPS)
    """The calls of models, in their order."""
    tools: tuple[UsedToolOut, ...] = Field(max_length=MAX_STEPS)
    """The calls of tools, in their order."""
    recalled: tuple[RecalledOut, ...] = Field(max_length=MAX_RECALLED)
    """The memories that the prompt received."""
    blocks: tuple[BlockOut, ...] = Field(max_length=MAX_BLOCKS)
    """The blocks of the prompt."""
    window: int = 0
    reserved: int = 0


def stage(name: str, *, language: Language = ENGLISH) -> str:
    """Return the name of a stage for people."""
    return language.shown(TITLES.get(name) or said(name))


def timeline_of(trace: Trace) -> TimelineOut:
    """Return the handling of a message. What the trace does not hold is empty."""
    prompt = _prompt(trace.decisions)
    return TimelineOut(
        waited=next((one[3] / _MILLI for one in trace.durations if one[0] == "queue"), None),
        milliseconds=trace.milliseconds,
        steps=tuple(_steps(trace))[:MAX_STEPS],
        calls=tuple(_calls(trace.durations))[:MAX_STEPS],
        tools=tuple(_tools(trace.decisions))[:MAX_STEPS],
        recalled=tuple(_recalled(trace.decisions))[:MAX_RECALLED],
        blocks=() if prompt is None else tuple(map(_block, prompt.blocks[:MAX_BLOCKS])),
        window=0 if prompt is None else prompt.window,
        reserved=0 if prompt is None else prompt.reserved,
    )


def _steps(trace: Trace) -> Iterator[TimelineStepOut]:
    """Yield each decision. Stages end in the order of their decisions: the durations are matched
    with them one after the other."""
    stages = [one for one in trace.durations if one[0] == "stage"]
    for decision in trace.decisions:
        if decision.stage == "tool":
            continue
        place = next((n for n, one in enumerate(stages) if _belongs(one, decision)), None)
        if place is None:
            yield _step(decision)
            continue
        _, _, after, took, *_ = stages[place]
        del stages[: place + 1]
        yield _step(decision, (after + took) / _MILLI, took / _MILLI)


def _belongs(stage: Duration, decision: Decision) -> bool:
    name, ended = stage[1], stage[4]
    return ended == decision.reason and decision.stage in (name, *STAGES.get(name, ()))


def _step(
    decision: Decision, after: float | None = None, took: float | None = None
) -> TimelineStepOut:
    return TimelineStepOut(
        stage=decision.stage,
        title=TITLES.get(decision.stage, decision.stage.replace("_", " ").capitalize()),
        allowed=decision.allowed,
        reason=decision.reason,
        detail=decision.detail,
        after=after,
        took=took,
        next_step=step_after(decision),
    )


def _calls(durations: Sequence[Duration]) -> Iterator[CallOut]:
    for kind, model, after, took, ended, *figures in durations:
        if kind != "model":
            continue
        call = CallOut(model=model, after=after / _MILLI, took=took / _MILLI, ended=ended)
        if figures and len(figures[0]) == len(CallFigures._fields):
            yield call.model_copy(update=CallFigures(*figures[0])._asdict())
        else:
            yield call


def _tools(decisions: Sequence[Decision]) -> Iterator[UsedToolOut]:
    for one in decisions:
        if one.stage == "tool":
            seconds = (one.data or {}).get("seconds")
            known = float(seconds) if isinstance(seconds, int | float) else None
            yield UsedToolOut(name=one.reason, ok=one.allowed, note=one.detail, seconds=known)


class _Stored(BaseModel):
    """The form in which recall notes what it found."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    items: tuple[tuple[str, str, str, float, dict[str, int]], ...]


def _recalled(decisions: Sequence[Decision]) -> Iterator[RecalledOut]:
    data = next((one.data for one in decisions if one.stage == "recall" and one.data), None)
    try:
        items = () if data is None else _Stored.model_validate(data).items
    except ValidationError:  # of another version of the program
        return
    for id_, kind, scope, score, ranks in items:
        found = (
            RankOut(search=search, title=SEARCHES.get(search, search), rank=at)
            for search, at in ranks.items()
        )
        named = tuple(found)[:10]
        yield RecalledOut(id=id_, kind=kind, scope=scope, score=score, ranks=named)


def _prompt(decisions: Sequence[Decision]) -> BudgetFigures | None:
    kept = (figures_in(one.data) for one in decisions if one.reason == "blocks")
    return next((figures for figures in kept if figures is not None), None)


def _block(block: BlockFigures) -> BlockOut:
    lost = tuple(
        LossOut(what=PARTS.get(one.what, MEMORY), why=LOST[one.why], tokens=one.tokens)
        for one in block.losses[:MAX_LOST]
    )
    return BlockOut(
        kind=block.kind,
        title=BLOCKS[block.kind],
        tokens=block.tokens,
        budget=block.budget,
        needed=block.needed,
        lost=lost,
        more=block.more + max(0, len(block.losses) - MAX_LOST),
    )
