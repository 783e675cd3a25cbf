"""Every key of the configuration, as frozen pydantic models: types, defaults, bounds, meaning.

The text under a field is its documentation: `docs/configuration.md` is made from it.
"""

from ipaddress import ip_network
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    model_validator,
)

from gateway.people import Audience, Role
from gateway.policy.invocation import Trigger
from parley.http.access import is_loopback_name

NAME_PATTERN: Final = r"^[a-z][a-z0-9_-]{0,39}$"
MAIN: Final = "main"
"""Name of the account whose keys stand directly under the platform."""
OWN_PLATFORMS: Final = ("discord", "slack", "telegram", "whatsapp", "web")
"""The platforms that come with Parley, in the order people are told of them."""
MEMORY: Final = "memory://"
MAX_PERSONA: Final = 10_000
MAX_FALLBACKS: Final = 4

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
"""A name that we choose ourselves: lower case, so that the environment can spell it."""


def _not_main(value: str) -> str:
    if value == MAIN:
        raise ValueError("is the account whose keys stand directly under the platform")
    return value


AccountName = Annotated[Name, AfterValidator(_not_main)]


def _id_as_text(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


Id = Annotated[
    str,
    BeforeValidator(_id_as_text),
    StringConstraints(min_length=1, max_length=200, strip_whitespace=True),
]
"""An id of a platform, bare or as "platform:id"; numbers need no quotes."""


def _http_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("should be an address that begins with https:// (or http://)")
    return value


HttpUrl = Annotated[str, AfterValidator(_http_url)]


def _database_url(value: str) -> str:
    if value != MEMORY and not sqlite_file(value) and not value.startswith("postgresql://"):
        raise ValueError("should be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE")
    return value


def _storage_url(value: str) -> str:
    redis = value.startswith(("redis://", "rediss://"))
    if value != MEMORY and not sqlite_file(value) and not redis:
        raise ValueError("should be sqlite:///FILE or redis://HOST:PORT/NUMBER")
    return value


def _network(value: str) -> str:
    try:
        return str(ip_network(value.strip(), strict=False))
    except ValueError:
        raise ValueError("should be an address or a network such as 10.0.0.0/8") from None


NetworkText = Annotated[str, AfterValidator(_network)]
LOOPBACK: Final = ("127.0.0.0/8", "::1/128")

DatabaseUrl = Annotated[str, AfterValidator(_database_url)]
StorageUrl = Annotated[str, AfterValidator(_storage_url)]
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
IdList = Annotated[tuple[Id, ...], Field(min_length=1)]
"""An empty list of who is allowed could mean nobody or everybody: it is refused."""


class Section(BaseModel):
    """Base of all sections: unknown keys are refused, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ChannelAssistant(Section):
    """What the assistant is in one channel."""

    persona: str | None = Field(default=None, max_length=MAX_PERSONA)
    """Replaces the general persona in this channel."""
    model: str | None = Field(default=None, max_length=200)
    """Name of the model used in this channel."""


class Assistant(Section):
    """Who answers."""

    name: str = Field(default="Parley", min_length=1, max_length=80)
    """What the assistant is called in its prompt and its messages."""
    persona: str = Field(default="", max_length=MAX_PERSONA)
    """What it is for and how it speaks, in your words; part of every prompt and never cut: what the
    smallest model has no room for is refused at the start."""
    channels: dict[Id, ChannelAssistant] = {}
    """By channel id ("platform:id" or bare): another persona or model there."""


class ModelChoice(Section):
    """One language model."""

    provider: Literal["offline", "anthropic", "openai"] = "offline"
    """`anthropic`, `openai` (any OpenAI-compatible endpoint), or `offline`, which needs nothing
    and says so. Without this key: `anthropic` when there is an API key, otherwise `offline`."""
    name: str = Field(default="", max_length=200)
    """Name of the model; empty takes the provider's default. Needed for `openai`."""
    api_key: SecretStr | None = None
    """Key of the service. Without it `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` is taken, by
    provider."""
    base_url: HttpUrl | None = None
    """Another address of the service: a proxy, a local server."""
    max_tokens: int = Field(default=4096, ge=16, le=128_000)
    """Longest answer, in tokens."""
    window: int = Field(default=200_000, ge=2_048, le=10_000_000)
    """Tokens that the model takes at once; how much of it each block of a prompt may fill goes by
    the smallest of all models."""
    timeout: float = Field(default=60.0, gt=0, le=600)
    """Seconds to wait for the service."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.provider == "anthropic" and not _filled(self.api_key):
            raise ValueError("needs api_key for provider anthropic (or set ANTHROPIC_API_KEY)")
        if self.provider == "openai":
            if not self.name:
                raise ValueError("needs name for provider openai, there is no default model")
            if not _filled(self.api_key) and self.base_url is None:
                raise ValueError("needs api_key for provider openai, or the base_url of a server")
        return self


class Model(ModelChoice):
    """The language model that answers."""

    patience: float = Field(default=90.0, ge=0, le=110)
    """Seconds of a question for which models that do not answer are asked again, with growing
    pauses; then one sentence says that there is no answer. A question may take 120 in all."""
    fallbacks: tuple[ModelChoice, ...] = Field(default=(), max_length=MAX_FALLBACKS)
    """Models that are asked in turn when the one before them does not answer; the same keys."""


class McpServer(Section):
    """One MCP server: a program to start (`command`), or an address (`url`)."""

    command: str | None = Field(default=None, min_length=1)
    """Program to start; it speaks MCP over its standard input and output."""
    args: tuple[str, ...] = ()
    """Arguments of the program."""
    env: dict[str, SecretStr] = {}
    """Environment variables of the program, beside a minimal set of ours."""
    cwd: str | None = None
    """Folder the program runs in."""
    url: HttpUrl | None = None
    """Address of a server that speaks MCP over streamable HTTP."""
    headers: dict[str, SecretStr] = {}
    """Headers of every request, such as `Authorization`."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either command (a program) or url (an address), not both")
        if self.url is not None and (self.args or self.env or self.cwd):
            raise ValueError("args, env and cwd belong to command; a url takes headers only")
        if self.command is not None and self.headers:
            raise ValueError("headers belong to url; a command takes args, env and cwd")
        return self


