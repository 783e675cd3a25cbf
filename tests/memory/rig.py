"""A whole memory over one SQLite database, and people who talk to it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from db.sqlite import SqliteDatabase
from gateway.authorship import Material
from gateway.immutable import replace
from gateway.message import Button, Notice, OutboundFile, Place, Reply
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports import MembershipStatus, TextToolProvider
from gateway.ports.conversations import History
from gateway.ports.memory import AnswerFooter, Caller, TurnMemory, WaitingTurn
from gateway.ports.prompt_blocks import KnowledgeItem, PromptParts
from gateway.stores.history import SqlHistory
from gateway.stores.quarantine import QuarantineStore
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from gateway.stores.unit_of_work import put_waiting_turn
from gateway.text import ENGLISH, Text
from memory.agents.model import AgentLimits
from memory.agents.stores.direct_places import DirectPlaces
from memory.commands.agents import AgentCommands
from memory.commands.command_set import MemoryCommands
from memory.commands.handoffs import HandoffCommands
from memory.commands.invitations import InvitationCommands
from memory.commands.link import LinkCommands
from memory.commands.open_questions import Questions
from memory.documents.heartbeat import SiteSync
from memory.documents.service import DocumentParts, DocumentService
from memory.grounding.decision import Grounding
from memory.knowledge.access import KnowledgeReader
from memory.knowledge.bindings import RoomBindings
from memory.model.plans import Plans
from memory.model.record import Record
from memory.model.scope import AccessScope
from memory.ports.audit import AuditEntry
from memory.ports.grounding import Citation, Reason, Verification
from memory.recall.retriever import Retriever
from memory.service.dependencies import MemoryDependencies
from memory.service.handle import Memory, MemoryHandle
from memory.service.index_cleaning import IndexCleaning
from memory.service.links import Links
from memory.service.people import People, ProjectRules
from memory.stores.audit import Audit
from memory.turns.turn import GatewayMemory
from memory.write.consolidation import Consolidation, TurnText, waiting_turn
from memory.write.prepare import WriteRules
from memory.write.write_path import WritePath
from parley.wiring.agents import share_reviews, wire_agents
from parley.wiring.storage import MemoryStores
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database

DIRECT = Place("telegram", "main", "ada-dm", Audience.DIRECT)
ROOM = Place("discord", "main", "general", Audience.PUBLIC_ROOM, "guild")
CLOSED = Place("discord", "main", "staff", Audience.PRIVATE_ROOM, "guild")


@dataclass
class FakeVerifier:
    """Confirms the citations in `known`."""

    known: set[str] = field(default_factory=set)

    async def __call__(self, citation: Citation) -> Verification:
        valid = citation.source_id in self.known
        return Verification(valid, Reason.EXISTS if valid else Reason.MISSING)


@dataclass
class Noted:
    """An audit log in memory."""

    entries: list[AuditEntry] = field(default_factory=list)

    async def append(self, entry: AuditEntry) -> None:
        self.entries.append(entry)

    def actions(self) -> list[str]:
        return [entry.action for entry in self.entries]


@dataclass
class Members:
    """The platforms' answers on who belongs where: everybody, but for those in `gone` and
    `silent`, pairs of person and project."""

    gone: set[tuple[str, str]] = field(default_factory=set)
    silent: set[tuple[str, str]] = field(default_factory=set)
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def belongs(self, person: str, project: str) -> MembershipStatus:
        self.asked.append((person, project))
        if (person, project) in self.silent:
            return MembershipStatus.UNKNOWN
        return MembershipStatus.GONE if (person, project) in self.gone else MembershipStatus.MEMBER


@dataclass
class Rig:
    """Everything a test of memory looks at."""

    memory: Memory
    keep: Callable[[WaitingTurn], Awaitable[None]]
    commands: "EnglishCommands"
    remembrance: GatewayMemory
    brain: DocumentService
    sync: SiteSync
    people: People
    links: Links
    path: WritePath
    stores: MemoryStores
    noted: Noted
    verifier: FakeVerifier
    clock: FakeClock
    members: Members
    quarantine: QuarantineStore
    tenant: str = "default"
    asked: int = 0
    names: dict[str, str] = field(default_factory=dict)
    """The display names of people, by `str(PersonId)`."""

    def caller(
        self,
        name: str = "ada",
        *,
        at: Place = DIRECT,
        says: str = "",
        role: Role = Role.MEMBER,
        message: str = "",
        shows: tuple[Material, ...] = (),
        outside: bool = False,
        client: bool = False,
    ) -> Caller:
        """Somebody who wants something."""
        self.asked += 1
        person = PersonId(at.platform, at.account, name)
        place = replace(at, channel_id=f"{name}-dm") if at.audience is Audience.DIRECT else at
        return Caller(
            id=f"turn-{self.asked}",
            principal=Principal(self.tenant, person, role, outside),
            name=name.title(),
            place=place,
            conversation=f"{at.platform}/{place.channel_id}",
            at=self.clock.now(),
            message_ids=(message or f"message-{self.asked}",),
            words=(says,) if says else (),
            material=shows,
            client=client,
        )

    async def link(self, maker: Caller, redeemer: Caller) -> None:
        """Both confirm that they become one person."""
        step = await self.links.redeem(redeemer, await self.links.offer(maker))
        assert step.request is not None, step
        assert (await self.links.confirm(redeemer, step.request.id)).outcome == "agreed"
        assert (await self.links.confirm(maker, step.request.id)).outcome == "linked"

    async def said(
        self, handle: MemoryHandle, turn_id: str, said: str, answer: str, *, external: bool = False
    ) -> None:
        """A turn was answered."""
        turn = TurnText(handle.request, said, answer, external)
        await self.keep(waiting_turn(turn_id, turn, handle.access))

    async def documents(self, access: AccessScope) -> DocumentParts:
        """Return the documents in the prompt of this person's next question."""
        room = access.project if access.room else None
        arrival = await self.stores.people.start_turn(
            access.tenant, access.person, "asking", self.clock.now(), room
        )
        return await self.brain.parts(access, arrival.documents)

    async def handle(
        self, name: str = "ada", *, at: Place = DIRECT, says: str = "", role: Role = Role.MEMBER
    ) -> MemoryHandle:
        """Memory for somebody."""
        return await self.memory.for_principal(self.caller(name, at=at, says=says, role=role))


