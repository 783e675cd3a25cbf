"""The keys of `memory`, `plans` and `heartbeat`."""

from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, model_validator

from parley.config.sections import HttpUrl, Id, Name, Section, sqlite_file

Text = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Embedding(Section):
    """The service that makes vectors, for `embedding_provider: openai`."""

    name: str = Field(default="", max_length=200)
    """The model; empty takes `text-embedding-3-small`."""
    api_key: SecretStr | None = None
    """Key of the service, such as `${OPENAI_API_KEY}`; servers at home may need none."""
    base_url: HttpUrl | None = None
    """Another address of the service: a proxy, a local server."""


class Recall(Section):
    """How much one question brings up, and what counts for it. The weights are measured ones
    (docs/recall.md); texts full of names and versions may want more of the words."""

    bm25_weight: float = Field(default=0.55, ge=0, le=1)
    """How much the words count."""
    vector_weight: float = Field(default=0.45, ge=0, le=1)
    """How much the meaning counts, where there is a model; what one of both cannot tell, the other
    decides alone."""
    recency_weight: float = Field(default=0.3, ge=0, le=1)
    """How much of what was said fades with time, half of it in 30 days; 0 for nothing."""
    max_episodic_results: int = Field(default=10, ge=0, le=50)
    """Turns of earlier conversations."""
    max_semantic_results: int = Field(default=20, ge=0, le=50)
    """Preferences, facts and whatever else was learned."""
    max_total_tokens: int = Field(default=4_000, ge=100, le=50_000)
    """Of all of them together; what the window of the model leaves for knowledge is a bound of its
    own."""

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if self.bm25_weight + self.vector_weight == 0:
            raise ValueError("bm25_weight or vector_weight: one has to be above 0")
        return self


class Memory(Section):
    """What is remembered beyond a conversation."""

    enabled: bool = True
    """Off: no memory tools, nothing kept beyond the conversation."""
    write_policy: Literal["grounded", "confirm", "open"] = "grounded"
    """`grounded` stores what a person said or a listed source confirms and asks about the rest;
    `confirm` asks about everything; `open` asks about nothing. Limits, secrets and repetitions
    count whatever it is."""
    notes: bool = True
    """Say under an answer what the assistant noted by itself; a person chooses with `/privacy
    notes`."""
    episodic: bool = True
    """Keep what is said to the assistant, and its answers, for later conversations."""
    episodic_ttl_days: int = Field(default=90, ge=1, le=3_650)
    """Days after which that is forgotten."""
    episodic_max_ttl_days: int = Field(default=365, ge=1, le=3_650)
    """The most days it may be kept, whatever `episodic_ttl_days` says."""
    max_brief_entries: int = Field(default=50, ge=1, le=500)
    """Memories that the model is told of before the first word of a session."""
    max_brief_chars: int = Field(default=10_000, ge=500, le=50_000)
    """Characters of all of them together."""
    seen_in_days: int = Field(default=30, ge=1, le=3_650)
    """Days for which a person reaches a project (its memories, BIBLE, HEARTBEAT) in a direct
    message after they were last seen in one of its rooms, as long as the platform says that they
    are still in it."""
    shared_rooms: tuple[Id, ...] = Field(default=(), max_length=1_000)
    """Rooms with people from outside, such as Slack channels that another company shares, in which
    the project is used all the same: everybody there reads what the answers say of it. An id, or
    "platform:id"."""
    purge_superseded_days: int = Field(default=90, ge=1, le=3_650)
    """Days after which a memory that was replaced is deleted."""
    embedding_provider: Literal["none", "local", "openai"] = "local"
    """Who turns texts into vectors, for recall by meaning: `local` is a model on this machine
    (`parley models pull`; until then recall goes by words), `openai` a service, `none` nobody."""
    embedding: Embedding = Embedding()
    """The service, for `openai`."""
    models_folder: Annotated[str, StringConstraints(max_length=4_096)] = ""
    """Where the models of this machine lie; empty for `models` beside the database."""
    rerank: bool = False
    """Look at what was found a second time with a cross-encoder (`parley models pull`). It has not
    been measured that this finds more in conversations."""
    recall: Recall = Recall()
    """How much one question brings up, and what counts for it."""
    fail_on_secret: bool = False
    """Refuse what holds a secret, rather than keep it without the secret."""
    audit_key: SecretStr | None = None
    """Seals the audit: whoever lacks it cannot change an entry unnoticed. Empty makes one in a
    file beside the database; several processes on PostgreSQL need the same one here."""


class Plan(Section):
    """What a plan allows."""

    memories: int | None = Field(default=None, ge=0, le=1_000_000)
    """Memories a person may keep; empty for no limit."""
    refusal: Text = "Memory limit reached ({count}/{limit}). Delete a memory to make room."
    """What is said when they are used up."""

    @model_validator(mode="after")
    def _refusal_can_be_said(self) -> Self:
        try:
            self.refusal.format(count=1, limit=1)
        except (KeyError, IndexError, ValueError):
            raise ValueError("refusal: only {count} and {limit} stand for something") from None
        return self


class Plans(Section):
    """How many memories people may keep. `free` (3), `pro` (15) and `self_hosted` (no limit) are
    there already."""

    default: Name = "self_hosted"
    """The plan of everybody who is not named below."""
    tiers: dict[Name, Plan] = Field(default={})
    """Further plans, or other limits for those that are there."""
    people: dict[str, Name] = Field(default={})
    """Plans by person: an id, or "platform:id"."""

    @model_validator(mode="after")
    def _plans_exist(self) -> Self:
        known = {"free", "pro", "self_hosted", *self.tiers}
        unknown = {self.default, *self.people.values()} - known
        if unknown:
            raise ValueError(f"there is no plan {min(unknown)!r} under plans.tiers")
        return self


class HeartbeatSource(Section):
    """Where the figures of one project come from."""

    kind: Literal["http", "sql", "gateway"] = "gateway"
    """`http` fetches JSON, `sql` asks a database, `gateway` tells of this assistant's own use."""
    url: HttpUrl | None = None
    """For `http`: an address that answers with a JSON object of figures."""
    token: SecretStr | None = None
    """For `http`: sent as a bearer token."""
    allow_private: bool = False
    """For `http`: the address may be inside the own network."""
    database: SecretStr | None = None
    """For `sql`: `sqlite:///FILE` (opened to read only) or `postgresql://…`."""
    query: Annotated[str, StringConstraints(max_length=10_000)] = ""
    """For `sql`: one SELECT; the columns of its first row are the figures."""
    every_minutes: int = Field(default=60, ge=5, le=10_080)
    """How often it is synced by itself."""

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


class Heartbeat(Section):
    """The current state of projects, told in a few sentences."""

    sources: dict[str, HeartbeatSource] = Field(default={}, max_length=100)
    """By project, as `/project` names it: `slack:main:T0123`."""

    @model_validator(mode="after")
    def _projects(self) -> Self:
        for project in self.sources:
            if not all(project.split(":", 2)) or project.count(":") < 2:
                raise ValueError(f"{project!r} is no project: write platform:account:id")
        return self
