"""Every key of the configuration, as frozen pydantic models: types, defaults, bounds, meaning.

The text under a field is its documentation: `docs/reference/configuration.md` is generated from it.
"""

import re
from ipaddress import ip_network
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    Field,
    SecretStr,
    StringConstraints,
    model_validator,
)

from gateway.llm.chat_completions.limits import Part
from gateway.policy.budgets import Budgets
from gateway.policy.persona import Disclosure
from gateway.ports.model import BETWEEN_TOKENS_SECONDS, FIRST_TOKEN_SECONDS
from gateway.settings import Dollars, Id, Section
from safety.http.addresses import is_loopback_name

NAME_PATTERN: Final = r"^[a-z][a-z0-9_-]{0,39}$"
MAIN: Final = "main"
"""Name of the account whose keys stand directly under the platform."""
OWN_PLATFORMS: Final = ("discord", "slack", "telegram", "whatsapp", "web")
"""The platforms that come with Parley, in the order people are told of them."""
MEMORY: Final = "memory://"
MAX_PERSONA: Final = 10_000
MAX_FALLBACKS: Final = 4
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
"""A name of the user's choice: lower case, because environment variables ignore case."""


def _not_main(value: str) -> str:
    if value == MAIN:
        raise ValueError("is the account whose keys stand directly under the platform")
    return value


AccountName = Annotated[Name, AfterValidator(_not_main)]


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
HostText = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9:]([A-Za-z0-9:._-]*[A-Za-z0-9:])?$", max_length=253)
]
LOOPBACK: Final = ("127.0.0.0/8", "::1/128")

DatabaseUrl = Annotated[str, AfterValidator(_database_url)]
StorageUrl = Annotated[str, AfterValidator(_storage_url)]
IdList = Annotated[tuple[Id, ...], Field(min_length=1)]
"""An empty list of allowed ids is ambiguous (nobody or everybody), so it is refused."""


class ChannelAssistantSection(Section):
    """The assistant in one channel."""

    persona: str | None = Field(default=None, max_length=MAX_PERSONA)
    """Replaces the general persona in this channel."""
    model: str | None = Field(default=None, max_length=200)
    """Name of the model used in this channel."""


class AssistantSection(Section):
    """The assistant that answers."""

    name: str = Field(default="Parley", min_length=1, max_length=80)
    """Name of the assistant in its prompt and its messages."""
    persona: str = Field(default="", max_length=MAX_PERSONA)
    """Purpose and tone of the assistant, in your words. It follows the name in every prompt and is
    never cut; a persona that is too long for the smallest model is refused at the start."""
    disclosure: Disclosure = "off"
    """`first_contact`: the first answer to a person in each place says that an AI model writes, and
    no person; in the language of that person. `off`: nothing is said about it."""
    channels: dict[Id, ChannelAssistantSection] = Field(default={})
    """By channel id ("platform:id" or bare): another persona or model there."""


ModelName = Annotated[str, StringConstraints(max_length=200)]


