"""The keys of the configuration about agents."""

from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, HttpUrl, SecretStr

from gateway.people import DEFAULT_TENANT
from memory.agents.model import MOST_MEMBERSHIPS, EventKind
from memory.agents.webhook_signature import key_of
from parley.config.memory import NetworkText
from parley.config.sections import Name, Section
from safety.http.addresses import host_of

MIN_KEY: Final = 24
"""Bytes of the key of a webhook, as Standard Webhooks asks for."""


def _secret(value: SecretStr) -> SecretStr:
    try:
        key = key_of(value.get_secret_value())
    except ValueError:
        raise ValueError("is not base64 after whsec_") from None
    if len(key) < MIN_KEY:
        raise ValueError(f"is shorter than {MIN_KEY} bytes")
    return value


def _receiver(value: HttpUrl) -> HttpUrl:
    if "@" in urlsplit(str(value)).netloc:
        raise ValueError("must have no user name; the signature authenticates the request")
    try:
        host_of(str(value))
    except ValueError as error:
        raise ValueError(f"has a host that {error}") from None
    return value


class EventWebhook(Section):
    """One receiver of agent events."""

    url: Annotated[HttpUrl, AfterValidator(_receiver)]
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


class Agents(Section):
    """Limits of agents, their pools and handoffs, in all tenants together, and the receivers of
    their events. A limit refuses what would exceed it."""

    agents: int = Field(default=10_000, ge=1, le=1_000_000)
    """Registered agents."""
    sessions: int = Field(default=50_000, ge=1, le=1_000_000)
    """Open sessions; one ends after 30 minutes without use."""
    pools: int = Field(default=10_000, ge=1, le=1_000_000)
    """Pools of shared memories."""
    pool_members: int = Field(default=1_000, ge=1, le=10_000)
    """Agents in one pool."""
    pool_members_per_person: int = Field(default=20, ge=1, le=10_000)
    """Agents of one person in one pool."""
    memberships_per_person: int = Field(default=100, ge=1, le=MOST_MEMBERSHIPS)
    """Memberships of the agents of one person in all pools."""
    agents_per_person: int = Field(default=100, ge=1, le=1_000_000)
    """Registered agents of one person."""
    sessions_per_person: int = Field(default=500, ge=1, le=1_000_000)
    """Open sessions of the agents of one person."""
    pools_per_person: int = Field(default=50, ge=1, le=1_000_000)
    """Pools that one person owns."""
    handoffs_per_person: int = Field(default=1_000, ge=1, le=1_000_000)
    """Stored handoffs from the agents of one person."""
    pool_memories: int = Field(default=100_000, ge=1, le=1_000_000)
    """Memories shared in one pool."""
    handoffs: int = Field(default=50_000, ge=1, le=1_000_000)
    """Stored handoffs, finished ones included until they are deleted."""
    pending_per_target: int = Field(default=100, ge=1, le=10_000)
    """Handoffs that wait for one agent or person."""
    query_results: int = Field(default=100, ge=1, le=1_000)
    """Results of one query of a pool, unless the query says how many."""
    handoff_seconds: int = Field(default=3_600, ge=60, le=604_800)
    """Seconds after which an offered handoff expires, unless the offer says when."""
    webhooks: dict[Name, EventWebhook] = Field(default={}, max_length=20)
    """Receivers of [agent events](agents.md#webhooks), by a name of your choice."""
