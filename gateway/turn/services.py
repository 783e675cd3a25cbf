"""The services of the stages: policies, stores and ports, put together once in `parley/app.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from msgspec import Struct

from gateway.appointments.appointment import AppointmentPolicy
from gateway.background_tasks import BackgroundTasks
from gateway.conversation import ContextLimits, SummaryPolicy
from gateway.documents.reader import DocumentReader
from gateway.errors import TenantUnknown
from gateway.extensions import ExtensionRegistry
from gateway.immutable import replace
from gateway.languages.installed import LanguagePolicy, Languages
from gateway.llm.calibration import TokenCalibrations
from gateway.llm.known_windows import KnownWindows
from gateway.llm.prices import DEFAULT_PRICES, Price
from gateway.message import (
    Notice,
    Place,
)
from gateway.observe.security_log import SecurityLog
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.notices import NoticeSender
from gateway.pairing.admissions import Admissions, OwnerClaims
from gateway.pairing.requests import Pairing
from gateway.people import identity_of
from gateway.platforms import ConnectedAccount
from gateway.policy.access import AccessPolicy, RolePolicy, ToolPolicy
from gateway.policy.budgets import Budgets
from gateway.policy.history_redaction import RecentSecrets
from gateway.policy.invocation import InvocationPolicy
from gateway.policy.persona import Assistant
from gateway.policy.proactive import ProactivePolicy
from gateway.policy.question_age import AgeLimits
from gateway.policy.rate_limits import BotLoopGuard, RateLimits
from gateway.ports import (
    AlarmClock,
    CommandSpec,
    LLMProvider,
)
from gateway.ports.adapter import AdapterStates
from gateway.ports.identities import IdentityResolver, NoLinkedIdentities
from gateway.ports.long_documents import LongDocumentIndex, NoLongDocuments
from gateway.ports.memory import CommandSet, MemoryPort, NoCommands, NoMemory
from gateway.ports.observer import CombinedObserver, Observer
from gateway.ports.prompt_blocks import CHAT_RANKS, BlockKind
from gateway.ports.queues import Inbox, Outbox
from gateway.ports.speech import Speech
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import UnitOfWork
from gateway.ports.usage import Buckets
from gateway.ports.work_guard import UNGUARDED, WorkGuard
from gateway.store_retry import StoreRetry
from gateway.stores.appointments import AppointmentStore
from gateway.stores.conversations import ConversationNoteStore, Conversations
from gateway.stores.feedback import FeedbackStore
from gateway.stores.proactive import ProactiveStore
from gateway.stores.takeovers import TakeoverStore
from gateway.stores.traces import Traces
from gateway.stores.usage import UsageLedger
from gateway.text import Language
from gateway.turn.awaited_people import AwaitedPeople
from gateway.turn.catchup import CatchUp
from gateway.turn.disclosure import Disclosure
from gateway.turn.known_rooms import KnownRooms
from gateway.turn.model_turn import TurnLimits
from gateway.turn.readers import (
    Readers,
    place_language,
)
from gateway.turn.slots import Slots, StorePlaces
from gateway.turn.thread_failures import ThreadFailures
from gateway.turn.tools import Toolbox
from gateway.zones import TimePolicy


class Stores(Struct, frozen=True):
    """The stores of the gateway. Without `takeovers` nobody takes a conversation over, without
    `appointments` there are none."""

    inbox: Inbox
    """Accepted events."""
    outbox: Outbox
    """Sends that wait, and their receipts."""
    buckets: Buckets
    """Token buckets of the rate limits."""
    states: AdapterStates
    """The state of adapters, and of the program, with an expiry."""
    conversations: Conversations
    """Stored conversations."""
    notes: ConversationNoteStore
    """Tasks and summaries of conversations."""
    usage: UsageLedger
    """Calls of the model, and what they cost."""
    traces: Traces
    """The decisions about messages."""
    feedback: FeedbackStore
    """Thumbs under answers."""
    unit_of_work: UnitOfWork
    """Completes a turn."""
    takeovers: TakeoverStore | None = None
    appointments: AppointmentStore | None = None
    proactive: ProactiveStore | None = None
    """Messages that the assistant writes first; None: they are sent at once."""


@dataclass(frozen=True, slots=True)
class Policies:
    """All policies of the operator, with the assistant and the prices of its models.
    `acknowledge` is an emoji, empty for no sign. A conversation that an operator took over returns
    to the assistant after `takeover_idle` without an answer."""

    assistant: Assistant = field(default_factory=Assistant)
    """The assistant that answers."""
    prices: Mapping[str, Price] = field(default_factory=lambda: dict(DEFAULT_PRICES))
    """Prices by the name of the model."""
    invocation: InvocationPolicy = field(default_factory=InvocationPolicy)
    """The messages that address the assistant."""
    access: AccessPolicy = field(default_factory=AccessPolicy)
    """Lists and admission."""
    roles: RolePolicy = field(default_factory=RolePolicy)
    """The roles of people."""
    tools: ToolPolicy = field(default_factory=ToolPolicy)
    """The rules for tools."""
    limits: RateLimits = field(default_factory=RateLimits)
    """Rate limits."""
    budgets: Budgets = field(default_factory=Budgets)
    """Budgets of people and workspaces."""
    context: ContextLimits = field(default_factory=ContextLimits)
    """Limits of the history in the prompt."""
    ages: AgeLimits = field(default_factory=AgeLimits)
    """The age from which a question is late, or too old."""
    summaries: SummaryPolicy = field(default_factory=SummaryPolicy)
    """Conditions and limits of summaries."""
    turn: TurnLimits = field(default_factory=TurnLimits)
    """Limits of a turn."""
    ranks: tuple[BlockKind, ...] = CHAT_RANKS
    """Blocks of the prompt, the most important first."""
    reads_threads: bool = True
    """True if the earlier messages of a thread are read."""
    live: bool = True
    """True if answers are shown while they grow."""
    acknowledge: str = ""
    takeover_idle: timedelta = timedelta(hours=8)
    languages: Languages = field(default_factory=lambda: Languages(LanguagePolicy()))
    """The languages of the assistant's own sentences."""
    times: TimePolicy = field(default_factory=TimePolicy)
    """The time zones of the installation and of its places."""
    appointments: AppointmentPolicy = field(default_factory=AppointmentPolicy)
    """Reminders and scheduled questions."""
    proactive: ProactivePolicy = field(default_factory=ProactivePolicy)
    """The rules of what the assistant writes first."""


