"""The keys of `memory`, `plans`, `heartbeat`, `grounding` and `agents`."""

from ipaddress import ip_network
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

import pydantic
from pydantic import (
    AfterValidator,
    Field,
    SecretStr,
    StringConstraints,
    model_validator,
)

from gateway.people import DEFAULT_TENANT
from gateway.settings import Id, Section
from memory.agents.model import ConfiguredLimits, EventKind
from memory.agents.webhook_signature import key_of
from memory.model.plans import BUILT_IN, DEFAULT_PLAN, Plan
from parley.config.sections import HttpUrl, LoadText, Name, sqlite_file
from safety.http.addresses import AllowedHost, check_template, host_of

PLACES: Final = (frozenset({"number"}), frozenset({"number", "owner", "repo"}))
BUILTIN: Final = "builtin"
"""The name of Parley's own memory in `memory.backend`."""
WORDS: Final = 0.92
MEANING: Final = 0.95
"""Similarities from which two memories count as the same."""
MIN_KEY: Final = 24
"""Bytes of the key of a webhook, as Standard Webhooks asks for."""


def _host(value: str) -> str:
    AllowedHost.parse(value)
    return value


def _network(value: str) -> str:
    ip_network(value)
    return value


def _tracker(value: str) -> str:
    check_template(value, PLACES)
    return value


def _secret(value: SecretStr) -> SecretStr:
    try:
        key = key_of(value.get_secret_value())
    except ValueError:
        raise ValueError("is not base64 after whsec_") from None
    if len(key) < MIN_KEY:
        raise ValueError(f"is shorter than {MIN_KEY} bytes")
    return value


def _receiver(value: pydantic.HttpUrl) -> pydantic.HttpUrl:
    if "@" in urlsplit(str(value)).netloc:
        raise ValueError("must have no user name; the signature authenticates the request")
    try:
        host_of(str(value))
    except ValueError as error:
        raise ValueError(f"has a host that {error}") from None
    return value


Host = Annotated[str, AfterValidator(_host)]
NetworkText = Annotated[str, AfterValidator(_network)]
TrackerUrl = Annotated[str, AfterValidator(_tracker)]
Folder = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]


class EmbeddingSection(Section):
    """The embedding service, for `embedding_provider: openai`."""

    name: str = Field(default="", max_length=200)
    """Name of the model; empty takes `text-embedding-3-small`."""
    api_key: SecretStr | None = None
    """Key of the service, such as `${OPENAI_API_KEY}`; local servers may need none."""
    base_url: HttpUrl | None = None
    """Address of the service, if it is not the provider's own: a proxy or a local server."""


class RecallSection(Section):
    """The number of memories that recall returns, and their ranking. The defaults are measured
    (docs/reference/search-quality.md); texts with many names and versions may need a higher
    `bm25_weight`."""

    bm25_weight: float = Field(default=0.55, ge=0, le=10)
    """Weight of the search by words. Only the ratio of the two weights counts: 1.5 and 1 is the
    same as 3 and 2. 0 switches a search off; both cannot be 0."""
    vector_weight: float = Field(default=0.45, ge=0, le=10)
    """Weight of the search by meaning, when there is a model. When one of the two finds nothing,
    the other decides alone."""
    candidates: int = Field(default=50, ge=1, le=200)
    """Candidates of each search. More find more, and take longer."""
    fusion: Literal["scores", "ranks"] = "scores"
    """`scores` adds the scaled scores of the searches; `ranks` is reciprocal rank fusion (RRF)."""
    rrf_k: int = Field(default=60, ge=1, le=1_000)
    """The constant of `ranks`: the higher, the less the first places count."""
    recency_weight: float = Field(default=0.3, ge=0, le=1)
    """Share of the score of conversations that decays with time, half of it in 30 days; 0 for no
    decay."""
    max_episodic_results: int = Field(default=10, ge=0, le=50)
    """Maximum number of turns from earlier conversations."""
    max_semantic_results: int = Field(default=20, ge=0, le=50)
    """Maximum number of preferences, facts and other knowledge."""
    max_total_tokens: int = Field(default=4_000, ge=100, le=50_000)
    """Maximum number of tokens in total. The knowledge block of the prompt is a further limit."""

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if self.bm25_weight + self.vector_weight == 0:
            raise ValueError("bm25_weight or vector_weight: at least one must be above 0")
        return self


Backends = Annotated[tuple[Name, ...], Field(min_length=1, max_length=4)]


