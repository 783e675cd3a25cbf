"""The state of the program: metrics, connections, stores and readiness."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import structlog

from gateway.inbound.conversation_queues import ConversationQueues
from gateway.llm.model_health import ModelHealth
from gateway.observe.gauges import EventLoopMonitor, GaugeReadings, Gauges
from gateway.observe.metrics import CONTENT_TYPE, Metrics
from gateway.outbound.deliverer import Deliverer
from gateway.policy.budgets import BudgetAccount
from gateway.ports import Clock, ModelFailure, ModelFinding, ServerState
from gateway.ports.http_routes import LocalRequest, LocalResponse, LocalRoute
from gateway.ports.losses import SHOWN_FOR, DataLoss
from gateway.ports.queues import QueueDepths
from gateway.ports.rights import LOCAL_PAGES
from gateway.ports.traces import Trace
from gateway.ports.usage import Buckets
from gateway.stores.usage import UsageLedger
from gateway.text import Span, Text, Unconverted, as_text, counted, joined, text, verbatim
from parley.http.health_endpoints import Health, Readiness
from parley.http.webhook_listener import WebhookListener
from parley.runtime.background import BackgroundJob
from parley.runtime.disk_space import DiskMonitor
from parley.runtime.installation import Installation, last_seen
from parley.runtime.model_problems import notes_of, problems_of, values_of
from parley.runtime.supervisor import Supervisor

EVERY = 5.0
"""Seconds between two rounds."""
ANSWER_SECONDS = 3.0
"""Time limit for the answer of a store."""

log = structlog.get_logger(__name__)

Probe = Callable[[], Awaitable[object]]


class StoreMonitor(BackgroundJob):
    """Calls the probe of each store. `problems` has, by store, the reason why one is not
    available."""

    def __init__(
        self, probes: Mapping[str, Probe], clock: Clock, servers: Mapping[str, str] | None = None
    ) -> None:
        """`servers`: what a store is, by its name ("Redis")."""
        super().__init__("store-watch")
        self._probes = probes
        self._servers = servers or {}
        self._clock = clock
        self.problems: dict[str, Text] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the stores."""
        return tuple(self._probes)

    async def round(self) -> None:
        """Call all probes in parallel."""
        await asyncio.gather(*(self._ask(name, probe) for name, probe in self._probes.items()))

    async def _run(self) -> None:
        while True:
            await self.round()
            await self._clock.sleep(EVERY)

    async def _ask(self, name: str, probe: Probe) -> None:
        answer = asyncio.ensure_future(probe())
        try:
            await asyncio.wait((answer,), timeout=ANSWER_SECONDS)
            if not answer.done():  # reported first: the driver may take seconds to cancel
                late = text("no answer within {time}", time=Span(ANSWER_SECONDS))
                server = self._servers.get(name)
                self._down(name, joined((verbatim(server), late), ": ") if server else late)
            else:
                self._answered(name, answer)
        finally:
            answer.cancel()
            await asyncio.gather(answer, return_exceptions=True)

    def _answered(self, name: str, answer: "asyncio.Future[object]") -> None:
        try:
            answer.result()
        except Exception as error:  # noqa: BLE001 - whatever it is, the store is not available
            self._down(name, verbatim(str(error).partition("\n")[0][:200]))
        else:
            if self.problems.pop(name, None) is not None:
                log.info("store_available_again", store=name)

    def _down(self, name: str, problem: Text) -> None:
        if name not in self.problems:
            log.error("store_unavailable", store=name, problem=str(problem))
        self.problems[name] = problem


def storage_probe(buckets: Buckets, also: Probe | None = None) -> Probe:
    """A probe that writes a row which expires a second later: a full disk can still be read. It
    calls `also` after that."""

    async def ask() -> None:
        await buckets.claim("watch", timedelta(seconds=1))
        if also is not None:
            await also()

    return ask


def database_probe(usage: UsageLedger) -> Probe:
    """A probe that writes a row, always the same, with an empty reservation: a read-only database,
    such as a standby, can store no answer."""
    return lambda: usage.reserve("watch", (BudgetAccount("watch", "watch", 0),), 0)


UP, DOWN = "ready", "unavailable"
TOOLS_MISSING = text("{reason}; its tools are missing until a retry succeeds")
ANSWER_REFUSED = text(
    "its answer was refused: {reason}; its other calls work. Let its tools return less at once, or "
    "remove it from `mcp.servers`"
)
MEMORY_MISSING = text("{reason}; nothing is recalled from it until it answers")
QUARANTINED = counted(
    "{count} in quarantine and no longer tried: `parley quarantine list` shows it",
    "{count} in quarantine and no longer tried: `parley quarantine list` shows them",
)
MAX_RECENT = 1_000
MAX_COUNTERS = 5_000
Phase = Literal["starting", "ready", "stopping"]


