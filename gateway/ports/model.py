"""The language model: what it is asked, what it answers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from gateway.ports.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text of a person, of the assistant, or of the system."""

    text: str


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture; `mime` is one of image/png, image/jpeg, image/gif, image/webp."""

    mime: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool. `arguments` is a JSON object's text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool answered, as the model reads it."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """What a service wants back exactly as it came, and nobody else can read: signed reasoning.

    `maker` is the model that made it; any other one is not shown it. `data` is a JSON object's
    text. It is never stored, and never shown to a person.
    """

    maker: str
    data: str = field(repr=False)


ContentBlock: TypeAlias = TextBlock | ImageBlock | ToolCall | ToolOutcome | OpaqueBlock


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """One step of the conversation with the model."""

    role: Literal["user", "assistant"]
    content: tuple[ContentBlock, ...]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one call to a model needs. `model` empty means the provider's own default.

    What stays the same comes first, so that a service can cache it: `system` through a session,
    `system_volatile` (the task, the day) for a while, the first `settled` messages for good.
    `tool_choice` "none" shows the tools, which earlier messages call, and lets none be called.
    """

    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    model: str = ""
    max_tokens: int = 1024
    tool_choice: Literal["auto", "none"] = "auto"
    system_volatile: str = ""
    settled: int = 0

    @property
    def whole_system(self) -> str:
        """Both parts of the system prompt."""
        return "\n\n".join(part for part in (self.system, self.system_volatile) if part.strip())


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the service counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, as it is written."""

    text: str


StopReason: TypeAlias = Literal["end", "tool_use", "max_tokens", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class ModelFinished:
    """The last event of a call; `message` is the whole answer, tool calls included.
    `from_fallback`:
    another model answered than the one that was asked."""

    message: ModelMessage
    stop: StopReason
    usage: Usage
    model: str
    from_fallback: bool = False


ModelEvent: TypeAlias = TextDelta | ModelFinished


class LLMProvider(Protocol):
    """A language model."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Zero or more `TextDelta`, then one `ModelFinished`. Raises a `ModelError`."""
        ...

    async def close(self) -> None: ...
