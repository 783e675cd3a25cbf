"""The model without a key and a network: it follows a few plain requests, deterministically.

It says once in a conversation that no language model is configured, repeats earlier messages, calls
a tool on request, uses memory and writes every kind of Markdown. The demo and the tests use it.
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from html import unescape
from typing import Final

from gateway.llm.offline_documents import (
    DOCUMENT_PREFIX,
    document_answer,
    document_call,
    document_report,
)
from gateway.llm.offline_samples import NOT_CONFIGURED, SAMPLES, everything, long_text
from gateway.llm.offline_tools import (
    KEPT,
    KEPT_PREFIX,
    MEMORY_PREFIX,
    REMINDED,
    REMINDER_PREFIX,
    REPOSITORY_PREFIX,
    UNTOLD,
    answer_about_person,
    kept_call,
    kept_report,
    memory_call,
    memory_report,
    reminder_call,
    repository_call,
    repository_report,
)
from gateway.llm.tokens import estimate, estimate_messages, estimate_tools
from gateway.ports import (
    ContentBlock,
    ImageBlock,
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolOutcome,
    Usage,
)

PIECE: Final = 48
"""Characters per piece of the streamed answer."""
MAX_COUNT: Final = 2_000
MAX_QUOTED: Final = 2_000
_SPEAKER: Final = re.compile(r"^\[[^\]\n]{1,80}\] ")
_TOOL: Final = re.compile(
    r"\b(?:use|call|run)\s+(?:the\s+)?(?P<word>tool\s+)?[`\"']?(?P<name>[A-Za-z0-9_.-]{1,64})[`\"']?"
    r"(?:\s+tool\b)?[^{]{0,40}(?P<arguments>\{.*\})?",
    re.IGNORECASE | re.DOTALL,
)
_SAY: Final = re.compile(
    r"\b(?:say|repeat)(?: exactly)?:\s*(?P<text>.+)", re.IGNORECASE | re.DOTALL
)
_COUNT: Final = re.compile(r"\bcount to (\d{1,5})\b", re.IGNORECASE)
_WHAT_SAID: Final = re.compile(
    r"\bwhat (?:did|have) i (?:just )?(?:say|said|ask|asked|write|written|tell|told)", re.IGNORECASE
)
_SO_FAR: Final = re.compile(
    r"\b(?:what (?:have|did) we (?:talk|discuss)|summar|so far\b)", re.IGNORECASE
)
_WHICH_TOOLS: Final = re.compile(r"\b(?:which|what|list)\b.{0,20}\btools\b", re.IGNORECASE)
_LONG: Final = re.compile(
    r"\b(?:something|answer|text|really|very) long\b|\blong (?:answer|text|one)\b", re.IGNORECASE
)
_EVERYTHING: Final = re.compile(
    r"\b(?:everything you can|all (?:the )?formats?|all formatting|all markdown)\b", re.IGNORECASE
)
_SAMPLE: Final = re.compile(rf"\b({'|'.join(SAMPLES)})\w*", re.IGNORECASE)
_SHOW: Final = re.compile(
    rf"\b(?:show|write|give|make|draw|print)\b.{{0,40}}?{_SAMPLE.pattern}",
    re.IGNORECASE | re.DOTALL,
)
_FILE_NOTE: Final = re.compile(
    r"\n{0,2}^\([^\n]{1,300} is shown to the person [^\n]{1,100}\)$", re.MULTILINE
)
"""The instruction about a file that is shown below the answer."""
_HELLO: Final = re.compile(r"^\W*(?:hello|hi|hey|good (?:morning|evening|day))\b", re.IGNORECASE)


class OfflineProvider:
    """A deterministic model: the same request gives the same answer, in the same pieces."""

    name = "offline"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        answer = _answer(request)
        text = "".join(block.text for block in answer if isinstance(block, TextBlock))
        for start in range(0, len(text), PIECE):
            yield TextDelta(text[start : start + PIECE])
        message = ModelMessage("assistant", answer)
        usage = Usage(
            estimate(request.whole_system)
            + estimate_tools(request.tools)
            + estimate_messages(request.messages),
            estimate_messages((message,)),
        )
        calls = any(isinstance(block, ToolCall) for block in answer)
        yield ModelFinished(message, "tool_use" if calls else "end", usage, "offline")

    async def close(self) -> None: ...


def _answer(request: ModelRequest) -> tuple[ContentBlock, ...]:
    last = request.messages[-1].content if request.messages else ()
    outcomes = [block for block in last if isinstance(block, ToolOutcome)]
    if outcomes:
        return (TextBlock(_report(outcomes, request.messages)),)
    question = _own_words(last)
    call = _tool_call(question, request)
    if call is not None:
        return (call,)
    call = (
        repository_call(question, request)
        or reminder_call(question, request)
        or kept_call(question, request)
    )
    if call is not None:
        return (call,)
    from_document = document_answer(question, last)
    if from_document:
        return (TextBlock(from_document),)
    call = document_call(question, request)
    if call is not None:
        return (call,)
    before = _said_before(request.messages[:-1])
    text = _words(question, before, request)
    call = memory_call(question, request, untold=text.startswith(UNTOLD))
    if call is not None:
        return (call,)
    images = sum(isinstance(block, ImageBlock) for block in last)
    if images:
        text = f"I received {images} picture{'s' if images > 1 else ''}. {text}"
    return (TextBlock(text),)


def _own_words(content: Sequence[ContentBlock]) -> str:
    """Return the person's text: the last text block, or the words of a voice message; earlier ones
    are files and quotations."""
    texts = [block.text for block in content if isinstance(block, TextBlock)]
    if len(texts) > 1 and texts[-1].endswith("(said this in a voice message)"):
        return next(filter(None, map(_spoken, reversed(texts))), "")
    return _SPEAKER.sub("", texts[-1]).strip() if texts else ""


def _spoken(text: str) -> str:
    """Return the words of a voice message in a block of the prompt; "" if it has none."""
    _, tag, rest = text.rpartition("<heard ")
    words = rest.partition(">\n")[2].partition("\n</heard>")[0]
    return unescape(words) if tag else ""


def _said_before(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the person's earlier messages, oldest first."""
    texts = (_own_words(message.content) for message in messages if message.role == "user")
    return [text for text in texts if text]


