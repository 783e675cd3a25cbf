"""The adapter of one platform account: its interface, its capabilities and its context; and its
manifest, which imports none of the platform's library."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct, field
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_jsonable_python

from gateway.immutable import replace
from gateway.message import Extras, InboundEvent, Outbound, Place, Receipt, TextCut
from gateway.ports.abilities import Check, LiveStyle
from gateway.ports.clock import Clock
from gateway.ports.conversations import OwnConversations
from gateway.ports.http_routes import WebhookRoutes
from gateway.ports.rights import Allowed
from gateway.ports.work_guard import UNGUARDED, WorkGuard
from gateway.text import ENGLISH, Language


class PlatformExtras(Protocol):
    """A frozen dataclass of an adapter; each of its fields has a default and is JSON."""

    @property
    def details(self) -> str:
        """The extras in a few words without a person's text, such as "2 mentions, @everyone";
        empty where there is nothing to say."""
        ...


Kind = TypeVar("Kind", bound=PlatformExtras)


def packed(extras: PlatformExtras) -> Extras | None:
    """The extras as a message carries them; None where all are the defaults."""
    if extras == type(extras)():
        return None
    return Extras(to_jsonable_python(extras), extras.details)


def unpacked(kind: type[Kind], extras: Extras | None) -> Kind:
    """The extras of a message as their adapter's type. Raises pydantic's `ValidationError`."""
    return kind() if extras is None else _reader(kind).validate_python(extras.values)


def counted(number: int, name: str) -> str:
    """ "2 mentions"; empty for none."""
    return f"{number} {name}{'s' * (number != 1)}" if number else ""


@cache
def _reader(kind: type[Kind]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class Capabilities(Struct, frozen=True):
    """Facts of a platform that no method of its adapter shows; the contract suite proves each."""

    answers_open_threads: bool = False
    """An answer to a message in a room starts a thread under it (Slack)."""
    joins_threads: bool = False
    """A thread is a conversation of its own that the bot can be part of; false for topics that
    gather a whole room (Telegram forums)."""
    ephemeral: bool = False
    """A message can be shown to one person of a room alone."""
    tappable_commands: bool = False
    """A command in plain text can be tapped, one in code cannot (Telegram)."""
    commands_wait: bool = False
    """People see that a command waits until it is answered, or until an `Outbound` with nothing in
    it takes that sign away (Discord's "thinking")."""
    idempotent_sends: bool = False
    """A repeated `Outbound.key` is recognised by the platform and shown once; nothing is said of
    messages that one person alone sees in a room, or as answer to a command."""
    max_buttons: int = 0
    """The largest number of buttons under one message; 0 for none."""
    file_types: frozenset[str] = frozenset()
    """The media types of files that it sends; none: all of them."""
    quotes_by_id: bool = False
    """Of the message that one replies to, the platform gives the id and no content (WhatsApp); the
    ids of answers are then stored with them."""


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


class Declared(Struct, frozen=True, kw_only=True):
    """Something that declares who may call it."""

    allowed: Allowed
    """The credentials and roles that may call it."""

    def __post_init__(self) -> None:
        if not isinstance(self.allowed, Allowed):
            raise TypeError(f"{self}: declare who may call it")


HelpGroup = Literal["first", "memory", "access", "others"]
"""The part of the help in which a command stands: what most people need, memory and privacy, what
approvers need, or what is shown on request."""


Words: TypeAlias = Any
"""A `Text`; a `str` in the commands that an adapter gets, which are in one language."""


class CommandSpec(Declared, frozen=True):
    """A command that is registered with the platforms. `allowed` has the least role of the person
    who may write it."""

    name: str
    """The name in lower case, without a slash."""
    description: Words
    """The line that platforms show beside the name, in at most 100 characters."""
    takes_arguments: bool = False
    """True if text may follow the name."""
    argument_name: str = "question"
    """The name of that text, where a platform asks for one."""
    argument_optional: bool = False
    """True if the command also works without it."""
    argument_help: Words = ""
    """The possible arguments, in at most 100 characters; empty: the argument's name."""
    takes_files: bool = False
    """True if a message with a file can be this command."""
    deletes: bool = False
    """True if it can delete what earlier commands of the person contain."""
    help_group: HelpGroup = "others"
    """The part of the help in which it stands."""

    def shown(self, language: Language) -> "CommandSpec":
        """Return the command with its words in a language, as adapters take it."""
        return replace(
            self,
            description=language.words(self.description),
            argument_help=language.words(self.argument_help),
        )


class CommandLanguages(Struct, frozen=True):
    """The words of the commands in the languages of the installation. Both methods read files:
    call them in a thread."""

    mark: Callable[[], str]
    """Returns a short text that changes with the words."""
    load: Callable[[], Mapping[str, tuple[CommandSpec, ...]]]
    """Returns the commands by language ("pt_BR"), without English and without languages that have
    no words of their own for them."""


LanguageOfReader: TypeAlias = Callable[[Place, str, str], Awaitable[Language]]
"""Returns the language of the person with this id at a place; the last value is what their browser
or platform tells, such as a header `Accept-Language`. Never raises."""


async def in_english(_place: Place, _person: str, _told: str) -> Language:
    """Return English for everybody."""
    return ENGLISH


class AdapterContext(Struct, frozen=True):
    """The dependencies of an adapter."""

    account: str
    """The account: "main" unless several are configured."""
    assistant_name: str
    """The name of the assistant, for texts that the adapter writes."""
    clock: Clock
    """The clock; an adapter asks no other one."""
    state: AdapterState
    """A store of the adapter that is lost with Redis."""
    webhooks: WebhookRoutes
    """The paths of the public listener, where an adapter registers its own."""
    count: Counter
    """Counts an event by its name, for the metrics."""
    commands: tuple[CommandSpec, ...] = ()
    """The commands to register at the platform, in English."""
    command_languages: CommandLanguages | None = None
    """Their words in other languages."""
    guard: WorkGuard = UNGUARDED
    """The guard of crashing work: an adapter parses a delivery as its work, and acknowledges a
    quarantined one without parsing it."""
    own_conversations: OwnConversations | None = None
    """Reads what is stored of a person's direct conversations; None: nothing is."""
    language_of: LanguageOfReader = in_english
    """The language in which a person reads the adapter's own sentences."""
    long_lived: AdapterState | None = None
    """A store in the database, for values without which messages go to the wrong place; None where
    there is no other than `state`."""

    voice_seconds: int = 0
    """Seconds of the longest voice message that is listened to; 0: none is."""

    @property
    def lasting(self) -> AdapterState:
        """The state that outlives the hot state, as far as there is one."""
        return self.long_lived or self.state


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
    """The platform's name, in lower case."""
    account: str
    """The account of the adapter."""
    key: str
    """The key, unique within the account."""
    value: str
    """The value, at most 4,000 characters."""


class AdapterStates(Protocol):
    """The durable states of all adapters."""

    def of(self, platform: str, account: str) -> AdapterState:
        """Return the state of this account."""

    def entries(self) -> AsyncIterator[StateEntry]:
        """Yield all values, including expired ones."""

    async def delete(self, entries: Sequence[StateEntry]) -> None:
        """Delete these values."""


class AccountSettings(BaseModel, extra="forbid", frozen=True):
    """Base of an adapter's settings model: the keys under `platforms.<platform>`.

    Secrets are `pydantic.SecretStr`. Every field has a default, so that a section can be empty.
    """

    def configured(self) -> bool:
        """Return True if the credentials needed to connect are set; otherwise the platform is
        off."""
        return False

    def missing(self) -> tuple[str, ...]:
        """Return the names of missing credentials once any one of them is set."""
        return ()


class SendPace(Struct, frozen=True):
    """Sends that a platform accepts from one account; 0 is no limit."""

    platform_per_second: float = 0.0
    """Sends of the account to all chats together, a second."""
    chat_per_second: float = 0.0
    """Sends to one chat, a second."""
    room_per_minute: float = 0.0
    """Sends to one room, a minute, beside the limit of every chat."""


class SettingChoices(Struct, frozen=True):
    """The possible values of a setting, as the platform lists them."""

    values: tuple[tuple[str, str], ...] = ()
    """Pairs of a value and its title."""
    failed: tuple[Check, ...] = ()
    """The check that names a refused credential; the values are empty then."""


class AdapterManifest(Struct, frozen=True):
    """The description of an adapter that imports none of its platform's library. Entry points of
    the group `parley.adapters` name a value of this type."""

    platform: str
    """The platform's name, in lower case, as the configuration names it."""
    title: str
    """The name for people."""
    settings: type[AccountSettings]
    """The model of the keys under `platforms.<platform>`."""
    load: str
    """"package.module:Class"; the class is called as `Class(settings, context)`."""
    capabilities: Capabilities = field(default_factory=Capabilities)
    """The abilities of the platform's messages."""
    abilities: tuple[type, ...] = ()
    """The protocols of `REMOTE_ABILITIES` that the adapter has, for a process that holds no
    connection and does not import the adapter. Where it is connected, its methods decide."""
    renderer: str = ""
    """"package.module:function" of a `Renderer`; empty: answers are plain text."""
    dedupe_for: timedelta = timedelta(hours=24)
    """The time within which the platform may deliver the same event again."""
    text_cut: TextCut | None = None
    """Where the platform's clients cut a long text; None where they send it as one message."""
    writes_within: timedelta | None = None
    """The time after a person's message within which the platform takes any message to them; None
    without such a limit."""
    pace: SendPace = SendPace()
    """The send rates that the platform accepts."""
    loggers: tuple[str, ...] = ()
    """Loggers of the platform's library whose warnings repeat our own events."""
    live: "Callable[[Place], LiveStyle | None] | None" = None
    """Like `CanShowLive.live_style`, for a process without a connection."""
    identify: str = ""
    """For platforms with several ids per person: "package.module:function" of `async (AdapterState,
    id) -> ids`, the ids under which the chat knows the person of this id. The adapter then stores
    all ids of a person (`keep_ids`)."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """Settings that the platform can list with the other credentials, for `parley init`:
    "package.module:function" of `async (AccountSettings) -> SettingChoices`, which never raises, by
    setting."""