class ModelChoiceSection(Section):
    """One language model."""

    provider: Literal["offline", "anthropic", "openai"] = "offline"
    """`anthropic`, `openai` (any OpenAI-compatible endpoint), or `offline`, a built-in substitute
    that needs no service. Default: `anthropic` when there is an API key, otherwise `offline`."""
    name: ModelName = ""
    """Name of the model; empty takes the provider's default. Required for `openai`."""
    api_key: SecretStr | None = None
    """Key of the service. Default: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, by provider."""
    auth_token: SecretStr | None = None
    """Token for `anthropic`, of a proxy or of a login at the service; used instead of `api_key`."""
    headers: dict[str, SecretStr] = Field(default={}, max_length=20)
    """Headers that are added to each request to `anthropic`, such as those of a proxy."""
    web: bool = False
    """Let the service of `anthropic` search the web and fetch pages by itself while it answers, at
    most five times each in a call. Answers name their sources as links. The rules of `tools` apply
    to `web_search`."""
    base_url: HttpUrl | None = None
    """Address of the service, if it is not the provider's own: a proxy or a local server."""
    api: Literal["auto", "responses", "chat"] = "auto"
    """For provider `openai`: `responses` (OpenAI's Responses API, in which its reasoning models
    take tools) or `chat` (chat completions). `auto` is `responses` at api.openai.com and `chat`
    everywhere else."""
    max_tokens: int = Field(default=4096, ge=16, le=128_000)
    """Maximum length of an answer, in tokens."""
    window: int = Field(default=200_000, ge=2_048, le=10_000_000)
    """Tokens in the context window of the model, prompt and answer together. Parley uses less where
    the server names a smaller window, or refuses a prompt as too long. The smallest window of all
    models sets the size of the blocks of a prompt."""
    first_token_seconds: float = Field(default=FIRST_TOKEN_SECONDS, gt=0, le=3_600)
    """Seconds until anything of an answer arrives; then the next model is asked. A local model
    reads a long prompt for a minute or more."""
    between_tokens_seconds: float = Field(default=BETWEEN_TOKENS_SECONDS, gt=0, le=3_600)
    """Seconds between two pieces of an answer, reasoning included; after that the answer counts as
    broken off."""
    timeout: float | None = Field(default=None, gt=0, le=600)
    """Former name of both limits: the value of each of the two that is not set."""
    without: tuple[Part, ...] = ()
    """For provider `openai`: parts of a request that the server does not take. Parley finds them
    out too, with one refused request for each."""
    pdf: bool | None = None
    """Send pages of PDFs that are pictures to this model. Empty: to `anthropic` and at
    api.openai.com, to no other server."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.provider == "anthropic":
            if not _filled(self.api_key) and not _filled(self.auth_token):
                raise ValueError("needs api_key for provider anthropic (or set ANTHROPIC_API_KEY)")
            for name, value in self.headers.items():
                if problem := _header_problem(name, value.get_secret_value()):
                    raise ValueError(f"headers.{name}: {problem}")
        elif self.auth_token or self.headers or self.web:
            raise ValueError("auth_token, headers and web are for provider anthropic")
        if self.provider != "openai" and (self.api != "auto" or self.without):
            raise ValueError("api and without are for provider openai")
        if self.provider == "openai":
            if not self.name:
                raise ValueError("needs name for provider openai, there is no default model")
            if not _filled(self.api_key) and self.base_url is None:
                raise ValueError("needs api_key for provider openai, or the base_url of a server")
        return self


class ModelSection(ModelChoiceSection):
    """The language model that answers."""

    turn_seconds: float = Field(default=600.0, gt=0, le=3_600)
    """Seconds that a question may take in all, with every call of a model and every tool. After
    that, the reply says so."""
    retry_seconds: float = Field(default=90.0, ge=0, le=3_600)
    """Seconds for which failing models are retried for one question, with growing pauses. After
    that, the reply says that there is no answer."""
    fallbacks: tuple[ModelChoiceSection, ...] = Field(default=(), max_length=MAX_FALLBACKS)
    """Models that are tried in this order when the previous one fails; the same keys, without
    `turn_seconds`, `retry_seconds` and `fallbacks`."""


class McpServerSection(Section):
    """One MCP server: a program to start (`command`), or an address (`url`)."""

    command: str | None = Field(default=None, min_length=1)
    """Program to start; it speaks MCP over its standard input and output."""
    args: tuple[str, ...] = ()
    """Arguments of the program."""
    env: dict[str, SecretStr] = Field(default={})
    """Environment variables of the program, in addition to a minimal set."""
    cwd: str | None = None
    """Working folder of the program."""
    url: HttpUrl | None = None
    """Address of a server that speaks MCP over streamable HTTP."""
    headers: dict[str, SecretStr] = Field(default={})
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


class McpSection(Section):
    """The MCP servers that offer tools."""

    servers: dict[Name, McpServerSection] = Field(default={})
    """By a name of your choice; a server's tools are called `name__tool`."""


class OwnMcpServerSection(Section):
    """Parley as an MCP server, for coding agents and other MCP clients (docs/reference/mcp.md)."""

    enabled: bool = True
    """Serve MCP on the local listener, for people with a token of `parley token`. It needs
    `memory.enabled`."""


LoadText = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*$", max_length=200),
]
"""`package.module:function`."""


class ExtensionsSection(Section):
    """Packages that add tenants, tracking, audit or access (docs/how-to/write-an-extension.md).
    Installed extensions are loaded automatically; the program does not start when one cannot be
    loaded."""

    load: dict[Name, LoadText] = Field(default={})
    """Further extensions, by a name of your choice: `package.module:function`."""
    skip: tuple[Name, ...] = ()
    """Installed extensions that are not loaded, by the name of their entry point."""
    options: dict[Name, dict[Name, SecretStr]] = Field(default={})
    """Options of each extension, by its name."""


