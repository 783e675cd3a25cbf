"""The request, the limits and the result of one turn with the model."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gateway.llm.calibration import Calibration
from gateway.ports import ContentBlock, ModelMessage, Usage

OnText: TypeAlias = Callable[[str], Awaitable[None]]
"""Gets the answer piece by piece; all pieces joined are exactly `TurnResult.text`, but for what was
taken back."""

TakeBack: TypeAlias = Callable[[str], bool]
"""Asks to forget what was handed out, but for this beginning. False when people saw more of it."""

OnWait: TypeAlias = Callable[[], None]
"""Told each time that the turn begins to wait for a model that does not answer."""

Outcome: TypeAlias = Literal[
    "answered",  # the model came to its end by itself
    "length",  # the answer stopped at `max_tokens`
    "declined",  # the model refused to answer
    "rounds",  # a cap of `TurnLimits` ended the tool calls; the text says so or answers without
    "repeated",
    "cycle",
    "tokens",
    "time",
    "broken",  # the connection broke after a part of the answer was shown; the part stays
    "too_long",  # the question does not fit the model, however much is left out
    "unavailable",  # no model answered
    "refused",  # the service refuses the request: credentials, a model that does not exist
]


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One question with everything around it.

    `history` is what was said before, oldest first, beginning with a user message. `window` is the
    model's context in tokens, `max_tokens` the length of one answer, the model's own thinking
    included (today's Claude models think by default, so 1,000 is too little for many answers).
    `reference` is a correlation id, which is all that a person gets to see of a failure.
    `system_volatile` is the part of the system prompt that changes between turns.
    """

    system: str
    history: tuple[ModelMessage, ...]
    user: tuple[ContentBlock, ...]
    model: str = ""
    max_tokens: int = 4096
    window: int = 200_000
    reference: str = ""
    calibration: Calibration = field(default_factory=Calibration)
    system_volatile: str = ""


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Where a turn ends, whatever the model wants.

    `rounds` are calls to the model that may use tools; one last call without tools may follow.
    `identical_calls` of a tool with the same arguments are run, the next one ends the tool calls.
    `seconds` bound the whole turn, `tool_seconds` one tool; a model that does not answer is asked
    again for `patience_seconds` from the turn's beginning. `tokens` are input and output of all
    calls together. `tool_result` is in characters.
    """

    rounds: int = 8
    calls_per_round: int = 8
    identical_calls: int = 3
    seconds: float = 120.0
    tool_seconds: float = 30.0
    patience_seconds: float = 90.0
    tokens: int = 400_000
    tool_result: int = 10_000


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call as the trace shows it: no arguments, no results."""

    name: str
    ok: bool
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended.

    `text` is never empty and may be shown as it is. `messages` are the turn's own, from the user's
    on, for the history; they hold only what the model said, no sentence of ours. `failed` is true
    when no model answered at all: the question may be asked again. `model` is the one that wrote
    the last answer. `error` is for the log and never for the room.
    """

    text: str
    outcome: Outcome
    messages: tuple[ModelMessage, ...]
    usage: Usage = field(default_factory=Usage)
    calls: tuple[ToolUse, ...] = ()
    model: str = ""
    model_calls: int = 0
    notes: tuple[str, ...] = ()
    error: str = ""
    calibration: Calibration = field(default_factory=Calibration)

    @property
    def failed(self) -> bool:
        """True when there is no answer, only a sentence that says so."""
        return self.outcome in ("too_long", "unavailable", "refused")
