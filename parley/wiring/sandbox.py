"""A sandbox: the pipeline with the program's model, prompt and policies, on stores in memory.

Nothing of a person is in its stores, nothing of it reaches a platform or a file, and it is gone
with the process. Only its cost is stored: the person who tries things out pays for it.
"""

import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.conversation import key_of, place_to_answer
from gateway.errors import ModelError, Permanent, ToolError
from gateway.extensions import ExtensionRegistry
from gateway.immutable import replace
from gateway.llm.calibration import TokenCalibrations
from gateway.message import ChatMessage, MessageReceived, Outbound, Receipt
from gateway.observe.security_log import SecurityLog
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.retry_decision import DeliveryRules
from gateway.pairing.admissions import Admissions
from gateway.people import PersonId, Role
from gateway.platforms import ConnectedAccount, installed
from gateway.policy.access import RolePolicy
from gateway.policy.budgets import Budgets
from gateway.policy.decision import Decision
from gateway.policy.history_redaction import RecentSecrets
from gateway.policy.invocation import decide_invocation
from gateway.policy.rate_limits import BotLoopGuard
from gateway.ports import (
    AdapterManifest,
    AlarmClock,
    Capabilities,
    EventSink,
    LLMProvider,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolAnswer,
    ToolSpec,
)
from gateway.ports.identities import NoLinkedIdentities
from gateway.ports.memory import NoCommands
from gateway.ports.observer import CombinedObserver
from gateway.ports.queues import InboxEntry
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn, UnitOfWork
from gateway.ports.work_guard import UNGUARDED
from gateway.store_retry import StoreRetry
from gateway.stores.usage import Payer, UsageLedger
from gateway.turn.context.summary import INSTRUCTIONS
from gateway.turn.pipeline import Pipeline
from gateway.turn.services import CurrentPolicies, Services
from gateway.turn.slots import Slots
from gateway.turn.tools import Toolbox
from parley.config import Settings
from parley.config.memory import BUILTIN
from parley.config.sections import MEMORY
from parley.wiring.memory import WiredMemory, wire_memory
from parley.wiring.recall import RecallModels
from parley.wiring.storage import Storage

TENANT: Final = "playground"
"""The tenant of everything in a sandbox; its stores have no other."""
ACCOUNT: Final = "main"
HOLD: Final = timedelta(hours=1)
NOT_RUN: Final = (
    "The playground does not run this tool: it can change something, or it handles secrets."
)
NOT_SENT: Final = "a sandbox sends nothing"


class AnswerProgress(Struct, frozen=True):
    """Receives what happens while an answer is written: the text so far, and each request to the
    model."""

    on_text: Callable[[str], None]
    on_request: Callable[[ModelRequest], None]


class SandboxTurn(Struct, frozen=True):
    """The result of a message: `trace` has its decisions, and `outbound` what the platform would
    receive. `answer` is the answer of the model as it would be stored, empty for none."""

    trace: Trace
    outbound: tuple[Outbound, ...] = ()
    answer: str = ""
    micros: int = 0


