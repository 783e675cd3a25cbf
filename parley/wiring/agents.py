"""Builds agents, their pools, handoffs and events from the stores."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from ipaddress import ip_network
from typing import Final
from urllib.parse import urlsplit

from msgspec import field

from gateway.errors import TenantUnknown
from gateway.message import Place
from gateway.people import KnownIds, Principal, identity_of
from gateway.ports import Clock
from gateway.turn.admission import known_ids, role_in, served
from gateway.turn.services import Services
from memory.actions.call import AgentServices
from memory.agents.handoffs import KEEP_ENDED, HandoffManager
from memory.agents.invitations import PoolInvitations
from memory.agents.model import AgentLimits
from memory.agents.overview import AgentOverview, Origins
from memory.agents.pools import PoolRegistry
from memory.agents.registry import AgentRegistry
from memory.agents.share_reviews import ShareReviews
from memory.agents.shared_updates import SharedUpdates
from memory.agents.stores.direct_places import DirectPlaces
from memory.agents.stores.events import AgentEvents
from memory.agents.webhook_signature import key_of
from memory.agents.webhooks import EventReceiver, WebhookDelivery
from memory.service.people import People
from memory.stores.audit import Audit
from memory.write.write_path import WritePath
from parley.config import Settings
from parley.wiring.storage import MemoryStores
from safety.http.addresses import AllowedHost
from safety.http.client import GuardedClient, OutboundPolicy


class ServedPeople:
    """Decides if a person may be written to, by the rules for what they write themselves.
    Refuses until it is attached."""

    def __init__(self) -> None:
        self._services: Services | None = None

    def attach(self, services: Services) -> None:
        """Use these services from now on."""
        self._services = services

    async def served(self, tenant: str, person: str, place: Place) -> bool:
        """True if this person belongs to the tenant and may use the assistant in this place.
        Raises `StoreUnavailable`."""
        services, identity = self._services, identity_of(person)
        if services is None or (place.platform, place.account) not in services.connected:
            return False
        try:
            if services.extensions.tenant_of_person(identity) != tenant:
                return False
        except TenantUnknown:
            return False
        known = await known_ids(identity, services) or KnownIds()
        role = role_in(tenant, identity, services, aliases=known.current)
        principal = Principal(tenant, identity, role)
        return (await served(principal, place, known, services)).allowed


class WiredAgents(AgentServices, frozen=True):
    """Agents as the rest of the program uses them. `chores` end idle sessions and handoffs, and
    delete old events, places, and shares that nobody can read."""

    events: AgentEvents
    people: ServedPeople
    chores: Mapping[str, Callable[[], Awaitable[int]]] = field(default_factory=dict)


def wire_agents(
    stores: MemoryStores,
    people: People,
    path: WritePath,
    clock: Clock,
    limits: AgentLimits,
    places: DirectPlaces | None = None,
) -> WiredAgents:
    """The agents over these stores; `people` says who belongs to a project, `path` stores what
    agents write."""
    audit = path.audit
    events = AgentEvents(stores.agent_events, clock, stores.event_signal)
    served_people = ServedPeople()
    registry = AgentRegistry(stores.agents, stores.memories, audit, clock, limits)
    pools = PoolRegistry(
        stores.pools,
        stores.agents,
        registry,
        stores.memories,
        audit,
        clock,
        people.reaches,
        SharedUpdates(stores.pools, stores.memories, path, clock),
        share_reviews(stores, audit, clock, limits),
        PoolInvitations(stores.invitations, audit, clock, limits),
        limits,
    )
    handoffs = HandoffManager(
        stores.handoffs,
        registry,
        stores.direct_places,
        served_people.served,
        audit,
        clock,
        limits,
    )
    chores = {
        "agent sessions": registry.prune,
        "pool shares": pools.prune,
        "handoffs": lambda: handoffs.cleanup_terminal_handoffs(KEEP_ENDED),
        "agent events": events.prune,
    }
    if places is not None:
        chores["direct places"] = places.prune
    origins = Origins(registry, stores.origins, audit, clock)
    overview = AgentOverview(registry, pools, stores.memories, stores.agent_overview)
    return WiredAgents(registry, pools, handoffs, origins, overview, events, served_people, chores)


def share_reviews(
    stores: MemoryStores, audit: Audit, clock: Clock, limits: AgentLimits
) -> ShareReviews:
    """The shares that wait for operators."""
    return ShareReviews(stores.pools, stores.reviews, audit, clock, limits)


def agent_limits(settings: Settings) -> AgentLimits:
    """The limits of a configuration."""
    return AgentLimits(**settings.agents.model_dump(exclude={"webhooks"}))


WEBHOOK_SECONDS: Final = 10.0
"""Time limit of a request to a webhook."""


def webhook_delivery(
    settings: Settings, stores: MemoryStores, clock: Clock
) -> WebhookDelivery | None:
    """The delivery to the configured webhooks, None without one. Each client reaches the host of
    its webhook only, and follows no redirect."""
    sections = settings.agents.webhooks
    if not (sections and settings.memory.enabled):
        return None
    webhooks, clients = [], {}
    for name, section in sections.items():
        url = str(section.url)
        key = key_of(section.secret.get_secret_value())
        kinds = frozenset(kind.value for kind in section.events)
        webhooks.append(EventReceiver(name, url, key, section.tenant, kinds))
        clients[name] = GuardedClient(_only(url, section.networks))
    return WebhookDelivery(webhooks, clients, stores.webhooks, stores.agent_events, clock)


def _only(url: str, networks: Iterable[str]) -> OutboundPolicy:
    """The policy that allows the host of one address."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return OutboundPolicy(
        (AllowedHost.parse(f"{host}:{port}"),),
        frozenset(ip_network(network) for network in networks),
        timeout=WEBHOOK_SECONDS,
        max_redirects=0,
    )
