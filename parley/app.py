"""Connects the parts of the program: the only place that does."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

import structlog

from gateway.commands.handler import CommandHandler
from gateway.errors import ConfigurationError
from gateway.extensions import ExtensionRegistry
from gateway.inbound.conversation_queues import MAX_WAITING
from gateway.inbound.crash_loop_guard import CRASHES, CrashCounts, Quarantine
from gateway.inbound.dispatcher import LocalDispatcher, SharedDispatcher
from gateway.inbound.intake import Intake
from gateway.inbound.work_record import Crash, WorkRecord
from gateway.llm.calibration import PersistentCalibrations
from gateway.llm.model_health import ModelHealth, findings_of
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.membership import PlatformMembership
from gateway.outbound.outbox_sweeper import OutboxSweeper
from gateway.outbound.pacing import Pacer
from gateway.outbound.pictures import Pictures
from gateway.outbound.retry_decision import AccountSender
from gateway.outbound.space_descriptions import SpaceDescriptions
from gateway.people import DEFAULT_TENANT
from gateway.platforms import ConnectedAccount
from gateway.policy.history_redaction import RecentSecrets
from gateway.policy.rate_limits import BotLoopGuard
from gateway.ports import AlarmClock, CanLoad
from gateway.ports.clock import SystemClock
from gateway.ports.http_routes import CanServePages
from gateway.ports.observer import CombinedObserver, Observer
from gateway.ports.processes import ProcessReport
from gateway.ports.queues import Dispatcher
from gateway.ports.traces import Trace
from gateway.store_retry import StoreRetry
from gateway.turn.disclosure import Disclosure
from gateway.turn.pipeline import Pipeline
from gateway.turn.readers import Readers
from gateway.turn.services import CurrentPolicies, Services
from gateway.turn.slots import Slots, StorePlaces
from parley.config import Settings, SettingsError
from parley.config.load import Origins
from parley.console.jobs import ConsoleJobs
from parley.console.mount import (
    ConsoleParts,
    described_operations,
    mount_console,
    playgrounds_of,
    sessions_of,
    with_console,
)
from parley.console.sessions import PREFIX
from parley.console.viewer import LOCAL_OPERATOR
from parley.documentation.routes import DocumentationPages
from parley.http.access_layers import page_link_routes, start_routes
from parley.http.health_endpoints import Readiness
from parley.runtime import Role
from parley.runtime.gc_and_heap import no_collections
from parley.runtime.health import HealthSources, RecentActivity
from parley.runtime.restart import Restart
from parley.runtime.supervisor import Supervisor
from parley.wiring.access import wire_access
from parley.wiring.accounts import (
    account_name,
    account_names,
    handled_commands,
    local_accounts,
    remote_accounts,
)
from parley.wiring.catchup import catchup_of
from parley.wiring.documents import document_reader
from parley.wiring.jobs import JobParts, Jobs, build_jobs
from parley.wiring.knowledge import program_index, repository_reader
from parley.wiring.languages import ReaderLanguages
from parley.wiring.listeners import add_memory_api, local_listener, webhook_listener
from parley.wiring.live_configuration import LiveConfiguration
from parley.wiring.mcp import add_mcp_servers
from parley.wiring.memory import WiredMemory, wire_memory
from parley.wiring.memory_backends import load_backends
from parley.wiring.memory_writing import ModelJudge
from parley.wiring.model import provider_of, toolbox_of, window_search, windows_of
from parley.wiring.observe import build_health, endpoint_of, open_tracing, security_log
from parley.wiring.policies import delivery_rules, pace_of, policies_of, unpriced_models
from parley.wiring.recall import recall_models
from parley.wiring.speech import speech_of
from parley.wiring.storage import Storage

if TYPE_CHECKING:
    from parley.runtime.process_reports import ProcessReports
    from parley.runtime.shared_work import SharedWork

DRAIN_SECONDS = 15.0
CLOSE_SECONDS = 25.0
"""Time limit for one part to close, which is more than any of them needs."""
REACTION_SECONDS = 2.0
"""Time limit for the removal of pending reactions at the end."""
MAX_UNFINISHED = 4 * MAX_WAITING
"""Events that a start resumes: more than one run can have accepted."""

log = structlog.get_logger(__name__)

OnReady = Callable[[str], Awaitable[None]]
Accounts = Mapping[tuple[str, str], ConnectedAccount]


class App:
    """A Parley whose parts are connected. It runs between `start` and `stop`."""

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
        left: Sequence[Crash] = (),
        origins: Origins | None = None,
        restart: Restart | None = None,
    ) -> None:
        """`role` and `platform` restrict the work of this process where several share it; raises
        `ConfigurationError` for a role without a shared `storage.url`. `observers` are called in
        addition to the program's own. `record` is the record of current work, `left` the crashes
        that processes before this one recorded. `origins` are those of the values of `settings`.
        `restart` starts this process anew, where that is possible."""
        self.settings = settings
        self._observers = observers
        self._restart = restart
        self._role = role
        self._platform = platform
        self._clock = clock or SystemClock()
        self._on_ready: OnReady | None = None
        self._senders: dict[str, AccountSender] = {}
        self._recent_secrets = RecentSecrets()
        self._closing = AsyncExitStack()

        self.policies = CurrentPolicies(policies_of(settings))
        self.storage = Storage(settings, self._clock)
        self._readers = Readers(
            self.storage.people_languages, self._clock, self.storage.place_zones
        )
        self.configuration = LiveConfiguration(
            settings, self.policies, self.storage.config_versions, self._clock, origins or {}
        )
        self.security = security_log(settings, self.storage, self._clock)
        self._at_end(self.storage.stop, self.security.stop, self._save_calibrations)

        self._build_observation(record, left)
        self._build_model(settings)
        self.local = local_listener(
            settings, self.health, self.security, self.readiness, self.policies
        )
        self.webhooks = webhook_listener(settings, self.guard, self.security)
        self.models = recall_models(settings)
        self._at_end(self.local.stop, self.webhooks.stop, self.models.close)

        self._connect(extensions or ExtensionRegistry())

    def _build_model(self, settings: Settings) -> None:
        """Build the model's provider, what finds its context windows, and its tools."""
        self.windows = windows_of(settings)
        self._window_search = window_search(settings, self.windows)
        self.model_health = ModelHealth(self._clock)
        self._provider = provider_of(
            settings, self._clock, self.policies, self.windows, self.model_health
        )
        self._toolbox = toolbox_of(settings, self._clock)
        self._at_end(self._window_search.stop, self._provider.close, self._toolbox.close)
        self.speech = speech_of(settings, self._clock)
        self._at_end(self.speech.close)

    def _build_observation(self, record: WorkRecord | None, left: Sequence[Crash]) -> None:
        """Build what observes the work: tracing, health, recent activity, and the quarantine of
        work that crashes the process."""
        endpoint = endpoint_of(self.settings.observe.otlp_endpoint, os.environ)
        self._tracing = open_tracing(endpoint, self._clock)
        if self._tracing is not None:
            self._at_end(self._tracing.close)
        self.health = build_health(self.settings, self.storage, self._clock, self.policies)
        self._at_end(self.health.stop)
        self.activity = RecentActivity(self.health.metrics.count)
        self.guard = Quarantine(
            CrashCounts(self.storage.stores.states.of(*CRASHES)),
            self.storage.quarantine,
            self._clock,
            self.activity.count,
            record,
            left,
        )

    def _connect(self, extensions: ExtensionRegistry) -> None:
        """Build what a message passes: accounts, memory, services, jobs, inbound and outbound."""
        settings, connected = self.settings, self._accounts(extensions)
        self.pictures = Pictures(connected, self._clock)
        self.memory = self._memory(connected)
        self._at_end(self.memory.close)
        self.console_sessions = sessions_of(
            settings, self.storage, self._clock, lambda: self.local.base_url
        )
        self.services = self._services(connected, extensions)
        if self.memory.agents is not None:
            self.memory.agents.people.attach(self.services)
        self.playgrounds = playgrounds_of(
            settings, self.services, self.models, self.console_sessions
        )
        self._at_end(self.playgrounds.stop)
        self.console_jobs = ConsoleJobs(self._clock)
        self._at_end(self.console_jobs.stop)
        tokens, described = self.storage.memory.tokens, partial(described_operations, settings)
        mount_console(self.local, self._console_parts())
        add_memory_api(self.local, self.memory, tokens, settings, self.services, described)
        add_mcp_servers(self.local, self.memory, tokens, settings, self.services)
        self._calibrations = PersistentCalibrations(
            self.services.calibrations,
            self.storage.stores.states.of("parley", "counting"),
            lambda: self.services.assistant.models,
        )
        self._dispatcher, control = self._routing()
        self._shared_work = self._share(connected)
        self._intake = Intake(self.services, self._dispatcher_of_intake(control))
        self.jobs = self._build_jobs(extensions)
        self._at_end(*(job.stop for job in reversed(self.jobs.active)))

        self.supervisor = self._supervise(connected)
        self._at_end(self.supervisor.stop)
        if self._shared_work is not None:
            self._at_end(self._shared_work.stop)
        self._at_end(
            self.services.indicators.stop,
            partial(self.services.indicators.drain, REACTION_SECONDS),
            self.services.deliverer.stop,
            self._dispatcher.stop,
        )
        self._leftovers = self._sweep_outbox()
        self._reports = self._process_reports()
        self.health.attach(self._health_sources())
        self.local.add_routes(page_link_routes(self.page_links))
        self.local.add_routes(start_routes(self._start_page()))
        self.local.add_routes(DocumentationPages().routes())

    async def start(
        self, on_ready: OnReady | None = None, *, shows_owner_code: bool = False
    ) -> None:
        """Open the stores, connect every account, resume the work of an earlier run.

        Returns once each account has connected or failed for the first time, or takes long.
        `on_ready` receives the name of each account that connected. `shows_owner_code`: the caller
        shows one where there is no owner, so that no warning is needed. Raises `SettingsError`
        while a budget is set and a model has no price: it would answer nobody.
        """
        self._on_ready = on_ready
        await self.storage.start()
        await self.configuration.refresh()
        if problems := unpriced_models(self.configuration.settings):
            raise SettingsError(problems)
        await self.guard.start()
        await self.memory.start()
        self.security.start()
        await self._calibrations.load()
        if self._reports is not None:
            await self._reports.start()
        await self.health.start()
        await self.local.start()
        await self._toolbox.start()
        self._window_search.start()
        await self.services.admissions.refresh()
        if not shows_owner_code:
            self._warn_without_approvers()
        await self._resume_work()
        for job in self.jobs.active:
            job.start()
        await self.supervisor.start()
        self.health.phase = "ready"

    async def load_libraries(self) -> None:
        """Load what the model's provider imports late; an earlier answer waits for it."""
        if isinstance(self._provider, CanLoad):
            with no_collections():
                await self._provider.load()

    async def stop(self, drain: float = DRAIN_SECONDS) -> None:
        """Finish current work within `drain` seconds and close everything. Messages that arrive
        meanwhile are stored for the next start."""
        self.health.phase = "stopping"
        if self._shared_work is not None:
            self._shared_work.stop_taking()
        if self._leftovers is not None:
            await self._leftovers.stop()
        deliverer, until = self.services.deliverer, self._clock.monotonic() + drain
        answered = await self._dispatcher.drain(drain)
        left = max(0.0, until - self._clock.monotonic())
        if not (await deliverer.drain(left) and answered):
            log.warning("not_drained", hint="the next start resumes the rest")
        await self._closing.aclose()

    async def decisions(self, limit: int = 50) -> list[Trace]:
        """The latest traces, newest first, including those of ignored messages."""
        return list(reversed(self.activity.recent))[:limit]

    @property
    def model(self) -> str:
        """The model that answers, for people."""
        return self.services.assistant.default_model

    def page_addresses(self) -> list[str]:
        """Addresses of the pages of accounts here."""
        return [self.local.base_url + page for page in self._pages()]

    def page_links(self) -> list[str]:
        """New links to the pages of accounts here; behind `server.token` each admits one
        browser."""
        return [self.local.login_link(page) for page in self._pages()]

    def _pages(self) -> list[str]:
        adapters = [account.adapter for account in self.services.connected.values()]
        return [adapter.page for adapter in adapters if isinstance(adapter, CanServePages)]

    @property
    def console_address(self) -> str:
        """The address of the console; empty where it is off."""
        return self.console_sessions.page if self.settings.console.enabled else ""

    async def console_link(self) -> str:
        """A link that signs one browser in to the console, once, as an owner without a chat
        account. Raises `StoreUnavailable`."""
        return await self.console_sessions.link(DEFAULT_TENANT, str(LOCAL_OPERATOR))

    @property
    def webhook_url(self) -> str:
        """The address of the public listener, for platforms that call webhooks."""
        return self.webhooks.base_url

    def settled(self) -> bool:
        """True when every accepted message is answered, and every answer is sent."""
        return self._dispatcher.idle and self.services.deliverer.idle

    def readiness(self) -> Readiness:
        """The readiness to take and answer messages, for `/readyz`."""
        return self.health.readiness()

    def _start_page(self) -> str:
        """The path to which `/` of the local listener leads: the console, or else the first page;
        empty without one."""
        if self.settings.console.enabled:
            return f"{PREFIX}/"
        adapters = [account.adapter for account in self.services.connected.values()]
        return next((one.page for one in adapters if isinstance(one, CanServePages)), "")

    def _at_end(self, *closes: Callable[[], Awaitable[object]]) -> None:
        """Register parts to close: the last one registered is closed first."""
        for close in closes:
            self._closing.push_async_callback(_close, close)

    def _warn_without_approvers(self) -> None:
        """Warn where nobody can be answered: no owner or operator is known."""
        access = self.configuration.settings.access
        if access.admission == "everybody" or access.owners or access.operators:
            return
        if not (access.allowed_users or self.services.admissions.has_owners):
            log.warning("no_owner", hint="make one with `parley access owner-code`")

    async def _save_calibrations(self) -> None:
        await self._calibrations.save()

    async def _account_ready(self, name: str) -> None:
        """An account connected, perhaps with the first webhook path."""
        await self.webhooks.start_if_needed()
        self._senders[name].connected.set()
        if self._on_ready is not None:
            await self._on_ready(name)

    async def _resume_work(self) -> None:
        """Resume unfinished work: from Redis for this role, or from the file."""
        await self.services.deliverer.start()
        if self._leftovers is not None:
            self._leftovers.start()
        if self._shared_work is not None:
            self._shared_work.start()
            return
        entries = await self.services.stores.inbox.unfinished(MAX_UNFINISHED)
        places = [entry.event.place for entry in entries]
        known = [(place.platform, place.account) in self.services.connected for place in places]
        for entry, is_known in zip(entries, known, strict=True):
            if is_known:
                self._dispatcher.dispatch(entry)
        if len(entries) == MAX_UNFINISHED:
            log.warning("inbox_resumed_in_part", hint="the next start resumes the rest")
        if not all(known):
            log.warning("accounts_missing", events=known.count(False), hint="their events are kept")

    def _memory(self, connected: Accounts) -> WiredMemory:
        storage, self.repositories = self.storage, program_index(self.settings, self.models)
        if self.repositories is not None:
            self._at_end(self.repositories.close)
        return wire_memory(
            self.settings,
            storage,
            self._clock,
            self.models,
            watch=self.health.metrics.recall.recalled,
            check=PlatformMembership(connected, self._clock),
            describe=SpaceDescriptions(connected).of,
            guard=self.guard,
            judge=ModelJudge(
                lambda: self.services.provider,
                storage.stores.usage,
                lambda: self.services.prices,
                self._clock,
            ).supports,
            written=self.health.metrics.written,
            backends=load_backends(self.settings, self._clock, self.activity.count),
            repositories=repository_reader(self.repositories, storage.memory.room_bindings),
            more_data=[self._recent_secrets, self.pictures],
        )

    def _accounts(self, extensions: ExtensionRegistry) -> Accounts:
        shared = self.storage.hot.shared
        if self._role == "worker":
            return {} if shared is None else remote_accounts(self.settings, shared)
        connected = local_accounts(
            self.settings,
            self._platform,
            self.storage.stores.states,
            self.storage.long_lived_states,
            self.webhooks,
            self._clock,
            self.activity.count,
            self.guard,
            self.storage.own_conversations,
            extensions,
            ReaderLanguages(self._readers, self.policies, extensions),
        )
        for account in connected.values():
            if isinstance(account.adapter, CanServePages):
                self.local.add_routes(account.adapter.routes())
        return connected

    def _console_parts(self) -> ConsoleParts:
        return ConsoleParts(
            self.settings,
            self.services,
            self.storage,
            self.memory,
            self.health,
            self.activity,
            self.console_sessions,
            self.playgrounds,
            self.configuration,
            self.console_jobs,
            self.pictures,
            self._restart,
        )

    def _routing(self) -> tuple[LocalDispatcher, CommandHandler]:
        shared, overlap = self.storage.hot.shared, self.settings.conversation.overlap
        pipeline = Pipeline(self.services, shared=shared is not None)
        control = CommandHandler(self.services, pipeline)
        return LocalDispatcher(self.services, pipeline, control, overlap=overlap), control

    def _build_jobs(self, extensions: ExtensionRegistry) -> Jobs:
        parts = JobParts(
            self.settings,
            self.storage,
            self.memory,
            self.models,
            self.services,
            self._dispatcher.queues,
            self._calibrations,
            self.guard,
            self.activity.count,
            self._clock,
            self.configuration,
            self._intake.add_scheduled,
            self.repositories,
        )
        return build_jobs(parts, self._role, extensions)

    def _sweep_outbox(self) -> OutboxSweeper | None:
        unsent = self.storage.hot.unsent
        if unsent is None:
            return None
        return OutboxSweeper(unsent, self.services.deliverer, self._clock)

    def _share(self, connected: Accounts) -> "SharedWork | None":
        shared = self.storage.hot.shared
        if shared is not None:
            from parley.runtime.shared_work import SharedWork  # noqa: PLC0415 - Redis's library, if configured

            return SharedWork(
                shared, self._role, self._dispatcher, self.services.deliverer, connected
            )
        if self._role == "all":
            return None
        raise ConfigurationError(
            f"--role {self._role} needs a storage.url that several processes can share: redis://HOST:PORT/0"
        )

    def _dispatcher_of_intake(self, control: CommandHandler) -> Dispatcher:
        if self._shared_work is None:
            return self._dispatcher
        return SharedDispatcher(control, self.storage.stores.states.of("parley", "held"))

    def _supervise(self, connected: Accounts) -> Supervisor:
        # A worker keeps no connection: adapter processes do.
        accounts = {} if self._role == "worker" else connected
        return Supervisor(
            {account_name(key): account.adapter for key, account in accounts.items()},
            self._intake,
            self._clock,
            self._account_ready,
            lambda name: self._senders[name].connected.clear(),
        )

    def _health_sources(self) -> HealthSources:
        shared = self.storage.hot.shared
        return HealthSources(
            self._dispatcher.queues,
            self.services.deliverer,
            self.supervisor,
            self.webhooks,
            lambda: self.storage.unwritten,
            lambda: shared.depths.latest if shared is not None else None,
            lambda: self.guard.quarantined,
            self._toolbox.states,
            {f"memory: {one.name}": one.probe for one in self.memory.backends},
            lambda: self.configuration.problem,
            lambda: self.guard.record.problem,
            lambda: self._reports.installation if self._reports is not None else None,
            lambda: self.storage.losses,
            self.model_health,
            lambda: findings_of(self._provider),
        )

    def _process_reports(self) -> "ProcessReports | None":
        shared = self.storage.hot.shared
        if shared is None:
            return None
        from parley.runtime.process_reports import ProcessReports, accounts_of, models_of  # noqa: PLC0415 - Redis's library, if configured

        names = account_names(self.settings)
        host, role, platform = socket.gethostname(), self._role, self._platform

        def describe() -> ProcessReport:
            now = self._clock.now()
            served = accounts_of(self.supervisor, now)
            models = models_of(self.model_health, now)
            findings = findings_of(self._provider)
            return ProcessReport(host, role, platform, served, names, models, findings)

        reports = ProcessReports(shared.processes, describe, names, self._clock, self.model_health)
        self._at_end(reports.stop)
        return reports

    def _services(self, connected: Accounts, extensions: ExtensionRegistry) -> Services:
        settings, stores = self.settings, self.storage.stores
        watchers = (self.health.metrics, self._tracing, *self._observers)
        observer = CombinedObserver(*(each for each in watchers if each is not None))
        access = wire_access(settings, self.storage, self._clock)
        more_commands = with_console(self.memory.commands, self.console_sessions)
        return Services(
            current=self.policies,
            stores=stores,
            provider=self._provider,
            windows=self.windows,
            toolbox=self._toolbox,
            connected=connected,
            deliverer=self._deliverer(connected, observer, extensions),
            loop_guard=BotLoopGuard(),
            extensions=extensions,
            commands=(*handled_commands(settings), *more_commands.specs),
            clock=self._clock,
            count=self.activity.count,
            observe=self.activity.observe,
            retry=StoreRetry(self._clock),
            observer=observer,
            memory=self.memory.remembering,
            identities=self.memory.identities,
            more_commands=more_commands,
            guard=self.guard,
            slots=Slots(settings.workers.concurrency),
            store_places=StorePlaces.for_connections(
                settings.database.connections
                if settings.database.url.startswith("postgresql://")
                else 0
            ),
            recent_secrets=self._recent_secrets,
            security=self.security,
            admissions=access.admissions,
            pairing=access.pairing,
            owner_claims=access.claims,
            readers=self._readers,
            disclosure=Disclosure(self.storage.first_contacts, self._clock),
            long_documents=self.storage.long_documents,
            documents=document_reader(settings),
            speech=self.speech,
            catchup=catchup_of(settings, self.storage, self._clock),
        )

    def _deliverer(
        self, connected: Accounts, observer: Observer, extensions: ExtensionRegistry
    ) -> Deliverer:
        settings = self.settings
        senders = {
            key: AccountSender(
                account.adapter, Pacer(pace_of(account.manifest.pace, settings), self._clock)
            )
            for key, account in connected.items()
        }
        self._senders = {account_name(key): sender for key, sender in senders.items()}
        if self._role == "worker":
            for sender in senders.values():
                sender.connected.set()  # the adapter process checks it
        shared, sends = self.storage.hot.shared, self._role != "worker"
        return Deliverer(
            self.storage.stores.outbox,
            senders,
            self._clock,
            delivery_rules(settings),
            self.activity.count,
            observer,
            external_source=shared is not None,
            has_all=shared.sends.has_passed_on if shared and sends else lambda _: True,
            guard=self.guard,
            note_sent=self.storage.stores.conversations.note_sent,
            language_of=ReaderLanguages(self._readers, self.policies, extensions).of_send,
        )


async def _close(close: Callable[[], Awaitable[object]]) -> None:
    """Close one part. A failure does not keep the next one open."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await close()
    except Exception:
        log.exception("part_not_closed", part=getattr(close, "__qualname__", repr(close)))
