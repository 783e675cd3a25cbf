"""The seams between the gateway and everything that touches the outside, as small Protocols.

A class takes part by having the methods; nothing is registered. What an adapter can do beyond
sending is declared in its `Capabilities` and proven by `tests/contract/test_adapters.py`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from pydantic import BaseModel

from gateway.message import Attachment, Button, InboundEvent, Outbound, Part, Place, Receipt

# --- time ---------------------------------------------------------------------------------------


class Clock(Protocol):
    """Time as a dependency, so that tests need not wait."""

    def now(self) -> datetime:
        """The current time, with a zone (UTC)."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        ...


# --- adapters -----------------------------------------------------------------------------------

Dialect: TypeAlias = Literal["discord", "slack", "telegram", "whatsapp", "web", "plain"]
"""Which renderer an answer goes through; a platform of somebody else's names one of these."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a platform can do. Each true value is proven by the contract suite.

    `answers_open_threads`: an answer to a message in a room starts a thread under it (Slack).
    `joins_threads`: a thread is a conversation of its own that the bot can be part of; false for
    topics that gather a whole room (Telegram forums).
    `idempotent_sends`: a repeated `Outbound.key` is recognised by the platform and shown once.
    `live`: an answer can be shown while it is written, in some kind of conversation at least.
    `commands_wait`: people see that a command waits until it is answered, or until an `Outbound`
    with nothing in it takes that sign away (Discord's "thinking").
    `max_buttons` is the largest number under one message, 0 for none.
    """

    rooms: bool = True
    threads: bool = False
    answers_open_threads: bool = False
    joins_threads: bool = False
    edits: bool = False
    deletes: bool = False
    typing: bool = False
    read_marks: bool = False
    reactions: bool = False
    ephemeral: bool = False
    inline_queries: bool = False
    files_in: bool = False
    files_out: bool = False
    native_commands: bool = False
    commands_wait: bool = False
    idempotent_sends: bool = False
    live: bool = False
    max_buttons: int = 0


class EventSink(Protocol):
    """Where an adapter hands over what arrived.

    Returns when the event is stored (or known to be none of our business): only then may the
    platform be told that it was received. Raises `StoreUnavailable` when it could not be stored;
    the adapter then leaves the event unacknowledged, so that the platform sends it again.
    """

    async def __call__(self, event: InboundEvent) -> None: ...


class AdapterState(Protocol):
    """A small durable memory of one adapter: WhatsApp windows, the last message seen.

    Keys are at most 200 characters, values at most 4,000; expired values read as None.
    """

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, value: str, ttl: timedelta) -> None: ...


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """A request to the public listener. Header names are in lower case; `body` is untouched."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """What the public listener answers."""

    status: int = 200
    body: str = ""
    content_type: str = "text/plain"


WebhookHandler: TypeAlias = Callable[[WebhookRequest], Awaitable[WebhookResponse]]


class WebhookRoutes(Protocol):
    """The public listener, as far as an adapter sees it."""

    def add(self, path: str, handler: WebhookHandler) -> None:
        """Serve `path` (GET and POST). Raises `ConfigurationError` when it is taken."""
        ...

    def remove(self, path: str) -> None:
        """Stop serving `path`; unknown paths are fine."""
        ...


class Counter(Protocol):
    """Counts what happened: `count("ignored", "poll_answer")`."""

    def __call__(self, what: str, detail: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command to register with the platforms that know such a thing."""

    name: str
    description: str
    takes_arguments: bool = False
    argument_name: str = "question"
    argument_optional: bool = False


@dataclass(frozen=True, slots=True)
class AdapterContext:
    """What the program gives an adapter. `account` is "main" unless several are configured."""

    account: str
    assistant_name: str
    clock: Clock
    state: AdapterState
    webhooks: WebhookRoutes
    count: Counter
    commands: tuple[CommandSpec, ...] = ()


