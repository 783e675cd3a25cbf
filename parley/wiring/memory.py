"""Builds memory from the configuration and the stores."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

import structlog
from msgspec import Struct, field

from gateway.errors import ConfigurationError, MemoryUnavailable
from gateway.immutable import replace
from gateway.observe.metrics import RecallMeasurement
from gateway.outbound.membership import PlatformMembership
from gateway.ports import Clock, MembershipCheck
from gateway.ports.adapter import AdapterStates
from gateway.ports.identities import IdentityResolver, NoLinkedIdentities
from gateway.ports.memory import CommandSet, MemoryPort, NoCommands, NoMemory
from gateway.ports.work_guard import UNGUARDED, WorkGuard
from memory.agents.stores.direct_places import DirectPlaces, NamesOf
from memory.backends.combined import CombinedMemories, MemoryPlace, TurnsOnly
from memory.backends.guard import GuardedBackend
from memory.backends.recall import CombinedRecall
from memory.backends.store import BackendMemories, BackendPersonalData, MessageIndex
from memory.commands.agents import AgentCommands
from memory.commands.command_set import MemoryCommands
from memory.commands.handoffs import HandoffCommands
from memory.commands.invitations import InvitationCommands
from memory.commands.link import LinkCommands
from memory.commands.open_questions import Questions
from memory.commands.privacy import Erasure
from memory.documents.heartbeat import SiteSync
from memory.documents.service import DescribeSpace, DocumentService
from memory.knowledge.access import KnowledgeReader
from memory.knowledge.bindings import RoomBindings
from memory.ports.grounding import JudgeRelevance
from memory.ports.people import PersonalDataStore
from memory.ports.recall import Recall
from memory.recall.retriever import Retriever
from memory.recall.rules import Fusion, RecallLimits, RecallRules
from memory.service.dependencies import MemoryDependencies
from memory.service.handle import Memory
from memory.service.index_cleaning import IndexCleaning
from memory.service.links import Links
from memory.service.people import People, ProjectRules
from memory.stores.audit import Audit
from memory.turns.brief import BackendBriefs, BriefLimits
from memory.turns.turn import GatewayMemory, TurnRules
from memory.write.consolidation import Consolidation
from memory.write.write_path import WritePath
from parley.config import Settings
from parley.config.memory import BUILTIN
from parley.runtime.housekeeping import Chore
from parley.security.keys import audit_key
from parley.wiring.agents import WiredAgents, agent_limits, share_reviews, wire_agents
from parley.wiring.memory_writing import write_path_of
from parley.wiring.recall import RecallModels, WatchedRecall
from parley.wiring.retention import memory_chores
from parley.wiring.storage import MemoryStores, Storage

log = structlog.get_logger(__name__)


class WiredMemory(Struct, frozen=True):
    """Memory as the rest of the program uses it. `chores` delete expired memories."""

    remembering: MemoryPort
    commands: CommandSet
    identities: IdentityResolver = field(default_factory=NoLinkedIdentities)
    memory: Memory | None = None
    documents: DocumentService | None = None
    sync: SiteSync | None = None
    consolidation: Consolidation | None = None
    links: Links | None = None
    agents: WiredAgents | None = None
    chores: Mapping[str, Chore] = field(default_factory=dict)
    backends: tuple[GuardedBackend, ...] = ()
    repositories: KnowledgeReader | None = None
    erasure: Erasure | None = None

    async def start(self) -> None:
        """Open the memory backends. Raises `ConfigurationError` for one that cannot work."""
        for backend in self.backends:
            try:
                await backend.start()
                await backend.probe()
            except MemoryUnavailable as error:
                raise ConfigurationError(
                    f"memory.backend: {backend.name} cannot be used: {error}. `parley doctor` "
                    f"checks it again; memory.backend_options.{backend.name} has its options."
                ) from error

    async def close(self) -> None:
        """Close the memory backends."""
        await close_backends(self.backends)


async def close_backends(backends: Sequence[GuardedBackend]) -> None:
    """Close memory backends; a failure is logged."""
    for backend in backends:
        try:
            await backend.close()
        except MemoryUnavailable as error:
            log.warning("memory_backend_not_closed", backend=backend.name, error=str(error))


def wire_memory(
    settings: Settings,
    storage: Storage,
    clock: Clock,
    models: RecallModels | None = None,
    *,
    watch: Callable[[RecallMeasurement], None] | None = None,
    check: MembershipCheck | None = None,
    describe: DescribeSpace | None = None,
    guard: WorkGuard = UNGUARDED,
    judge: JudgeRelevance | None = None,
    written: Callable[[str, str], None] | None = None,
    backends: Sequence[GuardedBackend] = (),
    repositories: KnowledgeReader | None = None,
    more_data: Sequence[PersonalDataStore] = (),
) -> WiredMemory:
    """The memory of a configuration; without it where it is off.

    `watch` receives a measurement of every recall; `check` knows the members of a project, and
    without it nobody can use a project in private; `describe` tells what a platform knows about a
    project; `judge` reads citations, where that is
    configured; `written` receives the outcome and the code of every write. `backends` are those of
    `load_backends`; `repositories` searches repositories in chats; `more_data` has data of a person
    beside the storage.
    """
    if not settings.memory.enabled:
        return WiredMemory(NoMemory(), NoCommands())
    states = storage.stores.states
    models = models or RecallModels()
    stores, recall = _with_backends(settings, storage.memory, backends, states, models, clock)
    recall = recall if watch is None else WatchedRecall(recall, clock, watch)
    holders = (*map(BackendPersonalData, backends), *storage.personal, *more_data)
    services = _services(
        settings, stores, states, clock, models, check, describe, guard, judge, written
    )
    parts = _dependencies(settings, storage, stores, services, clock, recall, holders, repositories)
    names = storage.people_names.of
    return _wired(settings, stores, services, clock, parts, backends, names)


class _Services(Struct, frozen=True):
    """The services that memory, its commands and its agents share."""

    audit: Audit
    places: DirectPlaces
    people: People
    links: Links
    path: WritePath
    documents: DocumentService
    sync: SiteSync
    consolidation: Consolidation
    questions: Questions
    bindings: RoomBindings


def _services(
    settings: Settings,
    stores: MemoryStores,
    states: AdapterStates,
    clock: Clock,
    models: RecallModels,
    check: MembershipCheck | None,
    describe: DescribeSpace | None,
    guard: WorkGuard,
    judge: JudgeRelevance | None,
    written: Callable[[str, str], None] | None,
) -> _Services:
    key = audit_key(settings)
    audit = Audit(stores.audit_on(key).append, key, clock)
    places = DirectPlaces(stores.direct_places, clock)
    path = replace(write_path_of(settings, stores, audit, models, clock, judge), written=written)
    documents = DocumentService(stores.documents, stores.reviews, audit, clock, describe)
    return _Services(
        audit=audit,
        places=places,
        people=_people(settings, stores, check, clock, places),
        links=Links(stores.links, audit, clock),
        path=path,
        documents=documents,
        sync=SiteSync(documents, states.of("parley", "heartbeats"), clock),
        consolidation=Consolidation(stores.waiting, path, guard),
        questions=Questions(states.of("parley", "memory-questions")),
        bindings=RoomBindings(stores.room_bindings, audit, clock),
    )


def _dependencies(
    settings: Settings,
    storage: Storage,
    stores: MemoryStores,
    services: _Services,
    clock: Clock,
    recall: Recall,
    holders: Sequence[PersonalDataStore],
    repositories: KnowledgeReader | None,
) -> MemoryDependencies:
    return MemoryDependencies(
        stores.memories,
        stores.reviews,
        services.people,
        services.path,
        services.audit,
        clock,
        services.documents,
        services.consolidation,
        recall,
        services.links,
        storage.history,
        holders,
        storage.working,
        shares=share_reviews(stores, services.audit, clock, agent_limits(settings)),
        cleaning=IndexCleaning((stores.clean, storage.conversation_views.merge), clock),
        repositories=repositories,
    )


def _wired(
    settings: Settings,
    stores: MemoryStores,
    services: _Services,
    clock: Clock,
    parts: MemoryDependencies,
    backends: Sequence[GuardedBackend],
    names: NamesOf,
) -> WiredMemory:
    """Memory with its agents, its commands and the gateway's port to it."""
    limits, memory = agent_limits(settings), Memory(parts)
    agents = wire_agents(stores, services.people, services.path, clock, limits, services.places)
    return WiredMemory(
        remembering=GatewayMemory(
            parts, _turn_rules(settings, backends), _backend_briefs(settings, backends)
        ),
        commands=_commands(settings, services, memory, agents, clock, parts.repositories, names),
        identities=services.links,
        memory=memory,
        documents=services.documents,
        sync=services.sync,
        consolidation=services.consolidation,
        links=services.links,
        agents=agents,
        chores={**memory_chores(settings, stores, services.audit, clock), **agents.chores},
        backends=tuple(backends),
        repositories=parts.repositories,
        erasure=Erasure(services.questions),
    )


