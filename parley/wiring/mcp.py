"""Builds the MCP servers on memory."""

import math
from datetime import datetime
from importlib.metadata import version

from gateway.conversation import ConversationKey
from gateway.errors import ToolError
from gateway.policy.rate_limits import BucketRule
from gateway.ports.conversations import ConversationTask
from gateway.stores.conversations import ConversationNoteStore, Conversations
from gateway.turn.services import Services
from memory.mcp.names import PREFIX, ServerName
from memory.mcp.tool_definition import McpServices
from memory.stores.api_tokens import TokenStore
from parley.config import Settings
from parley.http.api.authentication import Authenticator
from parley.http.api.errors import UniformErrors
from parley.http.local_listener import LocalListener
from parley.http.mcp_endpoint import (
    CONVERSATION,
    MAX_BODY,
    McpEndpoint,
    McpServers,
    RequestHandler,
)
from parley.python_environment import DISTRIBUTION
from parley.security.keys import token_key
from parley.wiring.memory import WiredMemory, brief_limits


class AgentTaskNotes:
    """Keeps the task of a person's agents as the task of a conversation of their own. Implements
    `memory.ports.people.AgentTasks`."""

    def __init__(self, conversations: Conversations, notes: ConversationNoteStore) -> None:
        self._conversations = conversations
        self._notes = notes

    async def task(self, tenant: str, person: str, agent: str) -> str:
        """Return the task, empty for none."""
        _, notes = await self._conversations.opened(_key(tenant, person, agent), 1)
        return "" if notes.task is None else notes.task.text

    async def set_task(self, tenant: str, person: str, agent: str, text: str, at: datetime) -> None:
        """Replace the task; an empty text ends it."""
        task = ConversationTask(text, person) if text else None
        await self._notes.set_task(_key(tenant, person, agent), task, at)


class AgentRate:
    """Limits the calls of one agent."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def count(self, tenant: str, agent: str) -> None:
        """Count a call. Raises `ToolError` after too many in a minute."""
        per_minute = self._services.policies.limits.agent_per_minute
        if not per_minute:
            return
        rule = BucketRule("user", f"agent:{tenant}:{agent}", per_minute)
        now = self._services.clock.now().timestamp()
        taken = await self._services.stores.buckets.take((rule,), now)
        if not taken.allowed:
            wait = max(1, math.ceil(taken.retry_after))
            raise ToolError(f"An agent makes at most {per_minute} calls a minute. Wait {wait} s.")


def _key(tenant: str, person: str, agent: str) -> ConversationKey:
    return ConversationKey(tenant, CONVERSATION, "main", "", person, agent)


def add_mcp_servers(
    listener: LocalListener,
    wired: WiredMemory,
    tokens: TokenStore,
    settings: Settings,
    services: Services,
    poll_seconds: float = 2.0,
) -> None:
    """Serve MCP on a listener, where it is enabled and memory is on."""
    if not settings.mcp_server.enabled:
        return
    if wired.memory is None or wired.documents is None or wired.agents is None:
        return
    key = token_key(settings)
    mcp = McpServices(
        wired.memory,
        wired.documents,
        AgentTaskNotes(services.stores.conversations, services.stores.notes),
        wired.agents.registry,
        wired.agents.pools,
        wired.agents.handoffs,
        wired.agents.events,
        key.current,
        AgentRate(services).count,
        brief=brief_limits(settings),
        poll_seconds=poll_seconds,
        repositories=wired.repositories,
    )
    servers = McpServers(lambda name: request_handler(mcp, name))
    authenticator = Authenticator(key, tokens, wired.agents.registry.store, services)
    add_endpoint(listener, servers, authenticator)


def add_endpoint(
    listener: LocalListener, servers: McpServers, authenticator: Authenticator
) -> None:
    """Serve these servers on a listener, under `/mcp`."""
    endpoint = UniformErrors(McpEndpoint(servers, authenticator))
    listener.mount_app(PREFIX, lambda: endpoint, servers.lifespan)


def request_handler(services: McpServices, name: ServerName | None) -> RequestHandler:
    """Return the SDK's handler of one server. It imports the SDK, which takes a second."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415 - start-up stays short
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415 - start-up stays short

    from memory.mcp.server import ParleyServer  # noqa: PLC0415 - imports the SDK

    server = ParleyServer(services, name, version(DISTRIBUTION))
    # Host and origin are checked before: `parley/http/mcp_endpoint.py` and the local listener.
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    manager: StreamableHTTPSessionManager = server.session_manager
    return manager