@runtime_checkable
class PlatformAdapter(Protocol):
    """One connected account of one platform.

    Optional abilities are the `Can...` protocols below: an adapter has exactly those that its
    capabilities declare.
    """

    @property
    def platform(self) -> str: ...

    @property
    def account(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def connect(self, sink: EventSink) -> None:
        """Connect and start handing events to `sink`; return once the platform said yes.

        Raises `StartError`. May be called again after `disconnect`.
        """
        ...

    async def wait_closed(self) -> None:
        """Return after `disconnect`; raise `StartError` when the connection died for good."""
        ...

    async def disconnect(self) -> None:
        """Stop receiving, close every socket. Safe to call twice, and before `connect`."""
        ...

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file, once. Raises a `DeliveryError`; never retries by itself."""
        ...


@runtime_checkable
class CanEdit(Protocol):
    async def edit(self, place: Place, message_id: str, part: Part) -> None:
        """Replace the text of a message of ours. Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanDelete(Protocol):
    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of ours. Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanType(Protocol):
    async def typing(self, place: Place, message_id: str) -> None:
        """Show that an answer to `message_id` is being written. Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanMarkRead(Protocol):
    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show that a message was read. Raises a `DeliveryError`."""
        ...


@dataclass(frozen=True, slots=True)
class Liveness:
    """Whether a connection has proven lately that it works. `detail` says in words what is wrong,
    `seconds_since` how long ago the last proof was."""

    ok: bool
    detail: str = ""
    seconds_since: float = 0.0


@runtime_checkable
class CanProve(Protocol):
    def alive(self) -> Liveness:
        """What the transport itself has proven: an answered ping, a finished poll. Never what
        people write: a quiet room is no deaf socket. Asked often, must not wait."""
        ...


@runtime_checkable
class CanRevive(Protocol):
    async def revive(self) -> None:
        """Cut a deaf connection so that it resumes with what it missed; a restart of the adapter
        would lose that. Never raises."""
        ...


@runtime_checkable
class CanReact(Protocol):
    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction (a Unicode emoji). Raises a `DeliveryError`."""
        ...


@runtime_checkable
class CanFetch(Protocol):
    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment, at most `limit`. Raises `BadInput` when it is larger,
        a `DeliveryError` when the platform does not give it."""
        ...


@dataclass(frozen=True, slots=True)
class LiveStyle:
    """How a conversation shows an answer that is being written.

    `pause`: seconds between two requests, at least. `fades`: seconds after which what is shown
    vanishes unless it is shown again, 0 for never. `costs`: it counts against the send budget.
    """

    pause: float = 1.2
    fades: float = 0.0
    costs: bool = True


@dataclass(frozen=True, slots=True)
class LiveView:
    """What is to be shown of an answer now.

    `key` is the same for the whole answer, also after a restart. `part` is everything so far, with
    what is open closed, as one message; `added` is the Markdown that is new in it. `handle` is what
    the last call returned, empty for the first one.
    """

    key: str
    place: Place
    part: Part
    added: str
    handle: str = ""
    reply_to_id: str = ""
    reply_handle: str = field(default="", repr=False)


@runtime_checkable
class CanShowLive(Protocol):
    def live_style(self, place: Place) -> LiveStyle | None:
        """How it is shown there; None where it cannot be."""
        ...

    async def show_live(self, view: LiveView) -> str:
        """Show it, or change what is shown. Returns the handle of the message that stands there,
        empty for a preview that vanishes by itself. Raises a `DeliveryError`."""
        ...

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Turn the message with the handle `outbound.replaces` into this. Doing it again changes
        nothing. Raises a `DeliveryError`; `Permanent` when it is gone or cannot be changed."""
        ...


@runtime_checkable
class CanAnswerInline(Protocol):
    async def answer_inline(self, query_id: str, suggestions: tuple[Button, ...]) -> None:
        """Offer texts to send for an inline query; `query_id` is the event's id."""
        ...


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `parley doctor`. `advice` says what to do when it is not ok."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


@runtime_checkable
class CanDiagnose(Protocol):
    async def diagnose(self) -> list[Check]:
        """Ask the platform whether credentials, scopes and intents are right. Never raises."""
        ...


class AccountSettings(BaseModel, extra="forbid", frozen=True):
    """Base of an adapter's settings model: the keys under `platforms.<platform>`.

    Secrets are `pydantic.SecretStr`. Every field has a default, so that a section can be empty.
    """

    def configured(self) -> bool:
        """True when the credentials needed to connect are there; otherwise the platform is off."""
        return False

    def missing(self) -> tuple[str, ...]:
        """Names of the credentials that are still needed once any one of them is set."""
        return ()


@dataclass(frozen=True, slots=True)
class SendPace:
    """Sends a second that a platform takes from one account; 0 is no limit.

    `room_per_minute` binds rooms only, beside the limit of every chat.
    """

    platform_per_second: float = 0.0
    chat_per_second: float = 0.0
    room_per_minute: float = 0.0


@dataclass(frozen=True, slots=True)
class AdapterManifest:
    """What is known of an adapter without importing its platform's library.

    Entry points of the group `parley.adapters` name a value of this type. `load` is
    "package.module:Class"; the class is called as `Class(settings, context)`.
    """

    platform: str
    title: str
    settings: type[AccountSettings]
    capabilities: Capabilities
    dialect: Dialect
    load: str
    dedupe_for: timedelta = timedelta(hours=24)
    """How long the platform may send the same event again."""
    pace: SendPace = SendPace()
    live: "Callable[[Place], LiveStyle | None] | None" = None
    """As `CanShowLive.live_style`, for a process that holds no connection."""


# --- the model ----------------------------------------------------------------------------------


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
class ToolSpec:
    """A tool as the model sees it. `schema` is the JSON Schema (an object) of its arguments.

    `side_effects` and `secrets` decide, with the role and the audience, who may use it.
    """

    name: str
    description: str
    schema: Mapping[str, object]
    side_effects: bool = True
    secrets: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one call to a model needs. `model` empty means the provider's own default.

    `tool_choice` "none" shows the tools, which earlier messages call, and lets none be called.
    """

    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    model: str = ""
    max_tokens: int = 1024
    tool_choice: Literal["auto", "none"] = "auto"


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
    """The last event of a call; `message` is the whole answer, tool calls included."""

    message: ModelMessage
    stop: StopReason
    usage: Usage
    model: str


ModelEvent: TypeAlias = TextDelta | ModelFinished


class LLMProvider(Protocol):
    """A language model."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Zero or more `TextDelta`, then one `ModelFinished`. Raises a `ModelError`."""
        ...

    async def close(self) -> None: ...


class ToolProvider(Protocol):
    """Where tools come from: an MCP server, or the program itself."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        """What is offered. Raises `ToolError` when the provider is not reachable."""
        ...

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool. Raises `ToolError`."""
        ...

    async def close(self) -> None: ...
