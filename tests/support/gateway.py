"""A whole gateway without platforms: real stores in memory, a model that tests hold in hand."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from db.sqlite import SqliteDatabase
from gateway.commands.catalogue import APPROVE, CATCHUP, COMMANDS, REMINDERS, VOICE
from gateway.commands.handler import CommandHandler
from gateway.extensions import ExtensionRegistry
from gateway.immutable import replace
from gateway.inbound.conversation_queues import Overlap
from gateway.inbound.dispatcher import LocalDispatcher
from gateway.inbound.intake import Intake
from gateway.llm.prices import DEFAULT_PRICES, Price
from gateway.message import InboundEvent, TextCut
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.pacing import Pacer
from gateway.outbound.retry_decision import AccountSender, DeliveryRules
from gateway.pairing.admissions import Admissions, OwnerClaims
from gateway.pairing.requests import Pairing
from gateway.platforms import ConnectedAccount
from gateway.policy.persona import Assistant
from gateway.policy.rate_limits import BotLoopGuard
from gateway.ports import (
    AdapterManifest,
    Capabilities,
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    SendPace,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolProvider,
    Usage,
)
from gateway.ports.admissions import AccessChange
from gateway.ports.memory import MemoryPort, NoMemory
from gateway.ports.speech import Speech
from gateway.ports.traces import Trace
from gateway.ports.work_guard import UNGUARDED, WorkGuard
from gateway.store_retry import StoreRetry
from gateway.stores.admissions import SqlAdmissions
from gateway.stores.appointments import AppointmentStore
from gateway.stores.catchup import CatchUpStore
from gateway.stores.conversations import ConversationNoteStore, Conversations
from gateway.stores.feedback import FeedbackStore
from gateway.stores.first_contacts import FirstContacts
from gateway.stores.people_languages import PeopleLanguages
from gateway.stores.place_zones import PlaceZones
from gateway.stores.proactive import ProactiveStore
from gateway.stores.sqlite.hot_state import SqliteAdapterStates, SqliteBuckets
from gateway.stores.sqlite.queues import SqliteInbox, SqliteOutbox
from gateway.stores.takeovers import TakeoverStore
from gateway.stores.traces import Traces
from gateway.stores.unit_of_work import SqliteUnitOfWork
from gateway.stores.usage import UsageLedger
from gateway.turn.catchup import CatchUp, CatchUpRules
from gateway.turn.disclosure import Disclosure
from gateway.turn.pipeline import Pipeline
from gateway.turn.readers import Readers
from gateway.turn.services import CurrentPolicies, Policies, Services, Stores
from gateway.turn.slots import Slots
from gateway.turn.tools import Toolbox
from memory.knowledge.long_documents.index import SqlLongDocuments
from tests.support.adapter import MANIFEST, RecordingAdapter
from tests.support.clock import FakeClock, InlineThreads, settle
from tests.support.databases import sqlite_database


@dataclass
class Model:
    """Answers with what `reply` makes of the request, a text or a whole message with tool calls;
    waits while `open` is not set."""

    name: str = "offline"
    reply: Callable[[ModelRequest], str | ModelMessage] = lambda request: "answer"
    requests: list[ModelRequest] = field(default_factory=list)
    open: asyncio.Event = field(default_factory=asyncio.Event)
    usage: Usage = field(default_factory=lambda: Usage(100, 20))

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        await self.open.wait()
        reply = self.reply(request)
        if isinstance(reply, str):
            yield TextDelta(reply)
            reply = ModelMessage("assistant", (TextBlock(reply),))
        calls = any(isinstance(block, ToolCall) for block in reply.content)
        yield ModelFinished(reply, "tool_use" if calls else "end", self.usage, self.name)

    async def close(self) -> None:
        """Do nothing."""

    def last_words(self) -> str:
        """Return the last texts of the latest request, after the line with the time."""
        blocks = self.requests[-1].messages[-1].content
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        return "\n".join(text for text in texts if not text.startswith("Today is "))


@dataclass
class Gateway:
    """Everything a test of the message's way looks at."""

    intake: Intake
    dispatcher: LocalDispatcher
    services: Services
    adapter: RecordingAdapter
    model: Model
    clock: FakeClock
    traces: list[Trace]
    counts: Counter[tuple[str, str]]
    database: SqliteDatabase
    changes: "RecordedChanges"

    async def take(self, *events: InboundEvent) -> None:
        """Hand over events and let everything run that needs no time."""
        for event in events:
            await self.intake(event)
        await self.rest()

    async def rest(self) -> None:
        """Let everything run that needs no time."""
        for _ in range(8):
            await settle()

    @property
    def texts(self) -> list[str]:
        """Return the texts of the assistant."""
        return self.adapter.texts

    def outcomes(self) -> list[str]:
        """The outcomes of the turns, oldest first."""
        return [trace.outcome for trace in self.traces]

    async def stored_words(self) -> list[str]:
        """Return the stored texts of people, oldest first."""
        sql = "SELECT text FROM turns WHERE role = 'user' ORDER BY id"
        return [
            row[0] for row in await self.database.run_job(lambda db: db.execute(sql).fetchall())
        ]

    async def rows(self, table: str) -> int:
        """The number of rows of a table."""
        sql = f"SELECT count(*) FROM {table}"
        return int((await self.database.run_job(lambda db: db.execute(sql).fetchone()))[0])


