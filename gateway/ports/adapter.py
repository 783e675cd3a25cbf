"""One connected account of one platform: its methods, its context and its capabilities."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from gateway.message import InboundEvent, Outbound, Receipt
from gateway.ports.clock import Clock
from gateway.ports.webhooks import WebhookRoutes
from gateway.ports.work_guard import UNGUARDED, WorkGuard


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Facts of a platform that no method of its adapter shows; the contract suite proves each.

    `answers_open_threads`: an answer to a message in a room starts a thread under it (Slack).
    `joins_threads`: a thread is a conversation of its own that the bot can be part of; false for
    topics that gather a whole room (Telegram forums).
    `ephemeral`: a message can be shown to one person of a room alone.
    `commands_wait`: people see that a command waits until it is answered, or until an `Outbound`
    with nothing in it takes that sign away (Discord's "thinking").
    `idempotent_sends`: a repeated `Outbound.key` is recognised by the platform and shown once.
    `max_buttons` is the largest number under one message, 0 for none.
    """

    answers_open_threads: bool = False
    joins_threads: bool = False
    ephemeral: bool = False
    commands_wait: bool = False
    idempotent_sends: bool = False
    max_buttons: int = 0


class EventSink(Protocol):
    """Takes the events that an adapter receives.

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


class Counter(Protocol):
    """Counts what happened: `count("ignored", "poll_answer")`."""

    def __call__(self, what: str, detail: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command to register with the platforms that know such a thing. `argument_help` lists what
    may be written after the command, in at most 100 characters; empty: the argument's name.
    `takes_files`: a message with a file can be this command."""

    name: str
    description: str
    takes_arguments: bool = False
    argument_name: str = "question"
    argument_optional: bool = False
    argument_help: str = ""
    takes_files: bool = False


@dataclass(frozen=True, slots=True)
class AdapterContext:
    """The program's part of an adapter. `account` is "main" unless several are configured. An
    adapter parses a delivery as work of the `guard`, and acknowledges an exhausted one unread."""

    account: str
    assistant_name: str
    clock: Clock
    state: AdapterState
    webhooks: WebhookRoutes
    count: Counter
    commands: tuple[CommandSpec, ...] = ()
    guard: WorkGuard = UNGUARDED


@runtime_checkable
class PlatformAdapter(Protocol):
    """One connected account of one platform.

    Optional abilities are the `Can...` protocols of `gateway.ports.abilities`: an adapter has those
    whose methods it has.
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
