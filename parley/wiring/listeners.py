"""Builds the two HTTP listeners, and adds the API of memory to the local one."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gateway.observe.security_log import SecurityLog
from gateway.ports.work_guard import WorkGuard
from gateway.stores.usage import SpendingReader
from gateway.text import Language
from gateway.turn.services import CurrentPolicies, Services
from memory.stores.api_tokens import TokenStore
from parley.config import Settings
from parley.http.api import PREFIX
from parley.http.api.authentication import Authenticator
from parley.http.api.events import PATH as EVENTS
from parley.http.api.events import EventRoutes
from parley.http.asgi import HttpApp, LateApp
from parley.http.client_address import networks
from parley.http.health_endpoints import Readiness
from parley.http.local_listener import LocalListener
from parley.http.webhook_listener import WebhookListener
from parley.runtime.health import HealthMonitor
from parley.security.keys import server_token, token_key
from parley.wiring.memory import WiredMemory

if TYPE_CHECKING:
    from parley.http.api.operations import Operation


def local_listener(
    settings: Settings,
    health: HealthMonitor,
    security: SecurityLog,
    readiness: Callable[[], Readiness],
    policies: CurrentPolicies,
) -> LocalListener:
    """The local listener with the routes of health."""
    server = settings.server

    def language_of(header: str) -> Language:
        languages = policies.value.languages
        return languages.named(languages.liked_by(header) or languages.default)

    listener = LocalListener(
        server.host,
        server.port,
        server_token(settings, create=True),
        ready=readiness,
        health=health.health,
        hosts=_hosts(settings),
        proxies=networks(server.trusted_proxies),
        security=security,
        language_of=language_of,
    )
    listener.add_routes(health.routes())
    return listener


def _hosts(settings: Settings) -> Iterable[str]:
    """Return the configured names of the local listener."""
    url = settings.console.url
    public = urlsplit(url).hostname if url else None
    return (*settings.server.hosts, *((public,) if public else ()))


def webhook_listener(
    settings: Settings, guard: WorkGuard, security: SecurityLog
) -> WebhookListener:
    """The public listener."""
    return WebhookListener(
        settings.webhooks.host,
        settings.webhooks.port,
        proxies=networks(settings.webhooks.trusted_proxies),
        guard=guard,
        security=security,
    )


def add_memory_api(
    listener: LocalListener,
    wired: WiredMemory,
    tokens: TokenStore,
    settings: Settings,
    services: Services,
    described: "Callable[[], Sequence[Operation]]" = tuple,
) -> None:
    """Serve the API, where memory is on. `described` are operations that its description names
    too."""
    if wired.memory is None or wired.agents is None:
        return
    known = wired.agents.registry.store
    authenticator = Authenticator(token_key(settings), tokens, known, services)
    agents, turns = wired.agents, settings.memory.episodic
    spending = SpendingReader(
        services.stores.usage,
        services.identities,
        lambda: services.policies.budgets,
        services.clock,
    )
    memory = wired.memory

    def api() -> HttpApp:
        from parley.http.api.app import MemoryApi  # noqa: PLC0415 - loaded with the first request

        parts = (memory, authenticator, spending, agents, turns, described)
        return MemoryApi(*parts).app()

    listener.mount_app(PREFIX, lambda: LateApp(api))
    events = EventRoutes(authenticator, memory, agents.events, services.clock)
    listener.mount_app(EVENTS, events.app)
