"""The adapter of one platform account: its interface, its capabilities and its context."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, Protocol, runtime_checkable

from gateway.message import InboundEvent, Outbound, Receipt
from gateway.ports.clock import Clock
from gateway.ports.webhooks import WebhookRoutes
from gateway.ports.work_guard import UNGUARDED, WorkGuard


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The capabilities of a platform. The contract suite proves each true value.

    `answers_open_threads`: an answer to a message in a room starts a thread under it (Slack).
    `joins_threads`: a thread is a conversation of its own that the bot can be part of; false for
    topics that gather a whole room (Telegram forums). `idempotent_sends`: the platform recognises a
    repeated `Outbound.key` and shows it once. `live`: an answer can be shown while it is generated,
    in some kind of conversation at least. `commands_wait`: people see that a command waits until it
    is answered, or until an empty `Outbound` removes that sign (Discord's "thinking").
    `further_ids`: people have several immutable ids, and the adapter stores them (`keep_ids`).
    `tells_members`: the platform can be asked if a person belongs to a workspace or room.
    `clears_buttons`: the buttons under a message can be removed (`clear_buttons`). `max_buttons` is
    the highest number under one message, 0 for none.
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
    further_ids: bool = False
    tells_members: bool = False
    clears_buttons: bool = False
    max_buttons: int = 0


class EventSink(Protocol):
    """Takes the events of an adapter.

    Returns when the event is stored (or ignored): only then may the adapter acknowledge it to the
    platform. Raises `StoreUnavailable` if it could not be stored; the adapter then leaves the event
    unacknowledged, so that the platform delivers it again.
    """

    async def __call__(self, event: InboundEvent) -> None: ...


class AdapterState(Protocol):
    """A small durable key-value store of one adapter: WhatsApp windows, read positions.

    Keys have at most 200 characters, values at most 4,000; expired values read as None.
    """

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, value: str, ttl: timedelta) -> None: ...


class Counter(Protocol):
    """Counts events by name: `count("ignored", "poll_answer")`."""

    def __call__(self, what: str, detail: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command that is registered with the platforms. `argument_help` lists the possible arguments
    in at most 100 characters; empty: the argument's name. `takes_files`: a message with a file can
    be this command."""

    name: str
    description: str
    takes_arguments: bool = False
    argument_name: str = "question"
    argument_optional: bool = False
    argument_help: str = ""
    takes_files: bool = False


@dataclass(frozen=True, slots=True)
class AdapterContext:
    """The dependencies of an adapter. `account` is "main" unless several are configured. An adapter
    parses a delivery as work of the `guard`, and acknowledges a quarantined one without parsing it.
    """

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
    """One connected account of one platform. Optional abilities are the `Can...` protocols."""

    @property
    def platform(self) -> str: ...

    @property
    def account(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def connect(self, sink: EventSink) -> None:
        """Connect and pass events to `sink`; return once the platform accepted the connection.

        Raises `StartError`. May be called again after `disconnect`.
        """

    async def wait_closed(self) -> None:
        """Return after `disconnect`; raise `StartError` if the connection failed permanently."""

    async def disconnect(self) -> None:
        """Stop receiving and close every socket. Safe to call twice, and before `connect`."""

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file, once. Raises a `DeliveryError`; never retries."""


class StateEntry(NamedTuple):
    """A stored value of an adapter."""

    platform: str
    account: str
    key: str
    value: str


class AdapterStates(Protocol):
    """The durable states of all adapters."""

    def of(self, platform: str, account: str) -> AdapterState:
        """Return the state of this account."""

    def entries(self) -> AsyncIterator[StateEntry]:
        """Yield all values, including expired ones."""

    async def delete(self, entries: Sequence[StateEntry]) -> None:
        """Delete these values."""