@dataclass(frozen=True, slots=True)
class HealthSources:
    """The sources of the state. `unwritten` counts the work that waits for the database, `shared`
    what waits where several processes share the work, `quarantined` the entries in quarantine;
    `tool_servers` has the state of each MCP server, `backends` the probe of each memory backend,
    `overrides` a sentence about ignored overrides of the configuration, `work_record` the reason
    why the record of work in progress cannot be written, `installation` the state of all processes
    that share the work, `losses` the losses of stored data in the last days, `models` the health of
    the models that this process calls, and `findings` what it found out about their servers."""

    queues: ConversationQueues
    deliverer: Deliverer
    supervisor: Supervisor
    webhooks: WebhookListener
    unwritten: Callable[[], int]
    shared: Callable[[], QueueDepths | None] = lambda: None
    quarantined: Callable[[], int] = lambda: 0
    tool_servers: Callable[[], Sequence[ServerState]] = tuple
    backends: Mapping[str, Probe] = field(default_factory=dict)
    overrides: Callable[[], str] = str
    work_record: Callable[[], str] = str
    installation: Callable[[], Installation | None] = lambda: None
    losses: Callable[[], Sequence[DataLoss]] = tuple
    models: ModelHealth | None = None
    findings: Callable[[], Sequence[ModelFinding]] = tuple


class HealthMonitor:
    """Metrics from the start on; the state of the parts once they are attached."""

    def __init__(
        self,
        probes: Mapping[str, Probe],
        clock: Clock,
        *,
        platforms: Collection[str],
        models: Collection[str],
        budgets: Callable[[], Mapping[str, float]] = dict,
        folders: Iterable[Path] = (),
        servers: Mapping[str, str] | None = None,
    ) -> None:
        """`budgets` returns the limits in dollars, by name; the program writes to `folders`.
        `servers`: what each store is, by its name."""
        self.metrics = Metrics(platforms, models)
        self._budgets = budgets
        self._clock = clock
        self.phase: Phase = "starting"
        self._loop = EventLoopMonitor()
        self._stores = StoreMonitor(probes, clock, servers)
        self._backends = StoreMonitor({}, clock)
        self._disks = DiskMonitor(folders, clock)
        self._parts: HealthSources | None = None

    def attach(self, parts: HealthSources) -> None:
        """Use these sources from now on."""
        self._parts = parts
        self._backends = StoreMonitor(parts.backends, self._clock)
        self.metrics.registry.register(Gauges(lambda: self._now(parts)))

    def routes(self) -> Iterable[LocalRoute]:
        """The page for Prometheus, on the local listener."""

        async def metrics(_request: LocalRequest) -> LocalResponse:
            return LocalResponse(self.metrics.page(), content_type=CONTENT_TYPE)

        yield LocalRoute("GET", "/metrics", metrics, LOCAL_PAGES)

    async def start(self) -> None:
        """Start the checks; the first one ends before this returns."""
        await asyncio.gather(self._stores.round(), self._backends.round(), self._disks.look())
        self._stores.start()
        self._disks.start()
        self._backends.start()
        self._loop.start()

    async def stop(self) -> None:
        """Stop. Safe to call twice, and before `start`."""
        await self._stores.stop()
        await self._backends.stop()
        await self._disks.stop()
        await self._loop.stop()

    def health(self) -> Health:
        """The liveness of the process: it is not alive while its loop hangs."""
        return Health(not self._loop.stalled, self._loop.lag)

    def readiness(self) -> Readiness:
        """The readiness to answer, with the state of every part."""
        parts: dict[str, str] = {"gateway": self.phase}
        problems: dict[str, Unconverted] = {}
        if self._parts is not None:
            supervisor, webhooks = self._parts.supervisor, self._parts.webhooks
            parts |= supervisor.states
            problems |= supervisor.errors
            if webhooks.paths:
                parts["webhooks"] = UP if webhooks.listening else DOWN
            problems |= _tolerated(self._parts)
            problems |= self._data_losses(self._parts)
        for store in self._stores.names:
            problem = self._stores.problems.get(store)
            parts[store] = UP if problem is None else DOWN
            if problem is not None:
                problems[store] = problem
        problems |= self._disks.problems
        ready = all(state == UP for state in parts.values())
        for backend in self._backends.names:  # the program answers without it meanwhile
            reason = self._backends.problems.get(backend)
            parts[backend] = UP if reason is None else DOWN
            if reason is not None:
                problems[backend] = MEMORY_MISSING.of(reason=as_text(reason))
        everywhere = self.installation
        failures, findings = self._models(everywhere)
        problems |= problems_of(failures, findings)  # other models may answer meanwhile
        models, notes = tuple(map(values_of, failures)), notes_of(findings)
        if everywhere is None:
            return Readiness(ready, parts, problems, models=models, notes=notes)
        states = {part.name: part.state for part in everywhere.parts if part.name not in parts}
        problems |= {
            name: problem for name, problem in everywhere.problems.items() if name in states
        }
        return Readiness(ready, parts, problems, states, everywhere.complete, models, notes)

    def _models(
        self, everywhere: Installation | None
    ) -> tuple[Sequence[ModelFailure], Sequence[ModelFinding]]:
        """Return the models that fail and the findings, of all processes where they are known."""
        if everywhere is not None:
            return everywhere.models, everywhere.findings
        if self._parts is None or self._parts.models is None:
            return (), ()
        return self._parts.models.failures(), self._parts.findings()

    @property
    def installation(self) -> Installation | None:
        """The state of all processes; None where one process does everything, and while their
        store is unavailable."""
        return None if self._parts is None else self._parts.installation()

    def _data_losses(self, parts: HealthSources) -> dict[str, str]:
        """Return the losses of the last day: what is left is answered, so the program stays
        ready."""
        after = self._clock.now() - SHOWN_FOR
        recent = [loss for loss in reversed(parts.losses()) if loss.at >= after]
        return {f"data loss: {loss.kind}": loss.sentence for loss in recent}

    @property
    def supervisor(self) -> Supervisor | None:
        """The connections of this process; None before the parts are attached."""
        return None if self._parts is None else self._parts.supervisor

    def works_on(self, conversation: str) -> bool:
        """Return True while this process answers a message of this conversation."""
        return self._parts is not None and self._parts.queues.works_on(conversation)

    def tool_servers(self) -> Sequence[ServerState]:
        """Return the state of each MCP server that the assistant uses."""
        return () if self._parts is None else self._parts.tool_servers()

    def _now(self, parts: HealthSources) -> GaugeReadings:
        state = self.readiness()
        accounts = dict(parts.supervisor.states)
        return GaugeReadings(
            waiting=parts.queues.waiting,
            oldest=self._seconds_since(parts.queues.oldest),
            running=parts.queues.running,
            aside=parts.queues.aside,
            unsent=parts.deliverer.waiting,
            unwritten=parts.unwritten(),
            loop_lag=self._loop.lag,
            connections=accounts,
            reconnects=dict(parts.supervisor.reconnects),
            proofs=dict(parts.supervisor.proofs),
            connected_at=dict(parts.supervisor.connected_at),
            last_events=dict(parts.supervisor.last_events),
            parts={name: at == UP for name, at in state.parts.items() if name not in accounts},
            shared=parts.shared(),
            quarantined=parts.quarantined(),
            losses={one.kind: one.at for one in reversed(parts.losses())},
            tool_servers=parts.tool_servers(),
            budgets=self._budgets(),
            roles=[] if (all_ := self.installation) is None else last_seen(all_),
            disks={one.folder: (one.free, one.size) for one in self._disks.disks},
            models=() if parts.models is None else parts.models.failures(),
            failed_calls={} if parts.models is None else parts.models.failed_calls(),
        )

    def _seconds_since(self, moment: datetime | None) -> float:
        """0 for None, and for a moment that a corrected clock put into the future."""
        return 0.0 if moment is None else max(0.0, (self._clock.now() - moment).total_seconds())


