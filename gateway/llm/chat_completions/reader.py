"""Reads an answer of chat completions, as a stream or in one document."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.errors import ModelUnavailable
from gateway.llm.chat_completions import reasoning
from gateway.llm.chat_completions.answer_text import AnswerText
from gateway.llm.chat_completions.calls import CallAssembler, fitting_id, new_id
from gateway.llm.chat_completions.reasoning import Reasoning, merge_part
from gateway.llm.evidence import is_of_written_call
from gateway.llm.json_text import paired
from gateway.llm.streamed_call import ServiceError, figure, model_name
from gateway.ports import (
    ContentBlock,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    StopReason,
    TextBlock,
    ToolCall,
    ToolOutcome,
    Usage,
)

DONE: Final[Mapping[str, Any]] = {"[DONE]": True}
"""The server says that the answer is complete."""
END: Final[Mapping[str, Any]] = {"[END]": True}
"""The body ends."""
AFTER_DONE: Final = 0.2
AFTER_FINISH: Final = 2.0
"""Seconds to wait for the end of the stream, and before that for the usage."""
MAX_ASKED: Final = 20_000
_DUPLICATE: Final = 8
"""Characters from which a last piece that repeats the whole text is no part of it."""
_NONE: Final = frozenset(("", "null", "none"))
_STOPS: Final[tuple[tuple[re.Pattern[str], StopReason], ...]] = (
    (
        re.compile(r"filter|safety|sensitive|recitation|blocklist|prohibit|guardrail|spii"),
        "filtered",
    ),
    (re.compile(r"refus"), "refusal"),
    (re.compile(r"length|max_|token_limit|truncat"), "max_tokens"),
    (re.compile(r"tool|function_call"), "tool_use"),
    (re.compile(r"stop|end|eos|complete|finish|done"), "end"),
)
_BROKEN: Final = re.compile(r"error|insufficient_system_resource|abort|cancel|timeout|fail")
_ERRORS: Final = ("error", "errors", "detail", "error_msg", "error_message", "error_code")


class Dialect(Struct, frozen=True):
    """The dialect of a server, as it is known when an answer begins: `hold` as in `AnswerText`,
    `headless` if its reasoning begins in its prompt."""

    hold: int = 0
    headless: bool = False


USUAL: Final = Dialect()


class CompletionsReader:
    """Assembles an answer of the chat completions API for a request. `maker` is the service and the
    model, for what goes back to them only."""

    def __init__(
        self, model: str, request: ModelRequest, maker: str = "", dialect: Dialect = USUAL
    ) -> None:
        self._model = model
        self._maker = maker or model
        may_call = request.tool_choice == "auto"
        tools = {tool.name: tool for tool in request.tools}
        self._text = AnswerText(
            tools if may_call else {}, _asked(request), dialect.hold, headless=dialect.headless
        )
        self._plain: list[str] = []
        self._parts: list[Any] = []
        self._calls = CallAssembler(tools, frozenset(_ids(request)))
        self._reasoning = Reasoning()
        self._counted = CountedTokens()
        self._finish = ""
        self._empty = True
        self._ended = False
        self._high = ""
        self.rest_seconds: float | None = None
        self.working = False

    @property
    def headless(self) -> bool:
        """True if the text had only the closing mark of its reasoning."""
        return self._text.headless

    def feed(self, event: Mapping[str, Any]) -> str:
        """Add an event; return its text. Raises `ServiceError` for an error of the service in an
        answer, `LookupError` or `TypeError` for an event that cannot be read."""
        if event is DONE or event is END:
            return self._end(event)
        self._empty = False
        if (content := _only_text(event)) and not self._high:
            return self._add_text(content, repeats=False, last=False)
        if model := event.get("model"):
            self._model = model_name(model, self._model)
        self._counted.add(event)
        choices = event.get("choices")
        if not choices:
            self._without_choice(event)
            return ""
        choice = choices[0]
        if choice.get("error") or choice.get("finish_reason") == "error":
            raise ServiceError(200, choice if choice.get("error") else event)
        text = self._message(choice)
        finish = choice.get("finish_reason") or ""
        if not isinstance(finish, str):
            finish = "other"
        if finish.lower() not in _NONE:
            self._finish = finish.lower()
            if is_of_written_call(self._finish):
                raise ServiceError(200, {"error": {"message": finish}})
        if self._finish or event.get("object") == "chat.completion":
            self.rest_seconds = self.rest_seconds or AFTER_FINISH
        return text

    def finish(self) -> ModelFinished:
        """Return the complete answer. Raises `ModelUnavailable` for one that the service broke off,
        or that has nothing in it."""
        if not self._ended:
            self._end(END)
        if self._empty or (self.rest_seconds is None and self._nothing):
            raise ModelUnavailable("the model's server sent an empty answer", passes=False)
        if self.rest_seconds is None or _BROKEN.search(self._finish):
            raise ModelUnavailable("the answer was interrupted")
        try:
            return self._finished()
        except (LookupError, TypeError, ValueError) as error:
            raise ModelUnavailable("the answer cannot be read") from error

    # --- one event ------------------------------------------------------------------------------

    def _without_choice(self, event: Mapping[str, Any]) -> None:
        """Read an event that is not about the text: an error, or the usage at the end."""
        base = event.get("base_resp")
        failed = isinstance(base, dict) and base.get("status_code")
        named = any(event.get(name) for name in _ERRORS) or event.get("object") == "error"
        told = "code" in event and ("message" in event or "msg" in event)
        if failed or named or told or event.get("type") == "error":
            raise ServiceError(200, event)
        if event.get("usage") and not self._nothing:
            self.rest_seconds = self.rest_seconds or AFTER_FINISH

    @property
    def _nothing(self) -> bool:
        return not (self._plain or self._parts or self._calls or self._reasoning.reasoned)

    def _message(self, choice: Mapping[str, Any]) -> str:
        """Read the piece of a message, or a whole one; return its text."""
        delta = choice.get("delta")
        whole = choice.get("message")
        if isinstance(delta, dict) and (delta or not whole):
            message: Mapping[str, Any] = delta
        elif isinstance(whole, dict):
            message = whole
        else:
            message = {"content": choice.get("text")}
        last = bool(choice.get("finish_reason"))
        text = self._content(message, repeats=message is whole, last=last)
        calls = message.get("tool_calls")
        if not calls and isinstance(message.get("function_call"), dict):
            calls = [message["function_call"]]
        if calls and not (message is whole and self._calls):
            self.working = True
            for piece in calls:
                self._calls.add(piece)
        return text

    def _content(self, message: Mapping[str, Any], *, repeats: bool, last: bool) -> str:
        reasoned = False
        if (len(message) > 1 or "content" not in message) and not (repeats and self._plain):
            reasoned = self._reasoning.add(message)
            self.working = self.working or reasoned
        content = message.get("content") or message.get("refusal")
        released = self._text.release() if reasoned and self._reasoning.reasoned else ""
        if not content:
            return released
        if isinstance(content, str):
            if reasoned and _is_thought(message):
                return released
            return released + self._add_text(content, repeats=repeats, last=last)
        parts = content if isinstance(content, list) else [content]
        return released + "".join(self._part(part) for part in parts)

    def _part(self, part: Any) -> str:
        """Add a part of a content; return its text."""
        if isinstance(part, str):
            part = {"type": "text", "text": part}
        merge_part(self._parts, part)
        kind, text = str(part.get("type") or "text"), part.get("text")
        if kind not in ("text", "output_text"):
            self.working = True
            self._reasoning.reasoned = (
                self._reasoning.reasoned or "think" in kind or "reason" in kind
            )
            if kind != "refusal":
                return ""
            text = part.get("refusal")
        if isinstance(text, dict):
            text = text.get("value")
        return self._add_text(text, repeats=False, last=False) if isinstance(text, str) else ""

    def _add_text(self, text: str, *, repeats: bool, last: bool) -> str:
        if (repeats or (last and len(text) >= _DUPLICATE)) and self._plain:
            before = "".join(self._plain)
            if text == before or (repeats and text.startswith(before)):
                text = text[len(before) :]
        text = self._paired(text)
        if not text:
            return ""
        self._plain.append(text)
        shown = self._text.feed(text)
        self.working = self.working or not shown
        return shown

    def _paired(self, text: str) -> str:
        """Join the halves of a surrogate pair that two pieces carry; the replacement character for
        a half alone."""
        if not self._high and text.isascii():
            return text
        text, self._high = self._high + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        return paired(text)

    def _end(self, event: Mapping[str, Any]) -> str:
        """Handle the end of the answer or of the body; return the rest of the text."""
        if event is DONE:
            self.rest_seconds = AFTER_DONE
        if self._ended or (self._empty and not self._plain):
            return ""
        self._ended = True
        rest = self._text.feed("\ufffd") if self._high else ""
        cut = self.rest_seconds is None or self._stop_named() == "max_tokens"
        return rest + self._text.end(cut=cut)

    # --- the whole answer -----------------------------------------------------------------------

    def _stop_named(self) -> StopReason:
        for pattern, stop in _STOPS:
            if pattern.search(self._finish):
                return stop
        return "other" if self._finish else "end"

    def _finished(self) -> ModelFinished:
        calls, own = self._finished_calls()
        stop = self._stop_named()
        if calls:
            cut = stop == "max_tokens" and not self._calls.last_is_complete and bool(self._calls)
            stop = "max_tokens" if cut else stop if stop == "filtered" else "tool_use"
        elif stop == "tool_use":
            stop = "end"
        blocks: list[ContentBlock] = []
        if calls and (block := reasoning.opaque(self._maker, self._to_return(own))):
            blocks.append(block)
        if text := self._text.visible:
            blocks.append(TextBlock(text))
        reasoned = self._reasoning.reasoned or self._text.reasoned or self._counted.reasoning > 0
        message = ModelMessage("assistant", (*blocks, *calls))
        return ModelFinished(message, stop, self._counted.usage, self._model, reasoned=reasoned)

    def _finished_calls(self) -> tuple[list[ToolCall], dict[str, Mapping[str, Any]]]:
        """Return the calls, and by id what only the service understands of them."""
        calls, own = [], {}
        for call, more in self._calls.finished():
            calls.append(call)
            if more:
                own[call.id] = more
        if calls:
            return calls, own
        used = set(self._calls.taken)
        for number, written in enumerate(self._text.calls):
            call_id = new_id("", used, number)
            used.add(call_id)
            calls.append(ToolCall(call_id, written.name, written.arguments))
        return calls, {}

    def _to_return(self, own: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return what the service gets back with the calls: its reasoning, its content as it was,
        and what it added to a call."""
        result: dict[str, Any] = {"fields": self._reasoning.fields(), "calls": own}
        if self._parts and self._reasoning.reasoned:
            result["content"] = self._parts
        elif self._text.reasoned:
            content = "".join(self._plain)
            for markup in self._text.removed:
                content = content.replace(markup, "", 1)
            result["content"] = content if len(content) <= reasoning.MAX_KEPT else ""
        return result