class PriceSection(Section):
    """Dollars per million tokens of one model."""

    input: Dollars
    """Tokens sent."""
    output: Dollars
    """Tokens written by the model."""
    cache_read: Dollars | None = None
    """Tokens read from the service's cache; empty counts them as `input`."""
    cache_write: Dollars | None = None
    """Tokens written to the service's cache; empty counts them as `input`."""
    cache_write_hour: Dollars | None = None
    """Tokens that the cache keeps for an hour; empty counts them as twice `input`."""
    search: Dollars | None = None
    """Price of 1,000 searches of the service in the web (`model.web`); empty counts 10 dollars."""


class BudgetsSection(Budgets):
    """Hard limits on costs, in US dollars. Days and months are UTC. An empty value is no limit."""

    detail_days: int = Field(default=31, ge=31, le=400)
    """Days for which the cost of each single call is stored. The sums of each day by person,
    channel and model are stored for 400 days."""
    prices: dict[str, PriceSection] = Field(default={})
    """By model name. The prices of known models are built in; while a budget is set, a model
    without a price is not called."""


class AccessSection(Section):
    """The people, channels and workspaces that are served, by id: "platform:id" or bare. Names have
    no effect. An `allowed` list refuses everybody else; without one, `admission` alone decides."""

    admission: Literal["everybody", "approved", "owners"] = "everybody"
    """The people who may write: `everybody`; `approved`, people whom an owner or operator approved
    by a pairing code; `owners`, owners and operators. `allowed_users` need no approval, and block
    lists apply to everybody."""
    allowed_channels: IdList | None = None
    """Only these channels are served."""
    blocked_channels: tuple[Id, ...] = ()
    """These channels are never served."""
    allowed_users: IdList | None = None
    """Only these people are served; with `admission: approved`, approved people are too."""
    blocked_users: tuple[Id, ...] = ()
    """These people and their linked accounts are never served."""
    allowed_workspaces: IdList | None = None
    """Only these workspaces are served: ids of Discord's servers and Slack's teams, or "telegram:*"
    for a whole platform. Messages outside of them are refused, Discord's direct messages included;
    people in `allowed_users` are an exception."""
    blocked_workspaces: tuple[Id, ...] = ()
    """These workspaces are never served."""
    owners: tuple[Id, ...] = ()
    """People with the role owner, who may do everything, beside those who used an owner code
    (`parley access owner-code`)."""
    operators: tuple[Id, ...] = ()
    """People with the role operator."""
    members: tuple[Id, ...] = ()
    """People with the role member; needed only when `default_role` is guest."""
    default_role: Literal["member", "guest"] = "member"
    """Role of everybody else."""


class ContextSection(Section):
    """The part of a conversation that the model sees."""

    max_messages: int = Field(default=10, ge=1, le=200)
    """Maximum number of messages."""
    max_tokens: int = Field(default=2000, ge=100, le=200_000)
    """Maximum number of tokens, estimated."""
    ttl_hours: float = Field(default=24, gt=0, le=8_760)
    """Hours without messages after which a conversation is deleted."""
    keep: Literal["history", "knowledge"] = "history"
    """The block that is cut last when a prompt is too long: `history`, which recall cannot replace,
    or `knowledge`, for assistants that answer single questions."""
    summaries: Literal["model", "extract", "off"] = "model"
    """Treatment of the part of a conversation that no longer fits: `model` lets a model summarise
    it from time to time, `extract` keeps decisions and questions without a model, `off` drops
    it."""
    summary_model: str | None = Field(default=None, max_length=200)
    """Name of the model that writes summaries, at the provider of `model`. Empty: the cheapest of
    the configured models of that provider, by the known prices."""
    thread_history: Literal["mention", "off"] = "mention"
    """Earlier messages of a thread into which the assistant is called: `mention` reads those of
    this thread for the question, and stores none of them; `off` reads nothing, and the model is
    told that it does not know them. Platforms: Slack and Discord."""


