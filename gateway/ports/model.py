"""The language model: requests, answers and the provider's interface."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from gateway.tool_spec import ToolSpec


class TextBlock(Struct, frozen=True):
    """Text of a person, of the assistant, or of the system."""

    text: str
    """The text."""


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """An image; `mime` is one of image/png, image/jpeg, image/gif, image/webp."""

    mime: str
    data: bytes = field(repr=False)
    """The bytes of the image."""


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """A PDF for models that see its pages.

    `pages` is their number. `instead` is what a model reads that takes no PDF.
    """

    name: str
    data: bytes = field(repr=False)
    """The bytes of the PDF."""
    pages: int
    instead: str


class ToolCall(Struct, frozen=True):
    """A tool call of the model. `arguments` is the text of a JSON object."""

    id: str
    """The id that the result names, unique in the conversation."""
    name: str
    """The name of the tool."""
    arguments: str


class ToolOutcome(Struct, frozen=True):
    """The result of a tool call, as the model reads it."""

    call_id: str
    """The id of the call."""
    content: str
    """The result, or the error, as text."""
    is_error: bool = False
    """True if the call failed."""


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """Content that a service expects back unchanged and that no other model can read: signed
    reasoning.

    `maker` is the service and the model that made it; only they get it back. `data` is the text of
    a JSON object. `prefix` is a digest of what stood before it, where the service takes it back
    behind the same text only. It is never stored and never shown to a person.
    """

    maker: str
    data: str = field(repr=False)
    prefix: str = ""


ContentBlock: TypeAlias = (
    TextBlock | ImageBlock | DocumentBlock | ToolCall | ToolOutcome | OpaqueBlock
)


class ModelMessage(Struct, frozen=True):
    """One message of the conversation with the model."""

    role: Literal["user", "assistant"]
    """The writer: people and tools, or the model."""
    content: tuple[ContentBlock, ...]
    """The parts of the message, in order."""


class ModelRequest(Struct, frozen=True):
    """A call to a model. An empty `model` is the provider's default.

    Stable parts come first, so that a service can cache them: `system` is stable through a session,
    `system_volatile` (task, date) for a while, the first `settled` messages permanently.
    `tokens` is the estimated size of the prompt, `text_tokens` that without the tools; 0 if it was
    not estimated.
    `tool_choice` "none" shows the tools, which earlier messages call, but allows no call. `gaps`
    are the seconds between the latest questions of the conversation, oldest first, up to this one.
    `web`: the service may search the web and fetch pages by itself, `WEB_USES` times each, if it
    can.
    """

    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    model: str = ""
    max_tokens: int = 1024
    """The length limit of the answer in tokens, reasoning included."""
    tool_choice: Literal["auto", "none"] = "auto"
    system_volatile: str = ""
    settled: int = 0
    tokens: int = 0
    text_tokens: int = 0
    gaps: tuple[float, ...] = ()
    web: bool = False

    @property
    def whole_system(self) -> str:
        """Both parts of the system prompt."""
        return "\n\n".join(part for part in (self.system, self.system_volatile) if part.strip())


WEB_USES: Final = 5
"""Searches, and pages, of one call."""


class WebText(Struct, frozen=True):
    """Text from the web that a tool of the service read; `tool` is its name."""

    tool: str
    text: str
    """The text."""


class Usage(Struct, frozen=True):
    """Tokens of one call, as counted by the service."""

    input_tokens: int = 0
    """Tokens of the prompt outside of the cache."""
    output_tokens: int = 0
    """Tokens of the answer, reasoning included."""
    cache_read_tokens: int = 0
    """Tokens of the prompt that were read from the cache."""
    cache_write_tokens: int = 0
    """Tokens of the prompt that were written to the cache."""
    cache_hour_tokens: int = 0
    """Those of `cache_write_tokens` that are kept for an hour."""
    searches: int = 0
    """The service's own searches in the web."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cache_hour_tokens + other.cache_hour_tokens,
            self.searches + other.searches,
        )


class TextDelta(Struct, frozen=True):
    """A piece of the answer."""

    text: str
    """The piece; joined, the pieces are the text of the answer."""


class Working(Struct, frozen=True):
    """The service works on the answer without text for people: it reasons, writes the arguments of
    a tool call, or runs a tool of its own."""


