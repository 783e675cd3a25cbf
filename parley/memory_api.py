"""Hangs the HTTP interface to memory into the local listener."""

from gateway.turn.services import Services
from memory.store.ports.tokens import TokenStore
from parley.http.api.app import MemoryApi
from parley.http.api.entry import Entrance
from parley.http.api.openapi import PREFIX
from parley.http.local import LocalListener
from parley.remembering import WiredMemory
from parley.settings import Settings
from parley.spending import Spending
from parley.token_key import token_key


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
    entrance = Entrance(token_key(settings), tokens, services, settings.limits.api_per_minute)
    turns = settings.memory.episodic
    ledger, budgets = services.stores.usage, services.policies.budgets
    spending = Spending(ledger, services.humans, budgets, services.clock)
    api = MemoryApi(wired.memory, wired.brain, entrance, spending, turns)
    local.add_guarded(PREFIX, api.app)