class DocumentsSection(Section):
    """The documents that people send: PDF, DOCX, XLSX, PPTX, EPUB, HTML, CSV. PDF and XLSX need the
    libraries of the extra `documents`."""

    enabled: bool = True
    """Read documents, each in a process of its own. Without it the model gets plain text and
    pictures only, other files by their name."""
    max_megabytes: int = Field(default=32, ge=1, le=100)
    """Size of the largest document that is read, in megabytes."""
    picture_pages: int = Field(default=20, ge=0, le=100)
    """Pages of one message that are pictures (scans) and go to the model as a PDF, if it takes PDFs
    (`model.pdf`). A page costs about 1,600 tokens."""


class ConversationSection(Section):
    """The treatment of messages that wait: while an answer is being written, or longer."""

    overlap: Literal["collect", "queue", "drop"] = "collect"
    """`collect` answers them together afterwards, `queue` one by one, `drop` not at all."""
    age_note_minutes: float = Field(default=15, ge=1, le=1_440)
    """Age of a message in minutes from which its answer says how old it is, and the model knows."""
    answer_within_hours: float = Field(default=24, ge=0.5, le=168)
    """Age of a message in hours from which it is not answered. One notice names such messages of a
    conversation."""


class WorkersSection(Section):
    """Limits of parallel work."""

    concurrency: int = Field(default=16, ge=1, le=1_000)
    """Conversations that are answered at the same time; one conversation is always answered in
    order. Questions that wait to retry a failing model do not count, up to 256 questions and 128 MB
    of pictures."""


class WatchdogSection(Section):
    """Ends a program that hangs, so that its supervisor restarts it."""

    seconds: float = Field(default=20, ge=0, le=3_600)
    """Seconds for which the event loop may block; then the stacks of all threads are logged and the
    process ends. Less than 5 may end a busy program that does not hang. 0 turns it off."""
    folder: str | None = Field(default=None, min_length=1, max_length=1_000)
    """Folder for the record of started work, which the next process reads after a crash. It must
    outlive the process. Empty: the folder of the SQLite file, or without one the working folder."""


class DeliverySection(Section):
    """The delivery of answers."""

    chat_per_second: float | None = Field(default=None, gt=0, le=1_000)
    """Messages per second to one chat; empty takes the platform's limit."""
    platform_per_second: float | None = Field(default=None, gt=0, le=1_000)
    """Messages per second to one platform; empty takes the platform's limit."""
    lifetime_hours: float = Field(default=24, gt=0, le=168)
    """Hours after which an answer that could not be delivered becomes a dead letter."""
    repeat_ambiguous: bool = True
    """Send a message again if it is unknown whether it arrived (no response, or a 5xx), up to five
    times, below a repeat note; off makes it a dead letter. Discord recognises repetitions and needs
    no repeat note."""
    live: bool = True
    """Show answers while they are written, on platforms that support it; off shows complete answers
    only."""
    acknowledge: str = Field(default="", max_length=16)
    """A reaction, such as 👀, on a message while its answer is being written, on platforms that
    support it; empty shows none."""


class DatabaseSection(Section):
    """Long-lived data: conversations, memory, usage, traces."""

    url: DatabaseUrl = "sqlite:///data/parley.db"
    """`sqlite:///FILE` or `postgresql://…`; a relative file begins at the folder of the
    configuration. The suffix `?synchronous=full` waits for the disk at each commit. `memory://`
    keeps the data in memory, and loses it at the end of the program."""
    connections: int = Field(default=10, ge=2, le=100)
    """Connections of one process to PostgreSQL for its work. Up to 6 more serve long reads and
    background work. `parley doctor` compares all processes with the server's max_connections."""


class StorageSection(Section):
    """Short-lived data: accepted messages, answers to send, limits."""

    url: StorageUrl | None = None
    """`sqlite:///FILE`, or `redis://…`, which several processes can share. Empty takes
    `database.url` when that is a file, otherwise `sqlite:///data/parley.db`."""


