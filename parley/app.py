"""The only place that wires things together: from the configuration to a running program."""

import asyncio
import signal
import sys
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import structlog
from aiohttp import web
from pydantic import SecretStr

from gateway.clock import SystemClock
from gateway.commands.catalogue import COMMANDS, REGISTERED
from gateway.commands.control import Control
from gateway.delivery.deliverer import Deliverer, Line
from gateway.delivery.pacing import Pacer
from gateway.extensions import ExtensionRegistry
from gateway.intake import Intake
from gateway.llm.factory import build_provider
from gateway.observe.logs import configure_logs
from gateway.pipeline import Pipeline
from gateway.policy.loop_guard import LoopGuard
from gateway.ports import AdapterContext, Clock
from gateway.routing import Router
from gateway.services import Connected, Services
from gateway.stores import Trace
from gateway.turn.mcp import McpTools
from gateway.turn.toolbox import Toolbox
from parley.housekeeping import Housekeeping
from parley.http.local import LocalListener, Readiness
from parley.http.webhooks import WebhookListener
from parley.platforms import adapter_class, discover
from parley.policies import (
    assistant_of,
    choice_of,
    delivery_rules,
    mcp_servers_of,
    pace_of,
    policies_of,
    prices_of,
)
from parley.settings import MAIN, Settings
from parley.storage import Storage
from parley.supervisor import Supervisor

DRAIN_SECONDS = 15.0
MAX_RECENT = 1_000
MAX_COUNTERS = 5_000
MAX_UNFINISHED = 10_000

log = structlog.get_logger(__name__)

OnReady = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class Observed:
    """What is seen live: the latest decisions, and how often what happened. Nothing of it is
    stored, and both are bounded."""

    recent: deque[Trace] = field(default_factory=lambda: deque(maxlen=MAX_RECENT))
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, what: str, detail: str = "") -> None:
        """Count an event under its name and detail."""
        key = (what, detail)
        if key in self.counts or len(self.counts) < MAX_COUNTERS:
            self.counts[key] += 1

    def observe(self, trace: Trace) -> None:
        """Remember a trace for a while."""
        self.recent.append(trace)