class MemorySection(Section):
    """Memory beyond a conversation."""

    enabled: bool = True
    """Off: no memory tools, and nothing is stored beyond the conversation."""
    backend: Name | Backends = BUILTIN
    """Place of learned memories: `builtin` is the database, other names are memory backends of
    installed packages (docs/how-to/use-a-memory-backend.md). With several, such as
    `[builtin, markdown]`, the first stores new memories and all are recalled. Conversations are
    always in the database."""
    backend_load: dict[Name, LoadText] = Field(default={}, max_length=16)
    """Further backends, by a name of your choice: `package.module:function`."""
    backend_options: dict[Name, dict[Name, SecretStr]] = Field(default={}, max_length=16)
    """Options of each backend, by its name."""
    write_policy: Literal["grounded", "confirm", "open"] = "grounded"
    """`grounded` stores statements of the person and of listed sources, and asks about the rest;
    `confirm` asks about everything; `open` asks about nothing. The checks for limits, secrets and
    repetitions always apply."""
    notes: bool = True
    """Show a note under an answer for each memory that the assistant stored without a question.
    Each person chooses with `/privacy notes`."""
    episodic: bool = True
    """Store messages to the assistant, and its answers, as episodic memories."""
    episodic_ttl_days: int = Field(default=90, ge=1, le=3_650)
    """Days after which episodic memories are deleted."""
    episodic_max_ttl_days: int = Field(default=365, ge=1, le=3_650)
    """Upper limit of `episodic_ttl_days`."""
    max_brief_entries: int = Field(default=50, ge=1, le=500)
    """Maximum number of memories in the brief."""
    max_brief_chars: int = Field(default=10_000, ge=500, le=50_000)
    """Maximum number of characters in the brief."""
    seen_in_days: int = Field(default=30, ge=1, le=3_650)
    """Days for which a person can use a project (its memories, project notes and status) in a
    direct message after they last wrote in one of its rooms. The platform must still report them as
    a member."""
    shared_rooms: tuple[Id, ...] = Field(default=(), max_length=1_000)
    """Rooms with outside people, such as Slack channels shared with another company, in which the
    project is used nevertheless, by id or "platform:id". Everybody there can read what the answers
    reveal of it."""
    purge_superseded_days: int = Field(default=90, ge=1, le=3_650)
    """Days after which a replaced memory is deleted."""
    embedding_provider: Literal["none", "local", "openai"] = "local"
    """Source of the vectors for recall by meaning: `local` is a model on this machine (`parley
    models pull`; until then recall uses words only), `openai` a service, `none` turns vectors
    off."""
    embedding: EmbeddingSection = EmbeddingSection()
    """The embedding service, for `openai`."""
    models_folder: Annotated[str, StringConstraints(max_length=4_096)] = ""
    """Folder of the models on this machine; empty for `models` in the folder of
    the database."""
    rerank: bool = False
    """Rank the results a second time with a cross-encoder (`parley models pull`). No measurement
    shows an improvement for conversations."""
    recall: RecallSection = RecallSection()
    """The number of memories that recall returns, and their ranking."""
    fail_on_secret: bool = False
    """Refuse a memory with a secret, instead of storing it without the secret."""
    audit_key: SecretStr | None = None
    """Key that signs the audit log: without it, nobody can change an entry without detection. Empty
    creates one in a file in `server.key_folder`, or in the folder of the database; several machines
    need the same key here."""

    @property
    def places(self) -> tuple[str, ...]:
        """The names in `backend`."""
        return (self.backend,) if isinstance(self.backend, str) else self.backend

    @model_validator(mode="after")
    def _backends_differ(self) -> Self:
        if len(set(self.places)) < len(self.places):
            raise ValueError("backend: names a backend twice")
        if BUILTIN in self.backend_load:
            raise ValueError(f"backend_load: {BUILTIN} is the name of Parley's own memory")
        return self


class PlansSection(Section):
    """Limits on the memories of people. `free` (3), `pro` (15) and `self_hosted` (no limit) are
    built in."""

    default: Name = DEFAULT_PLAN
    """Plan of everybody who is not in `people`."""
    tiers: dict[Name, Plan] = Field(default={})
    """Further plans, or other limits for the built-in ones."""
    people: dict[str, Name] = Field(default={})
    """Plans by person: an id, or "platform:id"."""

    @model_validator(mode="after")
    def _plans_exist(self) -> Self:
        known = {*BUILT_IN, *self.tiers}
        unknown = {self.default, *self.people.values()} - known
        if unknown:
            raise ValueError(f"there is no plan {min(unknown)!r} under plans.tiers")
        return self