def _tolerated(sources: HealthSources) -> dict[str, Unconverted]:
    """The problems with which the program stays ready."""
    problems: dict[str, Unconverted] = {}
    quarantined = sources.quarantined()
    if quarantined:  # other work continues
        problems["quarantine"] = QUARANTINED.of(count=quarantined)
    if not_written := sources.work_record():
        problems["work record"] = not_written
    if ignored := sources.overrides():
        problems["overrides"] = ignored
    for server in sources.tool_servers():
        if server.problem:  # the program answers without these tools meanwhile
            problems[f"tools: {server.name}"] = TOOLS_MISSING.of(reason=verbatim(server.problem))
        elif server.refusal:
            problems[f"tools: {server.name}"] = ANSWER_REFUSED.of(reason=verbatim(server.refusal))
    return problems


@dataclass(slots=True)
class RecentActivity:
    """The latest decisions, and the number of events by name. Both are bounded and not stored.
    `also` counts every event too."""

    also: Callable[[str, str], None]
    recent: deque[Trace] = field(default_factory=lambda: deque(maxlen=MAX_RECENT))
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, what: str, detail: str = "") -> None:
        """Count an event by its name and detail."""
        self.also(what, detail)
        key = (what, detail)
        if key in self.counts or len(self.counts) < MAX_COUNTERS:
            self.counts[key] += 1

    def observe(self, trace: Trace) -> None:
        """Add a trace to the latest ones."""
        self.recent.append(trace)