class Sandbox:
    """Stores in memory, and the pipeline on them. Open between `start` and `stop`."""

    def __init__(
        self, settings: Settings, clock: AlarmClock, models: RecallModels, payer: Payer
    ) -> None:
        self._settings = in_memory(settings)
        self._clock = clock
        self._models = models
        self._payer = payer
        self._storage = Storage(self._settings, clock)
        self._memory: WiredMemory | None = None
        self._loops = BotLoopGuard()
        self._secrets = RecentSecrets()
        self._slots = Slots(1)

    async def start(self) -> None:
        """Create the tables. Raises `StoreUnavailable`."""
        await self._storage.start(exclusive=False)
        storage = self._storage
        self._memory = wire_memory(self._settings, storage, self._clock, self._models)

    async def stop(self) -> None:
        """Forget everything."""
        await self._storage.stop()

    async def ask(
        self, message: ChatMessage, role: Role, program: Services, progress: AnswerProgress
    ) -> SandboxTurn:
        """Process a message of a person with this role as the program would, with its present
        model, prompt and policies. Raises `StoreUnavailable`."""
        unit = _UnitOfWork(self._storage.stores.unit_of_work, self._ledger(program))
        services = self._services(program, unit, message, role, progress)
        place, id_ = message.place, f"playground:{uuid.uuid4().hex}"
        account = services.connected[place.platform, place.account]
        capabilities = account.manifest.capabilities
        key = key_of(TENANT, place_to_answer(place, message.id, capabilities))
        takes_part = capabilities.joins_threads and bool(place.thread_id)
        takes_part = takes_part and await services.stores.conversations.takes_part(key)
        called = decide_invocation(message, services.policies.invocation, bot_takes_part=takes_part)
        now = self._clock.now()
        if not called.decision.allowed:
            return SandboxTurn(_ignored(message, str(key), called.decision, now))
        event = MessageReceived(message.id, replace(message, content=called.content))
        entry = InboxEntry(id_, str(key), event, now, called.decision.reason)
        await services.stores.inbox.add(entry, HOLD)
        await Pipeline(services).handle([entry])
        return unit.result()

    def _ledger(self, program: Services) -> UsageLedger:
        return program.stores.usage.paid_by(self._payer)

    def _services(
        self,
        program: Services,
        unit: "_UnitOfWork",
        message: ChatMessage,
        role: Role,
        progress: AnswerProgress,
    ) -> Services:
        """Return the program's services on the stores of this sandbox: the model, the prompt, the
        policies, the prices and the extensions that check access are the program's own."""
        if self._memory is None:
            raise AssertionError("a sandbox is started before it is asked")
        stores = replace(self._storage.stores, unit_of_work=unit, usage=unit.ledger)
        person, limits = message.person, program.policies.budgets.in_force()
        policies = replace(
            program.policies,
            roles=roles_of(person, role),
            budgets=Budgets(
                user_per_day=limits["user_per_day"], user_per_month=limits["user_per_month"]
            ),
            live=False,
            acknowledge="",
        )
        admissions = Admissions(self._storage.admissions, self._clock)
        admissions.keep(TENANT, str(person), role.at_least(Role.MEMBER))
        return replace(
            program,
            current=CurrentPolicies(policies),
            stores=stores,
            provider=_Watched(program.provider, progress),
            toolbox=Toolbox((_ReadOnlyTools(program.toolbox),)),
            connected=sandbox_accounts(),
            deliverer=Deliverer(
                stores.outbox, {}, self._clock, DeliveryRules(), _uncounted, external_source=True
            ),
            loop_guard=self._loops,
            extensions=ExtensionRegistry(access_controller=program.extensions.access_controller),
            count=_uncounted,
            observe=unit.observed,
            retry=StoreRetry(self._clock),
            observer=CombinedObserver(),
            memory=self._memory.remembering,
            identities=NoLinkedIdentities(),
            more_commands=NoCommands(),
            guard=UNGUARDED,
            calibrations=TokenCalibrations(),
            recent_secrets=self._secrets,
            slots=self._slots,
            security=SecurityLog(),
            admissions=admissions,
            pairing=None,
            owner_claims=None,
            catchup=None,
        )


def in_memory(settings: Settings) -> Settings:
    """Return a configuration with all state in memory, without backends of memory, and without
    sources that a citation would be read from."""
    grounding: dict[str, object] = {
        "hosts": (),
        "repositories": (),
        "trackers": {},
        "tracker_tokens": {},
    }
    return settings.model_copy(
        update={
            "database": settings.database.model_copy(update={"url": MEMORY}),
            "storage": settings.storage.model_copy(update={"url": MEMORY}),
            "memory": settings.memory.model_copy(update={"backend": BUILTIN}),
            "grounding": settings.grounding.model_copy(update=grounding),
            "server": settings.server.model_copy(update={"key_folder": None}),
        }
    )


def roles_of(person: PersonId, role: Role) -> RolePolicy:
    """Return the lists of a tenant with one person, who has this role."""
    names = frozenset({f"{person.platform}:{person.id}"})
    return RolePolicy(
        owners=names if role is Role.OWNER else frozenset(),
        operators=names if role is Role.OPERATOR else frozenset(),
        members=names if role is Role.MEMBER else frozenset(),
        default=Role.GUEST,
    )


