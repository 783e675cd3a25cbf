"""Hangs the HTTP interface to memory into the local listener."""

from gateway.observe.spending import SpendingReader
from gateway.services import Services
from memory.ports.api_tokens import TokenStore
from parley.config import Settings
from parley.http.api.app import MemoryApi
from parley.http.api.authentication import Authenticator
from parley.http.api.openapi import PREFIX
from parley.http.local_listener import LocalListener
from parley.security.token_key import token_key
from parley.wiring.memory import WiredMemory


def serve_memory(
    local: LocalListener,
    wired: WiredMemory,
    tokens: TokenStore,
    settings: Settings,
    services: Services,
) -> None:
    """Serve it, where there is a memory."""
    if wired.memory is None or wired.brain is None:
        return
    entrance = Authenticator(token_key(settings), tokens, services, settings.limits.api_per_minute)
    turns = settings.memory.episodic
    ledger, budgets = services.stores.usage, services.policies.budgets
    spending = SpendingReader(ledger, services.humans, budgets, services.clock)
    api = MemoryApi(wired.memory, wired.brain, entrance, spending, turns)
    local.add_guarded(PREFIX, api.app)