@dataclass(slots=True)
class CurrentPolicies:
    """The policies in force. A change of the configuration replaces the value as a whole."""

    value: Policies = field(default_factory=Policies)
    """The policies."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services of all stages. `current` are the policies in force, or those of one turn
    (`under`). `observe` receives every trace, also of events that are not
    stored; `observer` receives events with their times; `slots` limit the running turns,
    `store_places` the stages that use the stores; `retry` waits for unavailable stores;
    `indicators` are temporary reactions.
    `pairing` and `owner_claims` are None without a store of admissions."""

    current: CurrentPolicies
    stores: Stores
    """The stores of the gateway."""
    provider: LLMProvider
    """The model, with its fallbacks."""
    toolbox: Toolbox
    """The tools."""
    connected: Mapping[tuple[str, str], ConnectedAccount]
    """The accounts by platform and name."""
    deliverer: Deliverer
    """Sends what the outbox holds."""
    loop_guard: BotLoopGuard
    """Recognises bots that answer each other."""
    extensions: ExtensionRegistry
    """The extension points."""
    commands: tuple[CommandSpec, ...]
    """The commands to offer."""
    clock: AlarmClock
    """The clock."""
    count: Callable[[str, str], None]
    """Counts an event for a platform, for the metrics."""
    observe: Callable[[Trace], None]
    retry: StoreRetry
    observer: Observer = field(default_factory=CombinedObserver)
    memory: MemoryPort = field(default_factory=NoMemory)
    """Memory."""
    identities: IdentityResolver = field(default_factory=NoLinkedIdentities)
    """The linked identities of a person."""
    more_commands: CommandSet = field(default_factory=NoCommands)
    """Commands of memory."""
    guard: WorkGuard = UNGUARDED
    """The crash-loop guard."""
    calibrations: TokenCalibrations = field(default_factory=TokenCalibrations)
    """Ratios of counted to estimated tokens."""
    windows: KnownWindows = field(default_factory=KnownWindows)
    """Context windows that were found."""
    recent_secrets: RecentSecrets = field(default_factory=RecentSecrets)
    """Secrets that were seen lately, to recognise copies."""
    thread_failures: ThreadFailures = field(default_factory=ThreadFailures)
    """Failed reads of threads."""
    slots: Slots = field(default_factory=Slots)
    store_places: StorePlaces = field(default_factory=partial(StorePlaces.for_connections, 0))
    indicators: BackgroundTasks = field(default_factory=lambda: BackgroundTasks("indicator_failed"))
    security: SecurityLog = field(default_factory=SecurityLog)
    """The security log."""
    admissions: Admissions = field(default_factory=Admissions)
    """Approvals, and stored owners."""
    documents: DocumentReader | None = field(default_factory=DocumentReader)
    """Reads documents of people; None if they are not to be read."""
    long_documents: LongDocumentIndex = field(default_factory=NoLongDocuments)
    """Searches documents of people."""
    pairing: Pairing | None = None
    owner_claims: OwnerClaims | None = None
    readers: Readers = field(default_factory=Readers)
    """The languages of people."""
    disclosure: Disclosure = field(default_factory=Disclosure)
    """First contacts."""
    speech: Speech = field(default_factory=Speech)
    """Recognises and makes speech."""
    catchup: CatchUp | None = None
    """Messages of places, for people who ask what they missed; None where it is off."""
    awaited: AwaitedPeople = field(default_factory=AwaitedPeople)
    """People who have to write before something that waits can be sent to them."""
    rooms: KnownRooms = field(default_factory=KnownRooms)
    """The readers of rooms, by their latest messages."""

    @property
    def policies(self) -> Policies:
        """The policies."""
        return self.current.value

    @property
    def assistant(self) -> Assistant:
        """The assistant that answers."""
        return self.current.value.assistant

    @property
    def prices(self) -> Mapping[str, Price]:
        """The prices of models."""
        return self.current.value.prices

    def window(self, model: str = "") -> int:
        """The smallest window of all models in tokens, as configured or found. `model` replaces the
        name of the first one."""
        configured = self.assistant.window
        return min(configured, self.windows.smallest(model) or configured)

    async def language_of(self, notice: Notice) -> Language:
        """Return the language of the reader of a notice. Raises `StoreUnavailable`."""
        return await self.language_at(notice.place, notice.person)

    async def language_at(self, place: Place, person: str = "") -> Language:
        """Return the language for a message of the program itself at a place: that of its only
        reader, a `str(PersonId)`, or without one that of the place. Raises `StoreUnavailable`."""
        languages, times = self.policies.languages, self.policies.times
        if not person:
            language = await languages.loaded(place_language(languages, place) or languages.default)
            zone = await self.readers.zone_of_place(times, self._tenant_at(place), place)
            return language.in_zone(zone)
        try:
            tenant = self.extensions.tenant_of(place, identity_of(person))
        except TenantUnknown:
            return await languages.loaded(languages.default)
        zone = await self.readers.zone(times, tenant, person, place)
        return (await self.readers.language(languages, tenant, person, place)).in_zone(zone)

    def _tenant_at(self, place: Place) -> str:
        """The tenant of what everybody reads at a place; "" where each person has their own."""
        try:
            return self.extensions.tenant_of(place, None)
        except TenantUnknown:
            return ""

    def under(self, policies: Policies) -> "Services":
        """Return these services with policies that do not change: all decisions of a turn see the
        same ones."""
        return replace(self, current=CurrentPolicies(policies))


def notice_sender(services: Services) -> NoticeSender:
    """Return what sends notices that no answer carries, each in the language of its reader."""
    return NoticeSender(
        services.stores.outbox, services.deliverer, services.connected, services.language_of
    )