def _people(
    settings: Settings,
    stores: MemoryStores,
    check: MembershipCheck | None,
    clock: Clock,
    places: DirectPlaces,
) -> People:
    section = settings.memory
    seen_for = timedelta(days=section.seen_in_days)
    projects = ProjectRules(seen_for, frozenset(section.shared_rooms))
    return People(stores.people, clock, check or PlatformMembership({}, clock), projects, places)


def _commands(
    settings: Settings,
    services: _Services,
    memory: Memory,
    agents: WiredAgents,
    clock: Clock,
    repositories: KnowledgeReader | None,
    names: NamesOf,
) -> MemoryCommands:
    section, questions = settings.memory, services.questions
    return MemoryCommands(
        memory,
        services.people,
        questions,
        LinkCommands(services.links, clock),
        HandoffCommands(agents.handoffs, clock, names),
        AgentCommands(
            agents.registry,
            agents.origins,
            agents.overview,
            InvitationCommands(agents.pools, names),
            questions,
            names,
        ),
        services.sync.problem,
        services.bindings,
        repositories,
        episodic_days=min(section.episodic_ttl_days, section.episodic_max_ttl_days),
        notes=section.notes,
        episodic=section.episodic,
    )


def _with_backends(
    settings: Settings,
    stores: MemoryStores,
    backends: Sequence[GuardedBackend],
    states: AdapterStates,
    models: RecallModels,
    clock: Clock,
) -> tuple[MemoryStores, Recall]:
    """The stores and the recall of the places in use, in their configured order."""
    database, rules = stores.memories, recall_rules(settings)
    recall = Retriever(stores.recall, database, models.embedder, models.reranker, rules)
    if not backends:
        return stores, recall
    messages = MessageIndex(states.of("parley", "memory-messages"))
    purge_after = timedelta(days=settings.memory.purge_superseded_days)
    outside = [BackendMemories(one, messages, clock, purge_after) for one in backends]
    names = settings.memory.places
    builtin = BUILTIN in names
    by_name: dict[str, MemoryPlace] = {one.backend.name: one for one in outside}
    if builtin:
        by_name[BUILTIN] = database
    places = [by_name[name] for name in names]
    places += [] if builtin else [TurnsOnly(database)]
    combined = CombinedRecall(recall, outside, clock, rules.limits, builtin=builtin)
    return stores.with_memories(CombinedMemories(database, places, messages)), combined