def _only_text(event: Mapping[str, Any]) -> str:
    """Return the text of an event that has nothing else, as nearly all; "" for any other."""
    choices = event.get("choices")
    if not choices or event.get("usage") or len(choices) != 1:
        return ""
    choice = choices[0]
    delta = choice.get("delta")
    if not delta or len(delta) != 1 or choice.get("finish_reason") or "error" in choice:
        return ""
    content = delta.get("content")
    return content if isinstance(content, str) else ""


def _is_thought(message: Mapping[str, Any]) -> bool:
    """Return True if the text of a piece is reasoning, as Google marks it."""
    extra = message.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    return isinstance(google, dict) and google.get("thought") is True


def _asked(request: ModelRequest) -> str:
    """Return the person's latest words."""
    for message in reversed(request.messages):
        if message.role == "user":
            texts = [block.text for block in message.content if isinstance(block, TextBlock)]
            if texts:
                return "\n".join(texts)[-MAX_ASKED:]
    return ""


def _ids(request: ModelRequest) -> Iterator[str]:
    for message in request.messages:
        for block in message.content:
            if isinstance(block, ToolCall):
                yield fitting_id(block.id)
            elif isinstance(block, ToolOutcome):
                yield fitting_id(block.call_id)


_CACHED: Final = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_WRITTEN: Final = ("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")