class Mcp(Section):
    """Where tools come from."""

    servers: dict[Name, McpServer] = {}
    """By a name of your choice; a server's tools are called `name__tool`."""


LoadText = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*$", max_length=200),
]
"""`package.module:function`."""


class Extensions(Section):
    """Packages that add tenants, tracking, audit or access (docs/extensions.md). What is installed
    is loaded by itself; where one cannot be loaded the program does not start."""

    load: dict[Name, LoadText] = {}
    """Further ones, by a name of your choice: `package.module:function`."""
    skip: tuple[Name, ...] = ()
    """Installed ones that are not loaded, by the name of their entry point."""
    options: dict[Name, dict[Name, SecretStr]] = {}
    """Options of each extension, by its name."""


class ToolRule(Section):
    """Who may use a tool, and in front of whom."""

    role: Role = Role.MEMBER
    """The least role: guest, member, operator or owner."""
    audiences: tuple[Audience, ...] = tuple(Audience)
    """Where: direct, private_room, public_room."""


class Price(Section):
    """Dollars per million tokens of one model."""

    input: Dollars
    """Tokens sent."""
    output: Dollars
    """Tokens written by the model."""
    cache_read: Dollars | None = None
    """Tokens read from the service's cache; empty counts them as `input`."""
    cache_write: Dollars | None = None
    """Tokens written to the service's cache; empty counts them as `input`."""


class Budgets(Section):
    """Hard limits on money, in US dollars. Days and months are of UTC; empty is unlimited."""

    user_per_day: Dollars | None = None
    """What one person may cost in a day."""
    user_per_month: Dollars | None = None
    """What one person may cost in a month."""
    workspace_per_day: Dollars | None = None
    """What one workspace (server, team, or all of a platform's direct chats) may cost in a day."""
    workspace_per_month: Dollars | None = None
    """What one workspace may cost in a month."""
    user_share: float = Field(default=0.25, gt=0, le=1)
    """Share of a workspace's budget that one person may use where no limit of a person is set for
    the same period."""
    prices: dict[str, Price] = {}
    """By model name. The known models have theirs built in; where a budget is set, a model without
    a price is not asked."""