def _backend_briefs(settings: Settings, backends: Sequence[GuardedBackend]) -> BackendBriefs | None:
    writers = [one for one in backends if one.briefs]
    return BackendBriefs(writers[0], brief_limits(settings)) if writers else None


def brief_limits(settings: Settings) -> BriefLimits:
    """The limits of the brief."""
    section = settings.memory
    return BriefLimits(entries=section.max_brief_entries, characters=section.max_brief_chars)


def _turn_rules(settings: Settings, backends: Sequence[GuardedBackend]) -> TurnRules:
    section = settings.memory
    return TurnRules(
        episodic=section.episodic,
        notes=section.notes,
        brief=brief_limits(settings),
        has_backends=bool(backends),
    )


def recall_rules(settings: Settings) -> RecallRules:
    """The rules of recall: the measured ones with the configured changes. How alike unrelated texts
    are was measured for the local model only: a match by vectors of another one is not questioned.
    """
    section, measured = settings.memory.recall, RecallRules()
    local = settings.memory.embedding_provider != "openai"
    return replace(
        measured,
        searches=replace(
            measured.searches,
            depth=section.candidates,
            fusion=Fusion(section.fusion),
            lexical=section.bm25_weight,
            vector=section.vector_weight,
            k=section.rrf_k,
            certain_together=measured.searches.certain_together if local else 0.0,
        ),
        weights=replace(measured.weights, recency=section.recency_weight),
        limits=RecallLimits(
            episodic=section.max_episodic_results,
            semantic=section.max_semantic_results,
            tokens=section.max_total_tokens,
        ),
    )
