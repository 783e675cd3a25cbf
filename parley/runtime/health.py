"""What the program knows of its own state: figures, pulse, stores, and whether it is ready."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aiohttp import web

from gateway.inbound.conversation_queues import ConversationQueues
from gateway.observe.event_loop import EventLoopMonitor
from gateway.observe.gauges import GaugeReadings, Gauges
from gateway.observe.metrics import CONTENT_TYPE, Metrics
from gateway.outbound.deliverer import Deliverer
from gateway.ports import Clock, ServerState
from gateway.ports.inbox import QueueDepths
from parley.http.local_listener import Health, Readiness
from parley.http.metrics import metrics_route
from parley.http.webhook_listener import WebhookListener
from parley.runtime.store_health import Probe, StoreMonitor
from parley.runtime.supervisor import Supervisor

UP, DOWN = "ready", "unavailable"
TOOLS_MISSING = "{}; its tools are missing until it answers, which is tried again"
QUARANTINED = "{} in quarantine, not begun any more: `parley quarantine list` shows them"
Phase = Literal["starting", "ready", "stopping"]


@dataclass(frozen=True, slots=True)
class HealthSources:
    """What is looked at. `unwritten` is the work that waits for the database, `shared` what waits
    where several processes share the work, `quarantined` how many pieces of work are not begun any
    more, `tool_servers` how each MCP server is."""

    lanes: ConversationQueues
    deliverer: Deliverer
    supervisor: Supervisor
    webhooks: WebhookListener
    unwritten: Callable[[], int]
    shared: Callable[[], QueueDepths | None] = lambda: None
    quarantined: Callable[[], int] = lambda: 0
    tool_servers: Callable[[], Sequence[ServerState]] = tuple


class HealthMonitor:
    """Figures from the beginning on; the state of the parts once they are there."""

    def __init__(
        self,
        probes: Mapping[str, Probe],
        clock: Clock,
        *,
        platforms: Collection[str],
        models: Collection[str],
    ) -> None:
        self.metrics = Metrics(platforms, models)
        self.phase: Phase = "starting"
        self._loop = EventLoopMonitor()
        self._stores = StoreMonitor(probes, clock)
        self._parts: HealthSources | None = None

    def attach(self, parts: HealthSources) -> None:
        """Look at these parts from now on."""
        self._parts = parts
        self.metrics.registry.register(Gauges(lambda: self._now(parts)))

    def routes(self) -> Iterable[web.RouteDef]:
        """What is served on the local listener."""
        yield metrics_route(self.metrics.page, CONTENT_TYPE)

    async def start(self) -> None:
        """Begin to look, the first time before this returns."""
        await self._stores.round()
        self._stores.start()
        self._loop.start()

    async def stop(self) -> None:
        """End. Safe to call twice, and before `start`."""
        await self._stores.stop()
        await self._loop.stop()

    def health(self) -> Health:
        """Whether the process does its work at all: it does not while its loop hangs."""
        return Health(not self._loop.stalled, self._loop.lag)

    def readiness(self) -> Readiness:
        """Whether everything that is needed for an answer is there, and what is not."""
        parts: dict[str, str] = {"gateway": self.phase}
        problems: dict[str, str] = {}
        if self._parts is not None:
            supervisor, webhooks = self._parts.supervisor, self._parts.webhooks
            parts |= supervisor.states
            problems |= supervisor.errors
            if webhooks.paths:
                parts["webhooks"] = UP if webhooks.listening else DOWN
            quarantined = self._parts.quarantined()
            if quarantined:  # the rest of the work goes on: it is no reason to be unready
                problems["quarantine"] = QUARANTINED.format(quarantined)
            for server in self._parts.tool_servers():
                if server.problem:  # answers are given without its tools meanwhile
                    problems[f"tools: {server.name}"] = TOOLS_MISSING.format(server.problem)
        for store in self._stores.names:
            problem = self._stores.problems.get(store)
            parts[store] = UP if problem is None else DOWN
            if problem is not None:
                problems[store] = problem
        return Readiness(all(state == UP for state in parts.values()), parts, problems)

    def _now(self, parts: HealthSources) -> GaugeReadings:
        state = self.readiness()
        accounts = dict(parts.supervisor.states)
        return GaugeReadings(
            waiting=parts.lanes.waiting,
            running=parts.lanes.running,
            aside=parts.lanes.aside,
            unsent=parts.deliverer.waiting,
            unwritten=parts.unwritten(),
            loop_lag=self._loop.lag,
            connections=accounts,
            reconnects=dict(parts.supervisor.reconnects),
            proofs=dict(parts.supervisor.proofs),
            parts={name: at == UP for name, at in state.parts.items() if name not in accounts},
            shared=parts.shared(),
            quarantined=parts.quarantined(),
            tool_servers=parts.tool_servers(),
        )