class Limits(Section):
    """How many questions a minute are answered; 0 lifts a limit."""

    user_per_minute: int = Field(default=5, ge=0, le=10_000)
    """Of one person."""
    channel_per_minute: int = Field(default=20, ge=0, le=100_000)
    """In one channel."""
    workspace_per_minute: int = Field(default=100, ge=0, le=1_000_000)
    """In one workspace. Where a platform has none, as Telegram and WhatsApp, only the two limits
    above hold."""
    reserve_per_minute: int = Field(default=1, ge=0, le=100)
    """What one person still gets answered when others have used up the channel or the workspace; in
    all, the limit and as much for each person who writes."""
    api_per_minute: int = Field(default=120, ge=0, le=100_000)
    """Requests of one person to the HTTP interface (docs/api.md)."""


Prefix = Annotated[str, StringConstraints(min_length=1, max_length=40)]


class ChannelInvocation(Section):
    """What makes the assistant answer in one channel."""

    triggers: tuple[Trigger, ...] | None = None
    """Replaces the general triggers in this channel; an empty list silences it."""
    prefix: Prefix | None = None
    """Replaces the general prefix in this channel."""


class Invocation(Section):
    """What makes the assistant answer at all. Everything else is forgotten unread."""

    triggers: tuple[Trigger, ...] = (Trigger.MENTION, Trigger.DIRECT_MESSAGE, Trigger.REPLY)
    """Any of mention, direct_message, reply (to the assistant), prefix, thread (it has spoken
    there), all."""
    prefix: Prefix | None = None
    """A beginning such as `!ask` that is meant for the assistant; setting it is enough."""
    ignore_bots: bool = True
    """Never answer other bots."""
    ignore_if_mentions_others: bool = False
    """Stay out when a message mentions other people and not the assistant."""
    channels: dict[Id, ChannelInvocation] = {}
    """By channel id ("platform:id" or bare): other triggers there."""


class Access(Section):
    """Who is served. Ids only, "platform:id" or bare; names decide nothing. A list that is set
    refuses everybody else; leave it out to serve everybody."""

    allowed_channels: IdList | None = None
    """Only these channels are served."""
    blocked_channels: tuple[Id, ...] = ()
    """These channels are never served."""
    allowed_users: IdList | None = None
    """Only these people are served."""
    blocked_users: tuple[Id, ...] = ()
    """These people, and accounts that are linked with theirs, are never served."""
    allowed_workspaces: IdList | None = None
    """Only these workspaces are served: ids of Discord's servers and Slack's teams, or "telegram:*"
    for a whole platform. What is in none of them is refused, Discord's direct messages included,
    but for those of people in `allowed_users`."""
    blocked_workspaces: tuple[Id, ...] = ()
    """These workspaces are never served."""
    owners: tuple[Id, ...] = ()
    """People with the role owner: everything."""
    operators: tuple[Id, ...] = ()
    """People with the role operator."""
    members: tuple[Id, ...] = ()
    """People with the role member; needed only when `default_role` is guest."""
    default_role: Literal["member", "guest"] = "member"
    """Everybody else's role."""


class Context(Section):
    """How much of a conversation the model sees."""

    max_messages: int = Field(default=10, ge=1, le=200)
    """Messages."""
    max_tokens: int = Field(default=2000, ge=100, le=200_000)
    """Tokens, estimated."""
    ttl_hours: float = Field(default=24, gt=0, le=8_760)
    """Hours after which a quiet conversation is forgotten."""
    keep: Literal["history", "knowledge"] = "history"
    """What stays longer where a prompt is too long for the model: what was said, which cannot be
    recalled again, or what was recalled, where single questions are answered."""


class Conversation(Section):
    """What happens to messages that arrive while an answer is being written."""

    overlap: Literal["collect", "queue", "drop"] = "collect"
    """`collect` answers them together afterwards, `queue` one by one, `drop` not at all."""


class Workers(Section):
    """How much happens at once."""

    concurrency: int = Field(default=16, ge=1, le=1_000)
    """Conversations answered side by side; one conversation is always answered in order. A
    question that waits between two tries of a model that does not answer is not counted, as long as
    no more than 256 of them wait, with 128 MB of pictures."""


class Watchdog(Section):
    """Ends a program that hangs, so that its supervisor starts it anew."""

    seconds: float = Field(default=20, ge=0, le=3_600)
    """Seconds for which the event loop may stand still; then the stacks of all threads are logged
    and the process ends. Less than 5 may end a busy program that does not hang. 0 turns it off."""
    folder: str | None = Field(default=None, min_length=1, max_length=1_000)
    """Folder for the record of the work that a process has begun, which the next process reads
    after a death. It has to outlive the process. Empty: beside the SQLite file, or without one the
    folder the program runs in."""