class ServerSection(Section):
    """The local listener: pages, API, health, metrics. Not for the public network."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on. Any address beyond this machine requires a `token`."""
    port: int = Field(default=8081, ge=0, le=65_535)
    """Port; 0 takes a free one."""
    hosts: tuple[HostText, ...] = Field(default=(), max_length=100)
    """Further host names under which clients reach the console, the API and MCP, without a port,
    such as the name of a container. Known already are this machine, `host`, the address at which a
    connection arrives, and the host of `console.url`. A request for any other host is refused."""
    trusted_proxies: tuple[NetworkText, ...] = Field(default=LOOPBACK, max_length=100)
    """Networks of reverse proxies in front of this port. Only their `X-Forwarded-For` is trusted,
    and the connection limit of one sender does not apply to them."""
    token: SecretStr | None = Field(default=None, min_length=16)
    """Token that every request must carry; at least 16 characters. Empty creates one in
    `key_folder`, if that is set and `host` is not this machine."""
    token_key: SecretStr | None = Field(default=None, min_length=32)
    """Key that signs the tokens of `parley token`; at least 32 characters. Empty creates one in a
    file in `key_folder`, or in the folder of the database; several machines need the same key
    here."""
    key_folder: str | None = Field(default=None, min_length=1)
    """Folder of the keys that are not configured: `token.key`, `audit.key` and `server.token`. The
    first start creates them, and all processes with this folder share them. Empty takes the folder
    of the SQLite file, without `server.token`."""

    @model_validator(mode="after")
    def _closed(self) -> Self:
        protected = _filled(self.token) or self.key_folder is not None
        if not is_loopback_name(self.host) and not protected:
            raise ValueError("needs token when host is not this machine (127.0.0.1)")
        return self


class ConsoleSection(Section):
    """The web console, on the local listener. `/console` in a direct message, or `parley console
    link`, gives a link that signs one browser in."""

    enabled: bool = True
    """Serve the console, and offer the command `/console`."""
    url: HttpUrl | None = None
    """Address under which people reach the local listener, such as `https://parley.example.org`,
    for the links that `/console` sends. Empty takes the listener's own address, which only works on
    this machine."""
    link_minutes: int = Field(default=10, ge=1, le=60)
    """Minutes for which a login link works, once."""
    idle_hours: int = Field(default=12, ge=1, le=720)
    """Hours without a request after which a session ends."""
    session_days: int = Field(default=7, ge=1, le=90)
    """Days after the sign-in after which a session ends."""
    takeover_hours: int = Field(default=8, ge=1, le=720)
    """Hours without an answer of the operator after which a conversation that they took over
    returns to the assistant."""
    break_glass: bool = False
    """Let operators read the text of other people's direct messages and private memories in an
    emergency. Each use is in the audit log, and the person is informed."""


class WebhooksSection(Section):
    """The public listener: the platforms' webhooks and nothing else. It runs only when a platform
    needs it."""

    host: str = Field(default="127.0.0.1", min_length=1)
    """Address to listen on; keep the default behind a reverse proxy on the same machine."""
    port: int = Field(default=8080, ge=0, le=65_535)
    """Port; 0 takes a free one."""
    trusted_proxies: tuple[NetworkText, ...] = Field(default=LOOPBACK, max_length=100)
    """Networks of reverse proxies in front of this port. Only their `X-Forwarded-For` is trusted,
    and the connection limit of one sender does not apply to them."""


class ObserveSection(Section):
    """Logs and traces. Metrics for Prometheus are at `/metrics` of the local listener."""

    log_format: Literal["auto", "text", "json"] = "auto"
    """`text` for people, `json` for machines: one line per event, on standard error. `auto` is
    `text` on a terminal, otherwise `json`."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level that is logged. No log line contains the text of messages."""
    otlp_endpoint: HttpUrl | None = None
    """Address of an OpenTelemetry collector (OTLP over HTTP), such as `http://127.0.0.1:4318`, that
    receives a trace of every turn; empty takes `OTEL_EXPORTER_OTLP_ENDPOINT`, or sends none.
    Requires the extra `otel`."""


def _filled(secret: SecretStr | None) -> bool:
    return secret is not None and bool(secret.get_secret_value())


def _header_problem(name: str, value: str) -> str:
    """The fault of a header of a request; empty if it can be sent."""
    if not _HEADER_NAME.fullmatch(name):
        return "is not the name of a header"
    if not value.isascii() or not value.isprintable():
        return "the value needs printable ASCII characters"
    return ""


def sqlite_file(url: str) -> str:
    """The file of `sqlite:///FILE?options`; empty for any other URL."""
    if not url.startswith("sqlite:///"):
        return ""
    return url.removeprefix("sqlite:///").partition("?")[0]