def sandbox_accounts() -> Mapping[tuple[str, str], ConnectedAccount]:
    """Return an account of each installed platform that is connected to nothing."""
    return {
        (name, ACCOUNT): ConnectedAccount.of(manifest, _Disconnected(manifest))
        for name, manifest in installed().items()
    }


class _Disconnected:
    """Implements `PlatformAdapter` without a platform."""

    def __init__(self, manifest: AdapterManifest) -> None:
        self.platform = manifest.platform
        self.account = ACCOUNT
        self.capabilities: Capabilities = manifest.capabilities

    async def connect(self, sink: EventSink) -> None:
        """Do nothing."""

    async def wait_closed(self) -> None:
        """Do nothing."""

    async def disconnect(self) -> None:
        """Do nothing."""

    async def send(self, outbound: Outbound) -> Receipt:
        raise Permanent(NOT_SENT)


class _UnitOfWork:
    """Implements `UnitOfWork`: keeps the result of a turn, and charges it to who pays."""

    def __init__(self, inner: UnitOfWork, ledger: UsageLedger) -> None:
        self._inner = inner
        self.ledger = ledger
        self._done: CompletedTurn | None = None

    async def complete(self, done: CompletedTurn) -> bool:
        await self.ledger.settle(done.trace.id, done.usage, done.accounts)
        self._done = done
        return await self._inner.complete(done)

    async def may_repeat(self, turn_id: str, received_at: datetime) -> bool:
        return await self._inner.may_repeat(turn_id, received_at)

    def observed(self, trace: Trace) -> None:
        """Do nothing: the trace is in what was completed."""

    def result(self) -> SandboxTurn:
        """Return the result of the turn."""
        done = self._done
        if done is None:
            raise AssertionError("a turn ends with what it stores")
        answer = next((one.text for one in done.turns if one.role == "assistant"), "")
        micros = sum(row.micros for row in done.usage)
        return SandboxTurn(done.trace, done.outbound, answer, micros)


class _Watched:
    """Implements `LLMProvider`: a model whose answers are seen while they are written."""

    def __init__(self, provider: LLMProvider, progress: AnswerProgress) -> None:
        self._provider = provider
        self._progress = progress
        self._written = ""

    @property
    def name(self) -> str:
        return self._provider.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        stream = self._provider.stream(request)
        if request.system == INSTRUCTIONS:  # a summary of earlier messages, which nobody reads
            async for event in stream:
                yield event
            return
        self._progress.on_request(request)
        before = f"{self._written}\n\n" if self._written else ""
        text = ""
        try:
            async for event in stream:
                if isinstance(event, TextDelta):
                    text += event.text
                    self._progress.on_text(before + text)
                yield event
        except ModelError:
            self._progress.on_text(self._written)
            raise
        self._written = before + text if text else self._written

    async def close(self) -> None:
        """Leave the provider open: it is the program's."""


class _ReadOnlyTools:
    """Implements `ToolProvider`: the program's tools, of which only those run that change nothing
    and handle no secrets. The model sees all of them, as in a chat."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._runs: frozenset[str] = frozenset()

    async def tools(self) -> tuple[ToolSpec, ...]:
        specs = await self._toolbox.tools()
        self._runs = frozenset(
            one.name for one in specs if not one.side_effects and not one.secrets
        )
        return specs

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        if name not in self._runs:
            raise ToolError(NOT_RUN)
        return await self._toolbox.call(name, arguments)

    async def close(self) -> None:
        """Leave the tools open: they are the program's."""


def _uncounted(_what: str, _detail: str = "") -> None:
    """Count nothing."""


def _ignored(message: ChatMessage, conversation: str, why: Decision, now: datetime) -> Trace:
    place = message.place
    return Trace(
        *(message.id, message.id, place.platform, place.account, conversation, "message", now),
        *((why,), "ignored", 0.0),
        audience=place.audience,
    )