StopReason: TypeAlias = Literal[
    "end", "tool_use", "max_tokens", "refusal", "filtered", "paused", "other"
]
"""The reason why a call ended. `refusal`: the model declined; `filtered`: the service's content
filter stopped the answer; both may come after a part of the text. `paused`: the service interrupted
its own tools, and goes on when it gets the answer back."""


class ModelFinished(Struct, frozen=True):
    """The last event of a call; `message` is the whole answer with its tool calls. `from_fallback`:
    another model answered than the requested one. `reasoned`: the model reasoned before it wrote,
    which counts against the length limit. `web` is what its service read in the web."""

    message: ModelMessage
    stop: StopReason
    """The reason why the model stopped."""
    usage: Usage
    """The tokens of the call."""
    model: str
    from_fallback: bool = False
    reasoned: bool = False
    web: tuple[WebText, ...] = ()


Wait: TypeAlias = Literal["model", "working", "again"]
"""The thing that a turn waits for: the first token of a model, a model that works without text for
people, or another attempt after a failed one."""

ModelEvent: TypeAlias = TextDelta | Working | ModelFinished


LONG_REQUEST = 2_000
"""Tokens of a request with a history whose refusal without a reason may be due to its length."""


class LLMProvider(Protocol):
    """A language model."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield any number of `TextDelta` and `Working`, then one `ModelFinished`. Raises a
        `ModelError`."""

    async def close(self) -> None: ...


@runtime_checkable
class CanLoad(Protocol):
    """A provider with a library that takes long to import."""

    async def load(self) -> None:
        """Import it outside the event loop; a call does so as well."""


class ModelFinding(Struct, frozen=True):
    """One thing that an operator should know about the server of a model: a limit that it has, or
    a setting of its own that harms answers.

    `model` and `server` (an address without a secret) say where. `text` is one sentence that says
    what was seen and what Parley does about it. `setting` is the line of the configuration, or the
    setting of the server, that settles it; "" if nothing can be set.
    """

    model: str
    server: str
    text: str
    setting: str = ""


@runtime_checkable
class CanReportFindings(Protocol):
    """A provider that learns about its server while the program runs."""

    def findings(self) -> tuple[ModelFinding, ...]:
        """Return what was found since the start, oldest first, at most 20."""


class ModelFailure(Struct, frozen=True):
    """A model whose every call failed `since` then, until the `last` one.

    `server` is its address as people may see it; `status` is that of HTTP, None without an answer
    of HTTP; `kind` is a code of `gateway.policy.model_failures`; `message` (bounded and redacted)
    and `request_id` are the service's, of the last call. `calls` failed, and `people` asked
    something that one of them was for.
    """

    model: str
    server: str
    since: datetime
    last: datetime
    kind: str
    status: int | None = None
    message: str = ""
    request_id: str = ""
    calls: int = 1
    people: int = 0


class ToolProvider(Protocol):
    """Provides tools: an MCP server, or the program itself."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the available tools. Raises `ToolError` if the provider is not reachable."""

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool. Raises `ToolError`."""

    async def close(self) -> None: ...


class ServerState(Struct, frozen=True):
    """The state of a tool server. `problem` is empty while it is connected, and before the first
    attempt ended; `failures` counts failed attempts and lost connections since the start.
    `refused` counts answers outside of the bounds, `refusal` is the reason of one in the last ten
    minutes."""

    name: str
    """The name of the server in the configuration."""
    connected: bool
    problem: str
    failures: int
    refused: int = 0
    refusal: str = ""


@runtime_checkable
class CanStart(Protocol):
    """A tool provider or a memory backend that opens something before its first use."""

    async def start(self) -> None:
        """Open it. Called once before any other method. A tool provider begins to connect and
        returns at once. An exception of a backend stops the start of the program; its text is shown
        to operators."""


@runtime_checkable
class CanReportState(Protocol):
    """A tool provider that can lose its connection."""

    def state(self) -> ServerState:
        """Return the present state."""


FIRST_TOKEN_SECONDS: Final = 300.0
"""A local model reads a prompt of some thousand tokens for a minute or more, and may have to be
loaded before."""
BETWEEN_TOKENS_SECONDS: Final = 120.0
"""Some local servers send the arguments of a tool call only when they are complete."""


class TimeLimits(Struct, frozen=True):
    """Seconds until anything of an answer arrives, and between two things that arrive."""

    first_token: float = FIRST_TOKEN_SECONDS
    between_tokens: float = BETWEEN_TOKENS_SECONDS