@dataclass
class RecordedChanges:
    """Implements `AccessAudit`: the changes, oldest first."""

    made: list[tuple[AccessChange, str, str]] = field(default_factory=list)

    async def changed(
        self, what: AccessChange, tenant: str, person: str, by: str, **details: str
    ) -> None:
        self.made.append((what, person, by))


@asynccontextmanager
async def gateway(
    *,
    policies: Policies | None = None,
    capabilities: Capabilities | None = None,
    writes_within: timedelta | None = None,
    assistant: Assistant | None = None,
    extensions: ExtensionRegistry | None = None,
    tools: tuple[ToolProvider, ...] = (),
    overlap: Overlap = "collect",
    prices: dict[str, Price] | None = None,
    database: SqliteDatabase | None = None,
    adapter: RecordingAdapter | None = None,
    memory: MemoryPort | None = None,
    guard: WorkGuard = UNGUARDED,
    concurrency: int = 8,
    text_cut: TextCut | None = None,
    speech: Speech | None = None,
    catchup: CatchUpRules | None = None,
) -> AsyncIterator[Gateway]:
    """A running gateway whose model answers at once."""
    clock, traces, counts = FakeClock(), list[Trace](), Counter[tuple[str, str]]()
    asyncio.get_running_loop().set_default_executor(InlineThreads())
    held = database or sqlite_database(":memory:")
    if database is None:
        await held.start()
    inbox, outbox = SqliteInbox(held, clock), SqliteOutbox(held, clock)
    adapter = adapter or RecordingAdapter(capabilities)
    manifest: AdapterManifest = replace(
        MANIFEST,
        capabilities=adapter.capabilities,
        writes_within=writes_within,
        text_cut=text_cut,
    )
    line = AccountSender(adapter, Pacer(SendPace(), clock))
    line.connected.set()

    def count(what: str, detail: str = "") -> None:
        counts[what, detail] += 1

    model = Model()
    model.open.set()
    policies = replace(
        policies or Policies(),
        assistant=assistant or Assistant(),
        prices=prices or dict(DEFAULT_PRICES),
    )
    changes, store, buckets = RecordedChanges(), SqlAdmissions(held), SqliteBuckets(held, clock)
    admissions = Admissions(store, clock)
    spoken = (VOICE,) if speech is not None and speech.speaker is not None else ()
    kept = (CATCHUP,) if catchup is not None else ()
    reminders = (REMINDERS,) if policies.appointments.enabled else ()
    approvals = (APPROVE,) if policies.access.admission == "approved" else ()
    services = Services(
        current=CurrentPolicies(policies),
        stores=Stores(
            inbox=inbox,
            outbox=outbox,
            buckets=buckets,
            states=SqliteAdapterStates(held, clock),
            conversations=Conversations(held),
            notes=ConversationNoteStore(held),
            usage=UsageLedger(held, clock),
            traces=Traces(held),
            feedback=FeedbackStore(held),
            unit_of_work=SqliteUnitOfWork(held, clock),
            takeovers=TakeoverStore(held),
            appointments=AppointmentStore(held),
            proactive=ProactiveStore(held),
        ),
        provider=model,
        toolbox=Toolbox(tools),
        connected={("test", "main"): ConnectedAccount.of(manifest, adapter)},
        deliverer=Deliverer(outbox, {("test", "main"): line}, clock, DeliveryRules(), count),
        loop_guard=BotLoopGuard(),
        extensions=extensions or ExtensionRegistry(),
        commands=(*COMMANDS, *reminders, *approvals, *spoken, *kept),
        clock=clock,
        count=count,
        observe=traces.append,
        retry=StoreRetry(clock),
        memory=memory or NoMemory(),
        guard=guard,
        slots=Slots(concurrency),
        admissions=admissions,
        pairing=Pairing(store, buckets, clock, changes, admissions),
        owner_claims=OwnerClaims(store, buckets, clock, changes, admissions),
        readers=Readers(PeopleLanguages(held), clock, PlaceZones(held)),
        disclosure=Disclosure(FirstContacts(held), clock),
        speech=speech or Speech(),
        catchup=CatchUp(CatchUpStore(held), clock, catchup) if catchup is not None else None,
        long_documents=SqlLongDocuments(held, clock),
    )
    pipeline = Pipeline(services)
    dispatcher = LocalDispatcher(
        services, pipeline, CommandHandler(services, pipeline), overlap=overlap
    )
    intake = Intake(services, dispatcher)
    yield Gateway(
        intake, dispatcher, services, adapter, model, clock, traces, counts, held, changes
    )
    await dispatcher.stop()
    await services.deliverer.stop()
    if database is None:
        await held.stop()
