"""One turn with the model: calls the model and runs its tools, until it answers or a limit is
reached."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, cast

from gateway.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable, ToolError
from gateway.immutable import replace
from gateway.llm.calibration import Calibration
from gateway.llm.known_windows import is_cut, prompt_tokens
from gateway.llm.tokens import estimate_tools, learned
from gateway.ports import (
    Clock,
    LLMProvider,
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolProvider,
    ToolSpec,
    Usage,
    Working,
)
from gateway.ports.model import LONG_REQUEST
from gateway.text import ENGLISH, Language
from gateway.turn.model_attempts import RETRIES, Fitted, Pause, Retrying, fit, smaller_room
from gateway.turn.model_turn import (
    UNSEEN,
    AnswerView,
    Outcome,
    ToolUse,
    TurnRequest,
    TurnResult,
    closing,
)
from gateway.turn.tool_files import ShownFiles
from gateway.turn.tools import CallRunner

MAX_TAKEN_BACK: Final = 4
"""Maximum repetitions of interrupted answers in one turn; each one costs."""
MAX_ERROR: Final = 500
LEAST_ANSWER: Final = 256
"""Tokens to which the length of an answer is reduced at most in a small window."""
UNKNOWN: Final = frozenset({400, 422})
"""Statuses of a refusal that may mean anything."""
_OF_LAST_CALL: Final = frozenset({"rounds", "repeated", "cycle", "tokens", "reasoning"})
"""Outcomes whose sentence depends on the text of the last call alone."""


@dataclass(slots=True)
class ToolLoop:
    """One turn with the model: `run` answers `request` and is called once.

    If the model does not answer, it is called again for `request.limits.retry_seconds`; `pause`
    waits between two attempts, by default with the clock. `view` receives the answer while it is
    written; an interrupted call is repeated if it allows that. `language` is that of its readers.
    `_own` are the turn's messages so far, the person's first.
    """

    request: TurnRequest
    provider: LLMProvider
    tools: ToolProvider
    clock: Clock
    view: AnswerView = UNSEEN
    pause: Pause | None = None
    language: Language = ENGLISH
    _times_taken_back: int = 0
    _retrying: Retrying = field(init=False)
    _offered: dict[str, ToolSpec] = field(default_factory=dict)
    _own: list[ModelMessage] = field(init=False)
    _system: str = field(init=False)
    _history: tuple[ModelMessage, ...] = field(init=False)
    _answer: int = field(init=False)
    _room: int = field(init=False)
    _room_elsewhere: int = field(init=False)
    _calibration: Calibration = field(init=False)
    _pieces: list[str] = field(default_factory=list)
    _call_pieces: list[str] = field(default_factory=list)
    _usage: Usage = field(default_factory=Usage)
    _uses: list[ToolUse] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _model: str = ""
    _model_calls: int = 0
    _asked_again: bool = False
    _error: str = ""
    _shown: ShownFiles = field(init=False)

    def __post_init__(self) -> None:
        request, limits = self.request, self.request.limits
        chance = random.random  # no secret depends on it
        retry_seconds = min(limits.seconds, limits.retry_seconds)
        self._retrying = Retrying(self.clock, retry_seconds, chance, self.pause or self.clock.sleep)
        self._own = [ModelMessage("user", request.user)]
        self._system = f"{request.system}\n\n{request.system_volatile}".strip()
        self._history = request.history
        self._answer = request.max_tokens
        self._room = request.window - request.max_tokens
        self._room_elsewhere = request.largest_window - request.max_tokens
        self._calibration = request.calibration
        self._shown = ShownFiles(request.file_types)

    async def run(self) -> TurnResult:
        """Answer the request. Never raises for failures of a model or a tool; only cancellation and
        errors of `view.on_text` are raised."""
        try:
            async with asyncio.timeout(self.request.limits.seconds) as bound:
                outcome = await self._run()
        except TimeoutError:
            if not bound.expired():
                raise
            outcome = self._out_of_time()
        return await self._finish(outcome)

    async def _run(self) -> Outcome:
        """Run rounds with tools, and after a limit one call without tools."""
        await self._find_tools()
        runner = CallRunner(self.tools, self._offered, self.request.limits, self.clock, self._shown)
        capped: Outcome | None = None
        for number in range(self.request.limits.rounds + 1):
            if capped is None and number == self.request.limits.rounds:
                capped = "rounds"
            answer = await self._ask(may_call=capped is None)
            if not isinstance(answer, ModelFinished):
                return capped if answer == "tokens" and capped is not None else answer
            calls = [block for block in answer.message.content if isinstance(block, ToolCall)]
            if capped is not None:
                return capped
            if not calls:
                return self._end_of(answer)
            done = await runner.run(calls, cut_off=answer.stop == "max_tokens")
            self._own.append(ModelMessage("user", done.outcomes))
            self._uses.extend(done.uses)
            capped = done.verdict or (None if self._affords_two_calls() else "tokens")
        return capped or "rounds"

    def _end_of(self, answer: ModelFinished) -> Outcome:
        """Return how an answer without tool calls ended."""
        said = bool("".join(self._call_pieces).strip())
        match answer.stop:
            case "refusal":
                return "declined"
            case "filtered":
                return "filtered"
            case "max_tokens":
                return "length" if said else "reasoning"
            case _:
                return "answered" if "".join(self._pieces).strip() else "empty"

    def _out_of_time(self) -> Outcome:
        """Return the outcome of a turn at its time limit: what it waited for last is the reason."""
        return "unavailable" if self._retrying.failing and not self._pieces else "time"

    async def _finish(self, outcome: Outcome) -> TurnResult:
        """Return the result; adds the closing sentence, if there is one."""
        pieces = self._call_pieces if outcome in _OF_LAST_CALL else self._pieces
        has_text = bool("".join(pieces).strip())
        sentence = closing(outcome, has_text, self.request.reference)
        messages = self._messages()
        if sentence:
            self._call_pieces = []
            await self._say(self.language.shown(sentence))
        return TurnResult(
            text="".join(self._pieces),
            outcome=outcome,
            messages=messages,
            usage=self._usage,
            calls=tuple(self._uses),
            model=self._model,
            model_calls=self._model_calls,
            notes=tuple(self._notes),
            error=self._error,
            calibration=self._calibration,
            closing=sentence,
            files=self._shown.files,
        )

    # --- asking ---------------------------------------------------------------------------------

    async def _find_tools(self) -> None:
        try:
            self._offered = {spec.name: spec for spec in await self.tools.tools()}
        except ToolError as error:
            self._notes.append(f"no tools: {error}"[:MAX_ERROR])

    async def _ask(self, *, may_call: bool) -> ModelFinished | Outcome:
        """Return one answer of the model. A call that is too long is shortened, and a call without
        an answer is repeated."""
        self._call_pieces = []
        shortened = 0
        while shortened <= RETRIES and (fitted := self._fit()) is not None:
            if fitted.tokens + self.request.max_tokens > self._tokens_left():
                return "tokens"
            try:
                answer = await self._call(fitted, may_call)
                if self._asked_again or not self._is_empty(answer):
                    return answer
                self._asked_again = True
                self._notes.append("the model gave an empty answer, and was asked once more")
            except ContextTooLong as error:
                self._error = str(error)[:MAX_ERROR]
                self._notes.append("the provider rejected the conversation as too long")
                self._shrink(fitted, error)
                shortened += 1
            except ModelRefused as error:
                self._error = str(error)[:MAX_ERROR]
                if not self._forgets_history(fitted, error):
                    return "broken" if self._pieces else "refused"
            except ModelUnavailable as error:
                self._error = str(error)[:MAX_ERROR]
                if not await self._again(error):
                    return "broken" if self._pieces else "unavailable"
        return "broken" if self._pieces else "too_long"

    async def _again(self, error: ModelUnavailable) -> bool:
        """Wait before another call; False if there is none."""
        self._retrying.failing = True
        if self._call_pieces and not error.passes:
            return False
        if self._call_pieces and not self._taken_back():
            return False
        self.view.waits("again")
        return await self._retrying.again(error)

    async def _call(self, fitted: Fitted, may_call: bool) -> ModelFinished:
        request = ModelRequest(
            system=self.request.system,
            messages=fitted.messages,
            tools=tuple(self._offered.values()),
            model=self.request.model,
            max_tokens=self._answer,
            tool_choice="auto" if may_call or not self._offered else "none",
            system_volatile=self.request.system_volatile,
            settled=len(self._history) - fitted.dropped,
            tokens=fitted.tokens,
            text_tokens=self._text_tokens(fitted),
            gaps=self.request.gaps,
            web=self.request.web and not self._is_alone(),
        )
        self._model_calls += 1
        self.view.waits("model")
        finished: ModelFinished | None = None
        async with aclosing(_events(self.provider, request)) as events:
            async for event in events:
                self._retrying.failing = False
                if isinstance(event, TextDelta):
                    await self._say(event.text)
                elif isinstance(event, Working):
                    self.view.waits("working")
                elif isinstance(event, ModelFinished):
                    finished = event
        if finished is None:
            raise ModelUnavailable("the model's answer ended without a final event")
        await self._settle(_text_of(finished.message))
        self._learn(fitted, finished)
        return finished

    def _is_alone(self) -> bool:
        """Return True after the call of a tool beside which the service may run none."""
        called = (self._offered.get(use.name) for use in self._uses)
        return any(spec is not None and spec.alone for spec in called)

    def _is_empty(self, answer: ModelFinished) -> bool:
        """Return True for an answer of a turn without a word that ended by itself."""
        calls = any(isinstance(block, ToolCall) for block in answer.message.content)
        by_itself = answer.stop not in ("refusal", "filtered", "max_tokens")
        return by_itself and not calls and not "".join(self._pieces).strip()

    def _taken_back(self) -> bool:
        """Discard the beginning of an interrupted call, if it was not shown."""
        if self._times_taken_back >= MAX_TAKEN_BACK:
            return False
        kept = self._pieces[: len(self._pieces) - len(self._call_pieces)]
        if not self.view.take_back("".join(kept)):
            return False
        self._pieces, self._call_pieces = kept, []
        self._times_taken_back += 1
        note = "the model's answer was interrupted before it was shown, and was requested again"
        if note not in self._notes:
            self._notes.append(note)
        return True

    async def _settle(self, text: str) -> None:
        """Make the complete text of a call its text: a part that was streamed can turn out to be
        reasoning."""
        if not self._call_pieces:
            await self._say(text)
        elif (streamed := "".join(self._call_pieces).lstrip("\n")) != text.lstrip("\n"):
            first = len(self._pieces) - len(self._call_pieces)
            del self._pieces[first:]
            self._call_pieces = [f"\n\n{text}" if first else text] if text else []
            self._pieces.extend(self._call_pieces)
            self._notes.append(f"removed {len(streamed) - len(text)} characters of reasoning")

    async def _say(self, text: str) -> None:
        """Pass on a piece; the texts of two calls are two paragraphs."""
        if not text:
            return
        piece = f"\n\n{text}" if self._pieces and not self._call_pieces else text
        self._call_pieces.append(piece)
        self._pieces.append(piece)
        await self.view.on_text(piece)

    def _learn(self, fitted: Fitted, finished: ModelFinished) -> None:
        used = finished.usage
        if not finished.from_fallback:  # which does not calibrate the requested model
            prompt = prompt_tokens(used)
            if not is_cut(self._text_tokens(fitted), prompt):
                self._calibration = learned(
                    self._calibration,
                    self._system,
                    self._offered.values(),
                    fitted.messages,
                    prompt,
                )
        self._usage += used
        self._model = finished.model
        if finished.message.content:
            self._own.append(finished.message)

    # --- sizes ----------------------------------------------------------------------------------

    def _fit(self) -> Fitted | None:
        fitted = self._fit_into(self._room)
        if fitted is None or fitted.shortened:  # a larger fallback may take the whole question
            fitted = self._fit_into(self._room_elsewhere) or fitted
        if fitted is not None and fitted.changed:
            note = f"left out {fitted.dropped} messages, shortened {fitted.shortened} texts"
            if note not in self._notes:
                self._notes.append(note)
        return fitted

    def _fit_into(self, room: int) -> Fitted | None:
        tools = tuple(self._offered.values())
        return fit(self._system, tools, self._history, self._own, room, self._calibration)

    def _shrink(self, sent: Fitted, error: ContextTooLong) -> None:
        """Make the next request smaller than the refused one."""
        if error.limit:
            self._answer = min(self._answer, max(LEAST_ANSWER, error.limit // 4))
        room = smaller_room(sent, error, self._answer)
        self._room, self._room_elsewhere = min(self._room, room), min(self._room_elsewhere, room)

    def _forgets_history(self, sent: Fitted, error: ModelRefused) -> bool:
        """Leave the history out, once, if a refusal without a known reason may be due to it."""
        if error.status not in UNKNOWN or self._pieces:
            return False
        if sent.tokens < LONG_REQUEST or len(self._history) == sent.dropped:
            return False
        self._history = ()
        self._notes.append("the provider rejected the request; tried without the history")
        return True

    def _text_tokens(self, fitted: Fitted) -> int:
        return fitted.tokens - estimate_tools(self._offered.values(), self._calibration)

    def _tokens_left(self) -> int:
        used = self._usage
        return self.request.limits.tokens - prompt_tokens(used) - used.output_tokens

    def _affords_two_calls(self) -> bool:
        """Return True if one more round with tools leaves enough tokens for the answer after it."""
        fitted = self._fit()
        one = (fitted.tokens if fitted else 0) + self.request.max_tokens
        return 2 * one <= self._tokens_left()

    # --- the stored messages --------------------------------------------------------------------

    def _messages(self) -> tuple[ModelMessage, ...]:
        """Return the turn for the history: no reasoning, no call without its result."""
        kept = [_without(message, OpaqueBlock) for message in self._own]
        if kept[-1].role == "assistant":
            kept[-1] = _without(kept[-1], ToolCall)
        unfinished = "".join(self._call_pieces).strip()
        if unfinished and self._own[-1].role == "user":
            kept.append(ModelMessage("assistant", (TextBlock(unfinished),)))
        return tuple(message for message in kept if message.content)


def _without(message: ModelMessage, kind: type[OpaqueBlock] | type[ToolCall]) -> ModelMessage:
    if not any(isinstance(block, kind) for block in message.content):
        return message
    return replace(message, content=tuple(b for b in message.content if not isinstance(b, kind)))


def _text_of(message: ModelMessage) -> str:
    return "\n\n".join(block.text for block in message.content if isinstance(block, TextBlock))


async def _events(provider: LLMProvider, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Yield the provider's events; converts other exceptions to a `ModelError`."""
    stream: AsyncIterator[ModelEvent] = provider.stream(request)
    async with aclosing(cast("AsyncGenerator[ModelEvent, None]", stream)) as events:
        try:
            async for event in events:
                yield event
        except ModelError:
            raise
        except Exception as error:
            reason = f"the provider failed: {type(error).__name__}"
            raise ModelUnavailable(reason, passes=False) from error
