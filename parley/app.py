"""The only place that wires things together: from the configuration to a running program."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import structlog
from pydantic import SecretStr

from gateway.commands.catalogue import COMMANDS
from gateway.commands.handler import CommandHandler
from gateway.crash_loop.deaths import Deaths
from gateway.crash_loop.guard import CrashLoopGuard
from gateway.crash_loop.record import Death, WorkRecord
from gateway.errors import ConfigurationError
from gateway.extensions import ExtensionRegistry
from gateway.intake import Intake
from gateway.lanes import MAX_WAITING
from gateway.llm.factory import build_provider
from gateway.llm.token_calibrations import PersistentCalibrations
from gateway.message import place_of
from gateway.observe.timing import TimedProvider
from gateway.outbound.deliverer import AccountSender, Deliverer
from gateway.outbound.expiring_buttons import EVERY as BUTTONS_EVERY
from gateway.outbound.membership import PlatformMembership
from gateway.outbound.notices import NoticeSender
from gateway.outbound.outbox_sweeper import OutboxSweeper
from gateway.outbound.pacing import Pacer
from gateway.pipeline import Pipeline
from gateway.policy.bot_loops import BotLoopGuard
from gateway.policy.recent_secrets import RecentSecrets
from gateway.ports import AlarmClock
from gateway.ports.clock import SystemClock
from gateway.ports.connected import Connected
from gateway.ports.observer import CombinedObserver, Observer
from gateway.ports.traces import Trace
from gateway.routing import Router
from gateway.services import Services
from gateway.slots import Slots
from gateway.turn.mcp import McpTools
from gateway.turn.toolbox import Toolbox
from gateway.workplace import LocalWorkplace, SharedWorkplace, Workplace
from memory.embeddings.backfill import EmbeddingBackfill
from parley.config import Settings
from parley.http.client_address import networks
from parley.http.local_listener import LocalListener, Readiness
from parley.http.webhook_listener import WebhookListener
from parley.runtime.background import Background
from parley.runtime.health import HealthMonitor, HealthSources
from parley.runtime.heartbeats import wire_heartbeats
from parley.runtime.housekeeping import Housekeeping
from parley.runtime.link_expiry import LINKS_EVERY, expiring
from parley.runtime.recent_activity import RecentActivity
from parley.runtime.roles import Role
from parley.runtime.store_health import database_probe, storage_probe
from parley.runtime.supervisor import Supervisor
from parley.security.audit_sink import security_log
from parley.wiring.accounts import ServesPages, account_name, local_accounts, remote_accounts
from parley.wiring.memory import WiredMemory, wire_memory
from parley.wiring.memory_api import serve_memory
from parley.wiring.policies import (
    assistant_of,
    choice_of,
    delivery_rules,
    mcp_servers_of,
    pace_of,
    policies_of,
    prices_of,
    rules_for_tools_of,
)
from parley.wiring.recall_models import recall_models
from parley.wiring.relevance_judge import ModelJudge
from parley.wiring.storage import Storage
from parley.wiring.tracing import endpoint_of, open_tracing

if TYPE_CHECKING:
    from parley.runtime.shared_work import Sharing

DRAIN_SECONDS = 15.0
CLOSE_SECONDS = 25.0
"""How long one part may take to close, which is more than any of them needs."""
SIGNS_SECONDS = 2.0
"""How long reactions that are to go may take for it at the end."""
MAX_UNFINISHED = 4 * MAX_WAITING
"""Events that a start takes up: more than one run can have accepted, which is what its lanes hold
and what it works on."""

log = structlog.get_logger(__name__)

OnReady = Callable[[str], Awaitable[None]]


class App:
    """A Parley that is put together but does not run yet."""

    def __init__(
        self,
        settings: Settings,
        clock: AlarmClock | None = None,
        extensions: ExtensionRegistry | None = None,
        *,
        role: Role = "all",
        platform: str = "",
        observers: Sequence[Observer] = (),
        record: WorkRecord | None = None,
        left: Sequence[Death] = (),
    ) -> None:
        """`role` and `platform` say what this process does where several share the work; raises
        `ConfigurationError` for a part of the work without a shared `storage.url`. `observers`
        are told what happens, besides the program's own. `record` is where work is marked, `left`
        what processes before this one left in theirs."""
        self.settings = settings
        self._observers = observers
        self._role = role
        self._platform = platform
        self._clock = clock or SystemClock()
        self._on_ready: OnReady | None = None
        self._lines: dict[str, AccountSender] = {}
        self._recent_secrets = RecentSecrets()
        self.storage = Storage(settings, self._clock)
        self.security = security_log(settings, self.storage, self._clock)
        self.watching = self._watch()
        self.observed = RecentActivity(self.watching.metrics.count)
        self.guard = CrashLoopGuard(
            Deaths(self.storage.stores.states.of("parley", "takeovers")),
            self.storage.quarantine,
            self._clock,
            self.observed.count,
            record,
            left,
        )
        self._tracing = open_tracing(
            endpoint_of(settings.observe.otlp_endpoint, os.environ), self._clock
        )
        self.webhooks = WebhookListener(
            settings.webhooks.host,
            settings.webhooks.port,
            proxies=networks(settings.webhooks.trusted_proxies),
            guard=self.guard,
            security=self.security,
        )
        self.local = self._local_listener()
        self.models = recall_models(settings)
        connected = self._accounts()
        self.memory = self._remember(connected)
        extensions = extensions or ExtensionRegistry()
        self.services = self._services(connected, extensions)
        serve_memory(self.local, self.memory, self.storage.memory.tokens, settings, self.services)
        self._router, control = self._route()
        self._sharing = self._share(connected)
        self._intake = Intake(self.services, self._workplace(control))
        self.supervisor = self._supervise(connected)
        self._counting = self._keep_counts()
        chores = {
            "quarantine": self.guard.refresh,
            **self.storage.chores(),
            **self.memory.chores,
            "counting": self._counting.save,
        }
        self.housekeeping = Housekeeping(chores, self._clock, self.guard)
        self.link_expiry = self._expire_links()
        expiring = {"buttons": self.services.deliverer.expiring.remove_expired}
        self.button_expiry = Housekeeping(expiring, self._clock, self.guard, every=BUTTONS_EVERY)
        self.heartbeats = wire_heartbeats(
            settings,
            self.storage,
            self.memory.sync,
            extensions,
            self._clock,
            self.guard,
        )
        self.consolidating = self._consolidate()
        self.embedding = self._embed()
        self._leftovers = self._find_leftovers()
        self.watching.attach(self._watched_parts())

    async def start(self, on_ready: OnReady | None = None) -> None:
        """Open the stores, connect every account, go on with what an earlier run left.

        Returns once each account has connected or failed for the first time, or takes long;
        `on_ready` is told the name of each that connected.
        """
        self._on_ready = on_ready
        await self.storage.start()
        await self.guard.start()
        self.security.start()
        await self._counting.load()
        await self.watching.start()
        await self.local.start()
        self.services.toolbox.start()
        await self._resume_unfinished()
        self.housekeeping.start()
        self.button_expiry.start()
        if self.link_expiry is not None:
            self.link_expiry.start()
        if self.heartbeats is not None and self._role != "adapter":
            self.heartbeats.start()
        if self.consolidating is not None:
            self.consolidating.start()
        if self.embedding is not None:
            self.embedding.start()
        await self.supervisor.start()
        self.watching.phase = "ready"

    async def stop(self, drain: float = DRAIN_SECONDS) -> None:
        """Begin nothing new, finish what runs within `drain` seconds, close everything. What still
        comes in meanwhile is stored for the next start."""
        self.watching.phase = "stopping"
        if self._sharing is not None:
            self._sharing.stop_taking()
        if self._leftovers is not None:
            await self._leftovers.stop()
        services, until = self.services, self._clock.monotonic() + drain
        answered = await self._router.drain(drain)
        left = max(0.0, until - self._clock.monotonic())
        if not (await services.deliverer.drain(left) and answered):
            log.warning("not_drained", hint="the rest is taken up at the next start")
        for close in (
            self._router.stop,
            services.deliverer.stop,
            partial(services.signs.drain, SIGNS_SECONDS),
            services.signs.stop,
            *((self._sharing.stop,) if self._sharing is not None else ()),
            self.supervisor.stop,
            self.housekeeping.stop,
            self.button_expiry.stop,
            *((self.link_expiry.stop,) if self.link_expiry is not None else ()),
            *((self.heartbeats.stop,) if self.heartbeats is not None else ()),
            *((self.consolidating.stop,) if self.consolidating is not None else ()),
            *((self.embedding.stop,) if self.embedding is not None else ()),
            self.models.close,
            self.webhooks.stop,
            self.local.stop,
            services.toolbox.close,
            services.provider.close,
            self.watching.stop,
            *((self._tracing.close,) if self._tracing is not None else ()),
            self._counting.save,
            self.security.stop,
            self.storage.stop,
        ):
            await _closed(close)

    async def decisions(self, limit: int = 50) -> list[Trace]:
        """The latest traces, newest first, those of ignored messages included."""
        return list(reversed(self.observed.recent))[:limit]

    @property
    def model(self) -> str:
        """Which model answers, for people."""
        return self.services.assistant.default_model

    def pages(self) -> list[str]:
        """Links to the pages of accounts here; behind `server.token` each admits one browser."""
        adapters = [account.adapter for account in self.services.connected.values()]
        pages = [adapter.page for adapter in adapters if isinstance(adapter, ServesPages)]
        return [self.local.login_link(page) for page in pages]

    @property
    def webhook_url(self) -> str:
        """Where platforms that call webhooks find the public listener."""
        return self.webhooks.base_url

    def settled(self) -> bool:
        """True when everything that was accepted is answered, and every answer is sent."""
        return self._router.idle and self.services.deliverer.idle

    def readiness(self) -> Readiness:
        """Whether everything an answer needs is there, and messages are taken; for `/readyz`."""
        return self.watching.readiness()

    async def _account_ready(self, name: str) -> None:
        """An account connected, and with it perhaps the first webhook path came."""
        await self.webhooks.start_if_needed()
        self._lines[name].connected.set()
        if self._on_ready is not None:
            await self._on_ready(name)

    async def _resume_unfinished(self) -> None:
        """Go on with what is there: what Redis holds for this role, or what the file holds."""
        await self.services.deliverer.start()
        if self._leftovers is not None:
            self._leftovers.start()
        if self._sharing is not None:
            self._sharing.start()
            return
        left = await self.services.stores.inbox.unfinished(MAX_UNFINISHED)
        places = [place_of(entry.event) for entry in left]
        known = [(place.platform, place.account) in self.services.connected for place in places]
        for entry, is_known in zip(left, known, strict=True):
            if is_known:
                self._router.route(entry)
        if len(left) == MAX_UNFINISHED:
            log.warning("inbox_not_taken_up_whole", hint="the rest is taken up at the next start")
        if not all(known):
            log.warning("accounts_missing", events=known.count(False), hint="they are kept")

    def _remember(self, connected: Mapping[tuple[str, str], Connected]) -> WiredMemory:
        storage = self.storage
        return wire_memory(
            self.settings,
            storage.memory,
            (*storage.personal, self._recent_secrets),
            storage.stores.states,
            storage.history,
            self._clock,
            self.models,
            self.watching.metrics.recall.recalled,
            PlatformMembership(connected, self._clock),
            self.guard,
            storage.working,
            ModelJudge(
                lambda: self.services.provider,
                storage.stores.usage,
                prices_of(self.settings),
                self._clock,
            ),
        )

    def _accounts(self) -> dict[tuple[str, str], Connected]:
        shared = self.storage.hot.shared
        if self._role == "worker":
            return {} if shared is None else remote_accounts(self.settings, shared)
        connected = local_accounts(
            self.settings,
            self._platform,
            self.storage.stores.states,
            self.webhooks,
            self._clock,
            self.observed.count,
            self.guard,
        )
        for account in connected.values():
            if isinstance(account.adapter, ServesPages):
                self.local.add_routes(account.adapter.routes())
        return connected

    def _route(self) -> tuple[Router, CommandHandler]:
        shared, overlap = self.storage.hot.shared, self.settings.conversation.overlap
        pipeline = Pipeline(self.services, shared=shared is not None)
        control = CommandHandler(self.services, pipeline)
        return Router(pipeline, control, slots=self.services.slots, overlap=overlap), control

    def _keep_counts(self) -> PersistentCalibrations:
        services = self.services
        state = self.storage.stores.states.of("parley", "counting")
        return PersistentCalibrations(services.calibrations, state, services.assistant.models)

    def _consolidate(self) -> Background | None:
        consolidation = self.memory.consolidation
        if consolidation is None or self._role == "adapter":
            return None
        return self._in_background(consolidation.step, "consolidating")

    def _expire_links(self) -> Housekeeping | None:
        links, services = self.memory.links, self.services
        if links is None or self._role == "adapter":
            return None
        notices = NoticeSender(services.stores.outbox, services.deliverer, services.connected)
        chores = {"links": expiring(links, notices)}
        return Housekeeping(chores, self._clock, self.guard, every=LINKS_EVERY)

    def _embed(self) -> Background | None:
        behind = self.models.behind
        if behind is None or self._role == "adapter":
            return None
        memories, count = self.storage.memory.memories, self.observed.count
        work = EmbeddingBackfill(memories, behind, self._clock, count, self.models.warm, self.guard)
        return self._in_background(work.step, "embedding")

    def _in_background(self, step: Callable[[], Awaitable[int]], name: str) -> Background:
        lanes = self._router.lanes
        return Background(step, self._clock, name, lambda: lanes.waiting, lambda: lanes.running)

    def _find_leftovers(self) -> OutboxSweeper | None:
        unsent = self.storage.hot.unsent
        if unsent is None:
            return None
        return OutboxSweeper(unsent, self.services.deliverer, self._clock)

    def _share(self, connected: Mapping[tuple[str, str], Connected]) -> "Sharing | None":
        shared = self.storage.hot.shared
        if shared is not None:
            from parley.runtime.shared_work import Sharing  # noqa: PLC0415 - Redis's library, if configured

            return Sharing(shared, self._role, self._router, self.services.deliverer, connected)
        if self._role == "all":
            return None
        raise ConfigurationError(
            f"--role {self._role} needs a storage.url that processes share: redis://HOST:PORT/0"
        )

    def _workplace(self, control: CommandHandler) -> Workplace:
        if self._sharing is None:
            return LocalWorkplace(self._router)
        return SharedWorkplace(control, self.storage.stores.states.of("parley", "held"))

    def _supervise(self, connected: Mapping[tuple[str, str], Connected]) -> Supervisor:
        # A worker holds no connection: its accounts are other processes' to keep.
        held = {} if self._role == "worker" else connected
        return Supervisor(
            {account_name(key): account.adapter for key, account in held.items()},
            self._intake,
            self._clock,
            self._account_ready,
            lambda name: self._lines[name].connected.clear(),
        )

    def _local_listener(self) -> LocalListener:
        server = self.settings.server
        listener = LocalListener(
            server.host,
            server.port,
            _secret(server.token),
            ready=self.readiness,
            health=self.watching.health,
            proxies=networks(server.trusted_proxies),
            security=self.security,
        )
        listener.add_routes(self.watching.routes())
        return listener

    def _watch(self) -> HealthMonitor:
        settings, stores = self.settings, self.storage.stores
        shared = self.storage.hot.shared
        probes = {
            "storage": storage_probe(stores.buckets, shared.depths.look if shared else None),
            "database": database_probe(stores.usage),
        }
        return HealthMonitor(
            probes,
            self._clock,
            platforms={account.platform for account in settings.accounts()},
            models=[choice.name for choice in (settings.model, *settings.model.fallbacks)],
        )

    def _watched_parts(self) -> HealthSources:
        shared = self.storage.hot.shared
        return HealthSources(
            self._router.lanes,
            self.services.deliverer,
            self.supervisor,
            self.webhooks,
            lambda: self.storage.unwritten,
            lambda: shared.depths.latest if shared is not None else None,
            lambda: self.guard.quarantined,
            self.services.toolbox.states,
        )

    def _services(
        self, connected: Mapping[tuple[str, str], Connected], extensions: ExtensionRegistry
    ) -> Services:
        settings, stores = self.settings, self.storage.stores
        lines = {
            key: AccountSender(
                account.adapter, Pacer(pace_of(account.manifest.pace, settings), self._clock)
            )
            for key, account in connected.items()
        }
        self._lines = {account_name(key): line for key, line in lines.items()}
        if self._role == "worker":
            for line in lines.values():
                line.connected.set()  # whether it is, the process that holds it finds out
        watchers = (self.watching.metrics, self._tracing, *self._observers)
        observer = CombinedObserver(*(each for each in watchers if each is not None))
        provider = build_provider(
            choice_of(settings.model),
            self._clock,
            [choice_of(fallback) for fallback in settings.model.fallbacks],
        )
        return Services(
            assistant=assistant_of(settings),
            policies=policies_of(settings),
            stores=stores,
            provider=TimedProvider(provider, self._clock),
            toolbox=toolbox_of(settings, self._clock),
            connected=connected,
            deliverer=Deliverer(
                stores.outbox,
                lines,
                self._clock,
                delivery_rules(settings),
                self.observed.count,
                observer,
                external_source=self.storage.hot.shared is not None,
                guard=self.guard,
            ),
            loop_guard=BotLoopGuard(),
            extensions=extensions,
            commands=(*COMMANDS, *self.memory.commands.specs),
            clock=self._clock,
            count=self.observed.count,
            observe=self.observed.observe,
            prices=prices_of(settings),
            observer=observer,
            memory=self.memory.remembering,
            humans=self.memory.humans,
            more_commands=self.memory.commands,
            guard=self.guard,
            slots=Slots(settings.workers.concurrency),
            recent_secrets=self._recent_secrets,
            security=self.security,
        )


def toolbox_of(settings: Settings, clock: AlarmClock) -> Toolbox:
    """The tools of the configured MCP servers."""
    return Toolbox(
        [
            McpTools(each, clock, rules_for_tools_of(settings, each.name))
            for each in mcp_servers_of(settings)
        ]
    )


async def _closed(close: Callable[[], Awaitable[object]]) -> None:
    """Close one part. Whatever it does, the next one is closed too."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await close()
    except Exception:
        log.exception("not_closed", part=close.__qualname__)


def _secret(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""
