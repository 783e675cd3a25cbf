"""One turn with the model: its request, limits and result, and the sentence at the end of a turn
that the model did not end itself: what happened, and what the person can do."""

from collections.abc import Mapping
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct, field

from gateway.llm.calibration import Calibration
from gateway.message import OutboundFile
from gateway.ports import ContentBlock, ModelMessage, Usage, Wait
from gateway.text import NO_TEXT, Text, text, verbatim


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
    """Tool calls of one answer that run."""
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
    """The ratio of counted to estimated tokens, learned before."""
    system_volatile: str = ""
    gaps: tuple[float, ...] = ()
    web: bool = False
    limits: TurnLimits = TurnLimits()
    """The limits of the turn."""
    file_types: frozenset[str] = frozenset()
    """The media types that the platform of the answer takes; none: all of them."""


class ToolUse(Struct, frozen=True):
    """A tool call in the trace: no arguments, no results."""

    name: str
    """The name of the tool."""
    ok: bool
    """True if the call succeeded."""
    seconds: float
    """The duration of the call."""
    note: str = ""
    """The reason of a failure, in a few words; empty for none."""


class TurnResult(Struct, frozen=True):
    """The result of a turn.

    `text` is never empty and can be shown unchanged. `messages` are the turn's own for the history,
    from the user's on; they contain only text of the model. `failed` is true if no model answered
    at all: the question may be asked again. `model` wrote the last answer. `error` is for the log
    and never for the room.
    """

    text: str
    outcome: Outcome
    """The way in which the turn ended."""
    messages: tuple[ModelMessage, ...]
    usage: Usage = field(default_factory=Usage)
    """The tokens of all calls."""
    calls: tuple[ToolUse, ...] = ()
    """The tool calls, in order."""
    model: str = ""
    model_calls: int = 0
    """The number of calls to the model."""
    notes: tuple[str, ...] = ()
    """Incidents for the trace, in words."""
    error: str = ""
    calibration: Calibration = field(default_factory=Calibration)
    """The ratio of tokens after this turn."""
    closing: Text = NO_TEXT
    """The sentence with which `text` ends, in the language of its readers; empty for none."""
    files: tuple[OutboundFile, ...] = ()
    """The files of tools, for the person, in order."""

    @property
    def failed(self) -> bool:
        """True if there is no answer, only a sentence that says so."""
        return self.outcome in ("too_long", "unavailable", "refused", "empty")


UNAVAILABLE: Final = text(
    "I can't reach my language model right now. Please try again in a few minutes."
)
REFUSED: Final = text(
    "My language model does not accept this request. Please tell the operator, who can find the "
    "reason in the log."
)
TOO_LONG: Final = text("That is too long for me to read at once. Please send a shorter message.")
BROKEN: Final = text("_(The answer was interrupted here. Ask again if you need the rest.)_")
LENGTH: Final = text("_(The answer was cut at its length limit. Ask me to go on.)_")
REASONING: Final = text(
    "My language model used up the length limit of an answer before it wrote one. Please ask for "
    "something smaller, or ask the operator to raise the limit (`model.max_tokens`)."
)
DECLINED: Final = text("I can't help with that. You can ask in other words, or for something else.")
DECLINED_PART: Final = text(
    "_(I stopped here, because I can't help with the rest. You can ask in other words.)_"
)
FILTERED: Final = text(
    "A content filter stopped the answer before its first word. Please ask in other words."
)
FILTERED_PART: Final = text(
    "_(A content filter stopped the answer here. Ask in other words if you need the rest.)_"
)
NO_ANSWER: Final = text("I have no answer to that. Please ask in other words.")
"""In place of an answer of which nothing can be shown."""
EMPTY: Final = text("My language model gave an empty answer twice. Please ask in other words.")
TIME: Final = text("This took too long, so I stopped. Please ask for something smaller.")
TIME_PART: Final = text("_(I ran out of time here. Ask again if you need the rest.)_")
ROUNDS: Final = text(
    "I stopped here, because this needed more steps than I may take. Please ask for a smaller part."
)
ROUNDS_PART: Final = text(
    "_(This needed more steps than I may take, so something may be missing. Ask me to go on.)_"
)
REPEATED: Final = text(
    "I stopped here, because I took the same steps again without a result. Please ask in other "
    "words, or for a smaller part."
)
REPEATED_PART: Final = text(
    "_(I took the same steps again without a result, so something may be missing. Ask in other "
    "words if it is.)_"
)
TOKENS: Final = text(
    "I stopped here, because this was more text than I may read and write for one question. Please "
    "ask for a smaller part."
)
TOKENS_PART: Final = text(
    "_(This was more text than I may read and write for one question, so something may be missing. "
    "Ask for a smaller part.)_"
)


class Sentences(Struct, frozen=True):
    """The sentences of one way to end: without text before it, and after some."""

    alone: Text
    """The sentence without text before it."""
    after_text: Text
    """The sentence after some text."""


SENTENCES: Final[Mapping[Outcome, Sentences]] = {
    "answered": Sentences(EMPTY, NO_TEXT),
    "empty": Sentences(EMPTY, NO_TEXT),
    "unavailable": Sentences(UNAVAILABLE, BROKEN),
    "refused": Sentences(REFUSED, BROKEN),
    "too_long": Sentences(TOO_LONG, BROKEN),
    "broken": Sentences(UNAVAILABLE, BROKEN),
    "declined": Sentences(DECLINED, DECLINED_PART),
    "filtered": Sentences(FILTERED, FILTERED_PART),
    "length": Sentences(REASONING, LENGTH),
    "reasoning": Sentences(REASONING, REASONING),
    "time": Sentences(TIME, TIME_PART),
    "rounds": Sentences(ROUNDS, ROUNDS_PART),
    "repeated": Sentences(REPEATED, REPEATED_PART),
    "cycle": Sentences(REPEATED, REPEATED_PART),
    "tokens": Sentences(TOKENS, TOKENS_PART),
}
_WITH_REFERENCE: Final = frozenset({"unavailable", "refused", "broken", "reasoning", "empty"})
WITH_REFERENCE: Final = text("{sentence} (Reference for the operator: {reference})")


def closing(outcome: Outcome, has_text: bool, reference: str = "") -> Text:
    """Return the sentence at the end of a turn, an empty text if the model's own words are
    enough."""
    sentences = SENTENCES[outcome]
    if has_text:
        return sentences.after_text
    if sentences.alone and reference and outcome in _WITH_REFERENCE:
        return WITH_REFERENCE.of(sentence=sentences.alone, reference=verbatim(reference))
    return sentences.alone