class CountedTokens:
    """The largest figures of one answer so far, which servers report in many ways.

    Once, in several events, or cumulative, with 0 in the events that are about another one; in the
    event or in its choice; with cached tokens inside of those of the prompt or beside them; with
    reasoning inside of those of the answer or only in the sum.
    """

    def __init__(self) -> None:
        self._prompt = self._output = self._cached = self._written = self._total = 0
        self.reasoning = 0

    def add(self, event: Mapping[str, Any]) -> None:
        """Read what an event reports, if it does."""
        figures = event.get("usage")
        if not figures and (choices := event.get("choices")):
            figures = choices[0].get("usage")
        if not figures and (groq := event.get("x_groq")):
            figures = groq.get("usage")
        if figures and isinstance(figures, dict):
            self._add(figures)

    def _add(self, figures: Mapping[str, Any]) -> None:
        prompt = _part(figures, "prompt_tokens_details")
        output = _part(figures, "completion_tokens_details")
        self._prompt = max(self._prompt, _first(figures, ("prompt_tokens", "input_tokens")))
        self._output = max(self._output, _first(figures, ("completion_tokens", "output_tokens")))
        self._cached = max(self._cached, _first(prompt, _CACHED) or _first(figures, _CACHED))
        self._written = max(self._written, _first(prompt, _WRITTEN) or _first(figures, _WRITTEN))
        self._total = max(self._total, _first(figures, ("total_tokens",)))
        self.reasoning = max(self.reasoning, _first(output, ("reasoning_tokens",)))

    @property
    def usage(self) -> Usage:
        """The tokens, each counted once."""
        of_cache = self._cached + self._written
        if of_cache > self._prompt:  # reported beside the prompt
            return Usage(self._prompt, self._output, self._cached, self._written)
        output = max(self._output, self._total - self._prompt)  # the sum has the reasoning
        return Usage(self._prompt - of_cache, output, self._cached, self._written)


def _part(figures: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = figures.get(name)
    return found if isinstance(found, dict) else {}


def _first(figures: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return the first figure that is not 0; 0 for what is none."""
    return next((count for name in names if (count := figure(figures.get(name)))), 0)
