"""The keys of the configuration about agents."""

from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, HttpUrl, SecretStr

from gateway.people import DEFAULT_TENANT
from gateway.settings import Section
from memory.agents.model import ConfiguredLimits, EventKind
from memory.agents.webhook_signature import key_of
from parley.config.memory import NetworkText
from parley.config.sections import Name
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


class Agents(ConfiguredLimits):
    """Limits of agents, their pools and handoffs, in all tenants together, and the receivers of
    their events. A limit refuses what would exceed it."""

    webhooks: dict[Name, EventWebhook] = Field(default={}, max_length=20)
    """Receivers of [agent events](agents.md#webhooks), by a name of your choice."""