class Delivery(Section):
    """How answers leave."""

    chat_per_second: float | None = Field(default=None, gt=0, le=1_000)
    """Messages a second into one chat; empty takes what the platform bears."""
    platform_per_second: float | None = Field(default=None, gt=0, le=1_000)
    """Messages a second to one platform; empty takes what the platform bears."""
    lifetime_hours: float = Field(default=24, gt=0, le=168)
    """Hours after which an answer that could not be delivered is given up."""
    repeat_ambiguous: bool = True
    """Send again, up to five times and below a note that says so, when nobody knows whether a
    message arrived; off gives it up. Discord recognises repetitions and needs no note."""
    live: bool = True
    """Show answers while they are written, where the platform can; off shows them when they are
    complete."""
    acknowledge: str = Field(default="", max_length=16)
    """An emoji, such as 👀, that stands under a message while its answer is made, where the
    platform can; empty shows none."""


class Database(Section):
    """What lasts: conversations, usage, traces."""

    url: DatabaseUrl = "sqlite:///data/parley.db"
    """`sqlite:///FILE` or `postgresql://…`; a relative file counts from the folder the program runs
    in. `?synchronous=full` behind it waits for the disk each time. `memory://` keeps nothing."""


class Storage(Section):
    """What moves: accepted messages, answers on their way, limits."""

    url: StorageUrl | None = None
    """`sqlite:///FILE`, or `redis://…` which several processes can share; empty is the same as
    `database.url` where that is a file, and otherwise `sqlite:///data/parley.db`."""


class Server(Section):
    """The local listener: page, health. Not for the public network."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on. Anything but this machine needs a `token`."""
    port: int = Field(default=8081, ge=0, le=65_535)
    """Port; 0 takes a free one."""
    trusted_proxies: tuple[NetworkText, ...] = Field(default=LOOPBACK, max_length=100)
    """Networks of reverse proxies in front of this port. Only theirs is the `X-Forwarded-For` that
    names a sender, and the share of connections of one sender does not hold for them."""
    token: SecretStr | None = Field(default=None, min_length=16)
    """What a caller has to show; at least 16 characters."""
    token_key: SecretStr | None = Field(default=None, min_length=32)
    """Signs the tokens of `parley token`; at least 32 characters. Empty makes one in a file beside
    the database; several machines, or PostgreSQL, need the same one here."""

    @model_validator(mode="after")
    def _closed(self) -> Self:
        if not is_loopback_name(self.host) and not _filled(self.token):
            raise ValueError("needs token when host is not this machine (127.0.0.1)")
        return self


class Webhooks(Section):
    """The public listener: the platforms' webhooks and nothing else. It runs only when a platform
    needs it."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on; behind a reverse proxy on the same machine leave it."""
    port: int = Field(default=8080, ge=0, le=65_535)
    """Port; 0 takes a free one."""
    trusted_proxies: tuple[NetworkText, ...] = Field(default=LOOPBACK, max_length=100)
    """Networks of reverse proxies in front of this port. Only theirs is the `X-Forwarded-For` that
    names a sender, and the share of connections of one sender does not hold for them."""


class Observe(Section):
    """What can be seen of the program from outside. Figures for Prometheus are at `/metrics` of the
    local listener."""

    log_format: Literal["text", "json"] = "text"
    """`text` for people, `json` for machines: one line per event, on standard error."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important lines that are written. None of them holds what people write."""
    otlp_endpoint: HttpUrl | None = None
    """Address of an OpenTelemetry collector (OTLP over HTTP), such as `http://127.0.0.1:4318`, that
    gets a trace of every exchange; empty takes `OTEL_EXPORTER_OTLP_ENDPOINT`, or sends none. Needs
    `pip install -e '.[otel]'`."""


def _filled(secret: SecretStr | None) -> bool:
    return secret is not None and bool(secret.get_secret_value())


def sqlite_file(url: str) -> str:
    """The file behind `sqlite:///FILE?options`, empty when it is something else."""
    if not url.startswith("sqlite:///"):
        return ""
    return url.removeprefix("sqlite:///").partition("?")[0]