@dataclass(frozen=True)
class Keeping:
    """Plays the gateway's part in a turn: what is to be kept of it is kept when it is over."""

    turn: TurnMemory
    keep: Callable[[WaitingTurn], Awaitable[None]]

    @property
    def tools(self) -> TextToolProvider:
        return self.turn.tools

    def reads(self, material: Sequence[Material]) -> None:
        self.turn.reads(material)

    async def prompt_parts(self) -> PromptParts:
        return await self.turn.prompt_parts()

    @property
    def keeps(self) -> bool:
        return self.turn.keeps

    @property
    def recalls(self) -> bool:
        return self.turn.recalls

    async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
        return await self.turn.knowledge(question)

    async def tell_later(self, sentence: Text) -> None:
        await self.turn.tell_later(sentence)

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[Text] = ()
    ) -> AnswerFooter:
        after = await self.turn.finish(answer, tools_used, without)
        if after.turn is not None:
            await self.keep(after.turn)
        return after


class KeptRemembrance(GatewayMemory):
    """Keeps what it is told to, as the gateway does."""

    keep: Callable[[WaitingTurn], Awaitable[None]]

    async def turn(self, caller: Caller) -> TurnMemory:
        return Keeping(await super().turn(caller), self.keep)


@dataclass(frozen=True)
class EnglishNotice:
    """A notice as its English reader sees it."""

    person: str
    place: Place
    markdown: str
    buttons: tuple[Button, ...]
    buttons_until: datetime | None


@dataclass(frozen=True)
class EnglishReply:
    """An answer to a command as its English reader sees it."""

    markdown: str
    buttons: tuple[Button, ...] = ()
    files: tuple[OutboundFile, ...] = ()
    notices: tuple[EnglishNotice, ...] = ()
    buttons_until: datetime | None = None
    leaves_buttons: bool = False
    forgets: bool = False


class EnglishCommands(MemoryCommands):
    """Answers as English readers see it."""

    async def run(self, name: str, arguments: str, caller: Caller) -> EnglishReply:  # type: ignore[override]  # as it is read
        return in_english(await super().run(name, arguments, caller))

    async def press(self, value: str, caller: Caller) -> EnglishReply:  # type: ignore[override]  # as it is read
        return in_english(await super().press(value, caller))


def in_english(reply: Reply) -> EnglishReply:
    """Return the answer and its notices as English readers see them."""
    shown = reply.shown(ENGLISH)
    return EnglishReply(
        shown.markdown,
        shown.buttons,
        shown.files,
        tuple(map(notice_in_english, reply.notices)),
        shown.buttons_until,
        shown.leaves_buttons,
        shown.forgets,
    )


