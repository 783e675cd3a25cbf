"""The request, the limits and the result of one turn with the model."""

from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct, field

from gateway.llm.calibration import Calibration
from gateway.ports import ContentBlock, ModelMessage, Usage, Wait


class AnswerView(Protocol):
    """The view that people have of an answer while it is written."""

    async def on_text(self, piece: str) -> None:
        """Take a piece of the answer; all pieces joined are exactly `TurnResult.text`, except for
        discarded ones."""

    def take_back(self, kept: str) -> bool:
        """Discard the text so far except for this beginning; False if people saw more of it."""

    def waits(self, wait: Wait) -> None:
        """Note that the turn begins to wait."""


class Unseen:
    """Implements `AnswerView`: people see the answer only when it is complete."""

    async def on_text(self, piece: str) -> None:
        pass

    def take_back(self, kept: str) -> bool:
        return True

    def waits(self, wait: Wait) -> None:
        pass


UNSEEN: Final = Unseen()

Outcome: TypeAlias = Literal[
    "answered",  # the model ended its answer
    "empty",  # the model ended its answer without a word, twice
    "length",  # the answer stopped at `max_tokens`
    "reasoning",  # reasoning used up `max_tokens` before the first word
    "declined",  # the model refused to answer, or to go on
    "filtered",  # the content filter of the service stopped the answer
    "rounds",  # a cap of `TurnLimits` ended the tool calls; the text says so or answers without
    "repeated",
    "cycle",
    "tokens",
    "time",
    "broken",  # the connection broke after a part of the answer was shown; the part stays
    "too_long",  # the question does not fit the model, even with all cuts
    "unavailable",  # no model answered
    "refused",  # the service refuses the request: credentials, a model that does not exist
]


class TurnLimits(Struct, frozen=True):
    """The limits of a turn.

    `rounds` are calls to the model that may use tools; one last call without tools may follow.
    `identical_calls` of a tool with the same arguments run; the next one ends the tool calls.
    `seconds` limit the whole turn, `tool_seconds` one tool; a model that does not answer is called
    again for `retry_seconds` from the turn's beginning. `tokens` are input and output of all
    calls together. `tool_result` is in characters.
    """

    rounds: int = 8
    calls_per_round: int = 8
    identical_calls: int = 3
    seconds: float = 600.0
    tool_seconds: float = 30.0
    retry_seconds: float = 90.0
    tokens: int = 400_000
    tool_result: int = 10_000


class TurnRequest(Struct, frozen=True):
    """The request of one turn.

    `history` has the earlier messages, oldest first, beginning with a user message. `window` is the
    model's context in tokens, `largest_window` that of the largest fallback (0: there is none),
    `max_tokens` the length of one answer, the model's own thinking
    included (today's Claude models think by default, so 1,000 is too little for many answers).
    `reference` is a correlation id, the only part of a failure that a person sees.
    `system_volatile` is the part of the system prompt that changes between turns; `gaps` and
    `web` are those of `ModelRequest`.
    """

    system: str
    history: tuple[ModelMessage, ...]
    user: tuple[ContentBlock, ...]
    model: str = ""
    max_tokens: int = 4096
    window: int = 200_000
    largest_window: int = 0
    reference: str = ""
    calibration: Calibration = field(default_factory=Calibration)
    system_volatile: str = ""
    gaps: tuple[float, ...] = ()
    web: bool = False
    limits: TurnLimits = TurnLimits()


class ToolUse(Struct, frozen=True):
    """A tool call in the trace: no arguments, no results."""

    name: str
    ok: bool
    seconds: float
    note: str = ""


class TurnResult(Struct, frozen=True):
    """The result of a turn.

    `text` is never empty and can be shown unchanged. `messages` are the turn's own for the history,
    from the user's on; they contain only text of the model. `failed` is true if no model answered
    at all: the question may be asked again. `model` wrote the last answer. `error` is for the log
    and never for the room.
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
        """True if there is no answer, only a sentence that says so."""
        return self.outcome in ("too_long", "unavailable", "refused", "empty")