class App:
    """A Parley that is put together but does not run yet."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        extensions: ExtensionRegistry | None = None,
    ) -> None:
        self.settings = settings
        self.observed = Observed()
        self._clock = clock or SystemClock()
        self._on_ready: OnReady | None = None
        self._lines: dict[str, Line] = {}
        self.storage = Storage(settings, self._clock)
        self.webhooks = WebhookListener(settings.webhooks.host, settings.webhooks.port)
        self.local = LocalListener(
            settings.server.host,
            settings.server.port,
            _secret(settings.server.token),
            ready=self.readiness,
        )
        connected = self._connect_accounts()
        self.services = self._services(connected, extensions or ExtensionRegistry())
        pipeline = Pipeline(self.services)
        self._router = Router(
            pipeline,
            Control(self.services, pipeline),
            concurrency=settings.workers.concurrency,
            overlap=settings.conversation.overlap,
        )
        self._intake = Intake(self.services, self._router)
        self.supervisor = Supervisor(
            {_account_name(key): account.adapter for key, account in connected.items()},
            self._intake,
            self._clock,
            self._account_ready,
            lambda name: self._lines[name].connected.clear(),
        )
        self.housekeeping = Housekeeping(self.storage.chores(), self._clock)

    async def start(self, on_ready: OnReady | None = None) -> None:
        """Open the stores, connect every account, go on with what an earlier run left.

        Returns once each account has connected or failed for the first time; `on_ready` is told
        the name of each that connected.
        """
        self._on_ready = on_ready
        await self.storage.start()
        await self.local.start()
        await self.services.deliverer.start()
        for entry in await self.services.stores.inbox.unfinished(MAX_UNFINISHED):
            self._router.route(entry)
        await self.supervisor.start()
        self.housekeeping.start()

    async def stop(self, drain: float = DRAIN_SECONDS) -> None:
        """Take nothing new, finish what runs within `drain` seconds, close everything."""
        self._intake.close()
        if not await self._router.drain(drain) or not await self.services.deliverer.drain(drain):
            log.warning("not_drained", hint="the rest is taken up at the next start")
        await self._router.stop()
        await self.services.deliverer.stop()
        await self.supervisor.stop()
        await self.housekeeping.stop()
        await self.webhooks.stop()
        await self.local.stop()
        await self.services.toolbox.close()
        await self.services.provider.close()
        await self.storage.stop()

    async def decisions(self, limit: int = 50) -> list[Trace]:
        """The latest traces, newest first, those of ignored messages included."""
        return list(reversed(self.observed.recent))[:limit]

    @property
    def model(self) -> str:
        """Which model answers, for people."""
        return self.services.assistant.default_model

    @property
    def webhook_url(self) -> str:
        """Where platforms that call webhooks find the public listener."""
        return self.webhooks.base_url

    def settled(self) -> bool:
        """True when everything that was accepted is answered, and every answer is sent."""
        return self._router.idle and self.services.deliverer.idle

    def readiness(self) -> Readiness:
        """Whether every account is connected; for `/readyz`."""
        states = self.supervisor.states
        return Readiness(all(state == "ready" for state in states.values()), dict(states))

    async def _account_ready(self, name: str) -> None:
        """An account connected, and with it perhaps the first webhook path came."""
        await self.webhooks.start_if_needed()
        self._lines[name].connected.set()
        if self._on_ready is not None:
            await self._on_ready(name)

    def _connect_accounts(self) -> dict[tuple[str, str], Connected]:
        manifests = discover().manifests
        connected = {}
        for account in self.settings.accounts():
            manifest = manifests[account.platform]
            context = AdapterContext(
                account=account.name,
                assistant_name=self.settings.assistant.name,
                clock=self._clock,
                state=self.storage.stores.states.of(account.platform, account.name),
                webhooks=self.webhooks,
                count=self.observed.count,
                commands=REGISTERED,
            )
            adapter = adapter_class(manifest)(account.settings, context)
            if isinstance(adapter, ServesPages):
                self.local.add_routes(adapter.routes())
            connected[account.platform, account.name] = Connected.of(manifest, adapter)
        return connected

    def _services(
        self, connected: Mapping[tuple[str, str], Connected], extensions: ExtensionRegistry
    ) -> Services:
        settings, stores = self.settings, self.storage.stores
        lines = {
            key: Line(account.adapter, Pacer(pace_of(account.manifest.pace, settings), self._clock))
            for key, account in connected.items()
        }
        self._lines = {_account_name(key): line for key, line in lines.items()}
        return Services(
            assistant=assistant_of(settings),
            policies=policies_of(settings),
            stores=stores,
            provider=build_provider(
                choice_of(settings.model),
                self._clock,
                [choice_of(fallback) for fallback in settings.model.fallbacks],
            ),
            toolbox=toolbox_of(settings, self._clock),
            connected=connected,
            deliverer=Deliverer(
                stores.outbox, lines, self._clock, delivery_rules(settings), self.observed.count
            ),
            loop_guard=LoopGuard(),
            extensions=extensions,
            commands=COMMANDS,
            clock=self._clock,
            count=self.observed.count,
            observe=self.observed.observe,
            prices=prices_of(settings),
        )


async def serve(settings: Settings) -> int:
    """Run until SIGTERM or SIGINT; returns the exit status. Prints one line per ready part."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    app = App(settings)

    async def on_ready(name: str) -> None:
        sys.stdout.write(f"ready {name}\n")
        sys.stdout.flush()

    try:
        await app.start(on_ready)
        failed = app.supervisor.errors
        for name, problem in failed.items():
            sys.stderr.write(f"{name} is not connected: {problem}\n")
        await on_ready("gateway")
        await stopping.wait()
    finally:
        await app.stop()
    return 0


def run(settings: Settings) -> int:
    """Run the program; returns its exit status. Raises a `ParleyError` when it cannot start."""
    configure_logs()
    return asyncio.run(serve(settings))


@runtime_checkable
class ServesPages(Protocol):
    """An adapter with pages of its own on the local listener."""

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """What to serve there."""
        ...


def toolbox_of(settings: Settings, clock: Clock) -> Toolbox:
    """The tools of the configured MCP servers."""
    return Toolbox([McpTools(server, clock) for server in mcp_servers_of(settings)])


def _account_name(key: tuple[str, str]) -> str:
    platform, account = key
    return platform if account == MAIN else f"{platform}/{account}"


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""