def notice_in_english(notice: Notice) -> EnglishNotice:
    """Return a notice as an English reader sees it."""
    shown = Reply(notice.markdown, notice.buttons).shown(ENGLISH)
    return EnglishNotice(
        notice.person, notice.place, shown.markdown, shown.buttons, notice.buttons_until
    )


@asynccontextmanager
async def memory_rig(
    *,
    plans: Plans | None = None,
    rules: WriteRules | None = None,
    grounding: Grounding | None = None,
    key: bytes = b"key",
) -> AsyncIterator[Rig]:
    """A memory that is empty; `key` seals its audit and signs its exports."""
    clock, database = FakeClock(), sqlite_database(":memory:")
    await database.start()
    stores = MemoryStores(database, clock)
    yield rig_on(stores, database, clock, plans=plans, rules=rules, grounding=grounding, key=key)
    await database.stop()


def rig_on(
    stores: MemoryStores,
    database: SqliteDatabase,
    clock: FakeClock,
    *,
    plans: Plans | None = None,
    rules: WriteRules | None = None,
    grounding: Grounding | None = None,
    keep: Callable[[WaitingTurn], Awaitable[None]] | None = None,
    projects: ProjectRules | None = None,
    history: History | None = None,
    key: bytes = b"key",
    repositories: KnowledgeReader | None = None,
) -> Rig:
    """A memory over these stores; open questions are kept in `database`, and so is what
    conversations keep, unless `history` has it, and turns that wait, unless `keep` has them."""

    async def kept_here(turn: WaitingTurn) -> None:
        await database.run(lambda: put_waiting_turn(turn))

    noted, verifier, members = Noted(), FakeVerifier(), Members()
    audit, places = Audit(noted.append, key, clock), DirectPlaces(stores.direct_places, clock)
    people = People(stores.people, clock, members, projects, places)
    links = Links(stores.links, audit, clock)
    path = WritePath(
        stores.memories,
        stores.reviews,
        grounding or Grounding(verifier),
        audit,
        plans or Plans(),
        rules or WriteRules(),
        clock,
        stores.conflicts,
    )
    agents = wire_agents(stores, people, path, clock, AgentLimits(), places)
    brain = DocumentService(stores.documents, stores.reviews, audit, clock)
    parts = MemoryDependencies(
        stores.memories,
        stores.reviews,
        people,
        path,
        audit,
        clock,
        brain,
        Consolidation(stores.waiting, path),
        Retriever(stores.recall, stores.memories),
        links,
        history or SqlHistory(database),
        [stores.personal],
        shares=share_reviews(stores, audit, clock, AgentLimits()),
        cleaning=IndexCleaning((stores.clean,), clock),
        repositories=repositories,
    )
    memory = Memory(parts)
    states = SqliteAdapterStates(database, clock)
    questions = Questions(states.of("parley", "memory-questions"))
    sync = SiteSync(brain, states.of("parley", "heartbeats"), clock)
    remembrance = KeptRemembrance(parts)
    remembrance.keep = keep or kept_here
    names: dict[str, str] = {}

    async def names_of(_tenant: str, persons: Collection[str]) -> Mapping[str, str]:
        return {person: names[person] for person in persons if person in names}

    return Rig(
        memory,
        remembrance.keep,
        EnglishCommands(
            memory,
            people,
            questions,
            LinkCommands(links, clock),
            HandoffCommands(agents.handoffs, clock, names_of),
            AgentCommands(
                agents.registry,
                agents.origins,
                agents.overview,
                InvitationCommands(agents.pools, names_of),
                questions,
                names_of,
            ),
            sync.problem,
            RoomBindings(stores.room_bindings, audit, clock),
            repositories,
            episodic_days=90,
        ),
        remembrance,
        brain,
        sync,
        people,
        links,
        path,
        stores,
        noted,
        verifier,
        clock,
        members,
        QuarantineStore(database),
        names=names,
    )


async def memories_about(handle: MemoryHandle, topic: str) -> list[Record]:
    """The person's own memories that `/forget` finds for a topic, without reviews."""
    items = (await handle.erasure.matches(topic)).items
    return [item.record for item in items if item.record is not None and not item.waits]


async def forget_topic(handle: MemoryHandle, topic: str) -> int:
    """Delete what `/forget` finds for a topic; the number of items."""
    matches = await handle.erasure.matches(topic)
    refs = [match.refs for match in matches.items]
    return (await handle.erasure.forget(refs, handle.erasure.hashed(topic))).items