_REPORTS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    (MEMORY_PREFIX, memory_report),
    (REMINDER_PREFIX, lambda _: REMINDED),
    (REPOSITORY_PREFIX, repository_report),
    (KEPT_PREFIX, kept_report),
)
"""The description of a result, by the prefix of the call's id."""


def _report(outcomes: Sequence[ToolOutcome], messages: Sequence[ModelMessage]) -> str:
    calls = {
        block.id: block
        for message in messages
        for block in message.content
        if isinstance(block, ToolCall)
    }
    return "\n\n".join(_reported(outcome, calls.get(outcome.call_id)) for outcome in outcomes)


def _reported(outcome: ToolOutcome, call: ToolCall | None) -> str:
    if not outcome.is_error:
        if call is not None and call.id.startswith(DOCUMENT_PREFIX):
            return document_report(call, outcome.content)
        for prefix, report in _REPORTS:
            if outcome.call_id.startswith(prefix):
                return report(outcome.content)
    verb = "The tool did not succeed" if outcome.is_error else "The tool answered"
    content = _FILE_NOTE.sub("", outcome.content)
    fence = "```"
    while fence in content:
        fence += "`"
    return f"{verb}:\n\n{fence}\n{content}\n{fence}"


def _tool_call(question: str, request: ModelRequest) -> ToolCall | None:
    """Return the requested call, if there is such a tool."""
    match = _TOOL.search(question)
    if match is None or not request.tools or request.tool_choice == "none":
        return None
    tool_name = match["name"].rstrip(".")
    for tool in request.tools:
        if tool_name in (tool.name, tool.name.rpartition("__")[2]):
            number = sum(message.role == "assistant" for message in request.messages)
            prefix = KEPT_PREFIX if tool.name == KEPT else "offline_"
            return ToolCall(f"{prefix}{number}", tool.name, match["arguments"] or "{}")
    return None


def _words(question: str, before: list[str], request: ModelRequest) -> str:
    for pattern, write in _REQUESTS:
        match = pattern.search(question)
        if match is not None:
            return write(match, before)
    if _WHICH_TOOLS.search(question):
        names = [f"- `{tool.name}`" for tool in request.tools]
        return "\n".join(["I can use these tools:", "", *names]) if names else "I have no tools."
    match = _TOOL.search(question)
    if match is not None and match["word"]:
        return f"There is no tool `{match['name']}` that I may use here."
    about = answer_about_person(question, before)
    if about:
        return about
    introduction = "" if _has_introduced_itself(request) else NOT_CONFIGURED
    if _HELLO.search(question):
        return f"Hello! {introduction or 'What shall I show you?'}"
    if not question:
        return introduction or "I received no text."
    return "\n\n".join(filter(None, (introduction, f"You said: {_shortened(question)}")))


def _has_introduced_itself(request: ModelRequest) -> bool:
    """Return True if an earlier answer of the conversation says that no model is configured."""
    return any(
        NOT_CONFIGURED in block.text
        for message in request.messages
        if message.role == "assistant"
        for block in message.content
        if isinstance(block, TextBlock)
    )


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]} …"


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in _shortened(text).splitlines())


def _count(match: re.Match[str], _before: list[str]) -> str:
    return " ".join(str(number) for number in range(1, min(int(match[1]), MAX_COUNT) + 1))


def _last_said(_match: re.Match[str], before: list[str]) -> str:
    return f"You said:\n\n{_quote(before[-1])}" if before else "You said nothing before this."


def _all_said(_match: re.Match[str], before: list[str]) -> str:
    if not before:
        return "We have not talked about anything yet."
    points = "\n".join(f"{n}. {_shortened(' '.join(t.split()))}" for n, t in enumerate(before, 1))
    return f"So far you said:\n\n{points}"


def _show(match: re.Match[str], _before: list[str]) -> str:
    """Return every named sample once; "task list" is one sample."""
    names = [name.lower() for name in _SAMPLE.findall(match.string)]
    if "task" in names:
        names = [name for name in names if name != "list"]
    return "\n\n".join(part for name in dict.fromkeys(names) for part in SAMPLES[name])


_REQUESTS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], list[str]], str]], ...]] = (
    (_SAY, lambda match, _before: match["text"]),
    (_COUNT, _count),
    (_WHAT_SAID, _last_said),
    (_SO_FAR, _all_said),
    (_EVERYTHING, lambda _match, _before: everything()),
    (_LONG, lambda _match, _before: long_text()),
    (_SHOW, _show),
)
"""Patterns and their answers; the first match counts."""