class HeartbeatSourceSection(Section):
    """The source of one project's figures."""

    kind: Literal["http", "sql", "gateway"] = "gateway"
    """`http` fetches JSON, `sql` queries a database, `gateway` reports the assistant's own use."""
    url: HttpUrl | None = None
    """For `http`: an address that returns a JSON object of figures."""
    token: SecretStr | None = None
    """For `http`: sent as a bearer token."""
    allow_private: bool = False
    """For `http`: allow a private address."""
    database: SecretStr | None = None
    """For `sql`: `sqlite:///FILE` (opened read-only) or `postgresql://…`."""
    query: Annotated[str, StringConstraints(max_length=10_000)] = ""
    """For `sql`: one SELECT; the columns of its first row are the figures."""
    every_minutes: int = Field(default=60, ge=5, le=10_080)
    """Minutes between two automatic syncs."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind == "http" and self.url is None:
            raise ValueError("url: needed for kind http")
        if self.kind == "sql":
            url = self.database.get_secret_value() if self.database else ""
            if not (url and self.query):
                raise ValueError("database and query: needed for kind sql")
            if not (sqlite_file(url) or url.startswith("postgresql://")):
                raise ValueError("database: write sqlite:///FILE or postgresql://…")
        return self


class HeartbeatSection(Section):
    """The status of projects (HEARTBEAT), in a few sentences."""

    sources: dict[str, HeartbeatSourceSection] = Field(default={}, max_length=100)
    """By project, as `/project` names it: `slack:main:T0123`."""

    @model_validator(mode="after")
    def _projects(self) -> Self:
        for project in self.sources:
            if not all(project.split(":", 2)) or project.count(":") < 2:
                raise ValueError(f"{project!r} is not a project: write platform:account:id")
        return self


class GroundingSection(Section):
    """Sources that can prove a claim of the assistant: a claim whose citation is found there is
    stored without a question. Other sources are never requested."""

    hosts: tuple[Host, ...] = Field(default=(), max_length=100)
    """Hosts whose pages may be requested: `docs.example.org`, or `*.example.org` for all
    subdomains; other ports than 80 and 443 as `docs.example.org:8443`."""
    repositories: tuple[Folder, ...] = Field(default=(), max_length=20)
    """Folders of git repositories on this machine, for commits and for decision records such as
    `docs/adr/ADR-003-storage.md`, as they are committed. They need `git` on the path."""
    trackers: dict[Name, TrackerUrl] = Field(default={}, max_length=20)
    """Addresses of issues, by a name of your choice:
    `https://api.github.com/repos/acme/app/issues/{number}` for `#12`, or with `{owner}` and
    `{repo}` for `acme/app#12`."""
    tracker_tokens: dict[Name, SecretStr] = Field(default={}, max_length=20)
    """Tokens by the name of a tracker; sent over https only."""
    networks: tuple[NetworkText, ...] = Field(default=(), max_length=20)
    """Internal networks, such as `10.1.0.0/16`, that listed hosts and trackers may be in; other
    hosts must be on the public internet."""
    verify_claim_relevance: bool = False
    """Read the cited text, and send a claim to review when it shares too few words with the
    text."""
    relevance_judge: Literal["words", "model"] = "words"
    """With `verify_claim_relevance`: `words` compares words only, `model` also asks the model, once
    for each citation that shares enough words. These calls cost money and count towards no
    budget."""
    enable_dedup: bool = True
    """Refuse what is stored already. Without it, writes are faster, and a repetition is stored
    again."""
    dedup_method: Literal["jaccard", "vector"] = "jaccard"
    """Detection of duplicates: by words, or with an embedding model also by meaning."""
    dedup_threshold: float | None = Field(default=None, ge=0.8, le=1)
    """Similarity from which two memories count as the same; empty takes 0.92 for `jaccard`, 0.95
    for `vector`."""
    auto_approve_ai_synthesis: bool = False
    """Store conclusions of the assistant that have no citation without review."""

    @property
    def word_threshold(self) -> float | None:
        """The share of common words from which two memories count as the same; None if nothing is
        compared."""
        if not self.enable_dedup:
            return None
        chosen = self.dedup_threshold if self.dedup_method == "jaccard" else None
        return WORDS if chosen is None else chosen

    @property
    def meaning_threshold(self) -> float | None:
        """The cosine from which two memories count as the same; None when meaning is not
        checked."""
        if self.dedup_method == "jaccard" or not self.enable_dedup:
            return None
        return MEANING if self.dedup_threshold is None else self.dedup_threshold

    @model_validator(mode="after")
    def _tokens_fit(self) -> Self:
        for name in self.tracker_tokens:
            if name not in self.trackers:
                raise ValueError(f"tracker_tokens has {name}, which is not among trackers")
            if not self.trackers[name].startswith("https:"):
                raise ValueError(f"trackers.{name} needs https, because it has a token")
        return self


class EventWebhookSection(Section):
    """One receiver of agent events."""

    url: Annotated[pydantic.HttpUrl, AfterValidator(_receiver)]
    """Address of the receiver. It must be on the public internet, unless `networks` names its
    network; redirects are refused."""
    secret: Annotated[SecretStr, AfterValidator(_secret)]
    """Signs every request: at least 24 bytes, as text, or as `whsec_` and base64."""
    events: tuple[EventKind, ...] = Field(default=(), max_length=50)
    """Kinds of events that are sent, such as `handoff.accepted`; an empty list stands for all."""
    tenant: str = Field(default=DEFAULT_TENANT, min_length=1, max_length=200)
    """The tenant whose events are sent."""
    networks: tuple[NetworkText, ...] = Field(default=(), max_length=20)
    """Internal networks, such as `10.1.0.0/16`, that the receiver may be in."""


class AgentsSection(ConfiguredLimits):
    """Limits of agents, their pools and handoffs, in all tenants together, and the receivers of
    their events. A limit refuses what would exceed it."""

    webhooks: dict[Name, EventWebhookSection] = Field(default={}, max_length=20)
    """Receivers of [agent events](../how-to/receive-agent-events.md#webhooks), by a name of
    your choice."""
