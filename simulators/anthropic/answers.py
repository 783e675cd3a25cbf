"""The answers of the simulated model."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

StopReason: TypeAlias = Literal[
    "",
    "end_turn",
    "max_tokens",
    "tool_use",
    "refusal",
    "pause_turn",
    "model_context_window_exceeded",
]
Body: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class UseTool:
    """The model asks for a tool. `raw` replaces the arguments' JSON text, for broken ones."""

    name: str
    input: Mapping[str, object] = field(default_factory=dict)
    raw: str = ""

    @property
    def json(self) -> str:
        """The arguments as they are streamed."""
        return self.raw or json.dumps(self.input, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the web."""

    url: str
    title: str = "A page"
    text: str = "What the page says."


@dataclass(frozen=True, slots=True)
class WebUse:
    """A search that finds these pages, or the fetch of the only one."""

    name: Literal["web_search", "web_fetch"]
    pages: tuple[Page, ...]
    query: str = "a question"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `stop` empty means what follows from the rest; `thinking` comes first, signed,
    then what the service does in the `web`. The text cites each page of it."""

    text: str = ""
    tools: tuple[UseTool, ...] = ()
    stop: StopReason = ""
    thinking: str = ""
    web: tuple[WebUse, ...] = ()

    @property
    def stop_reason(self) -> str:
        """The reason why the model stopped."""
        return self.stop or ("tool_use" if self.tools else "end_turn")


TELLS_TIME: Final = "Today is "
"""The beginning of a block that tells the time."""
Reply: TypeAlias = Callable[[Body], Answer | str]


def last_user_text(body: Body) -> str:
    """Return the texts and tool results of the last message, joined, without the line that tells
    the time."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return ""
    content = messages[-1].get("content")
    return text_of(without_time(content) if isinstance(content, list) else content)


def without_time(content: Sequence[Any]) -> list[Any]:
    """Return the blocks of a message without the one that tells the time, which differs with every
    minute."""
    return [
        block
        for block in content
        if not (isinstance(block, dict) and str(block.get("text", "")).startswith(TELLS_TIME))
    ]


def text_of(content: object) -> str:
    """The readable text of a message's content."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [
        text_of(block.get("content")) if block.get("type") == "tool_result" else block.get("text")
        for block in content
        if isinstance(block, dict)
    ]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def echo(body: Body) -> Answer:
    """The default reply: says what it was told, so that a test sees what arrived."""
    return Answer(f"You said: {last_user_text(body) or '(nothing)'}")
