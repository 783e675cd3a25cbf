"""Puts memory together: from the configuration and the stores to what the gateway is handed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from gateway.observe.recall_metrics import RecallMeasurement
from gateway.outbound.membership import PlatformMembership
from gateway.ports import Clock, MembershipCheck
from gateway.ports.adapter import AdapterStates
from gateway.ports.history import History
from gateway.ports.identities import IdentityResolver, NoLinkedIdentities
from gateway.ports.memory import CommandSet, MemoryPort, NoCommands, NoMemory
from gateway.ports.work_guard import UNGUARDED, WorkGuard
from memory.audit import Audit
from memory.brain.documents import Brain
from memory.brain.sync import SiteSync
from memory.commands.command_set import MemoryCommands
from memory.commands.link import LinkCommands
from memory.commands.open_questions import Questions
from memory.grounding.decision import Grounding, WritePolicy
from memory.grounding.relevance import RelevanceJudge
from memory.grounding.verifier import ConfiguredVerifier
from memory.model.plans import BUILT_IN, Plan, Plans
from memory.ports.personal_data import PersonalDataStore, WorkingMemory
from memory.ports.recall import Recall
from memory.recall.retriever import Retriever
from memory.recall.rules import Limits, RecallRules
from memory.service.handle import Memory
from memory.service.links import Links
from memory.service.parts import MemoryParts
from memory.service.people import People, ProjectRules
from memory.turns.brief import BriefLimits
from memory.turns.memory_port import Remembrance, TurnRules
from memory.write.consolidation import Consolidation
from memory.write.path import WritePath, WriteRules
from memory.write.semantic_duplicates import MeaningCheck
from parley.config import Settings
from parley.security.audit_key import audit_key
from parley.wiring.grounding import grounding_sources
from parley.wiring.recall_models import RecallModels
from parley.wiring.storage.memory_stores import MemoryStores
from parley.wiring.watched_recall import WatchedRecall

log = structlog.get_logger(__name__)

NEVER: Final = datetime.fromtimestamp(0, UTC)
"""Nothing had expired or been replaced by then."""


@dataclass(frozen=True, slots=True)
class WiredMemory:
    """What the rest of the program uses. `chores` forget what served its time."""

    remembering: MemoryPort
    commands: CommandSet
    humans: IdentityResolver = field(default_factory=NoLinkedIdentities)
    memory: Memory | None = None
    brain: Brain | None = None
    sync: SiteSync | None = None
    consolidation: Consolidation | None = None
    links: Links | None = None
    chores: Mapping[str, Callable[[], Awaitable[int]]] = field(default_factory=dict)


def wire_memory(
    settings: Settings,
    stores: MemoryStores,
    holders: tuple[PersonalDataStore, ...],
    states: AdapterStates,
    history: History,
    clock: Clock,
    models: RecallModels | None = None,
    watch: Callable[[RecallMeasurement], None] | None = None,
    check: MembershipCheck | None = None,
    guard: WorkGuard = UNGUARDED,
    working: WorkingMemory | None = None,
    judge: RelevanceJudge | None = None,
) -> WiredMemory:
    """`holders` are all stores that hold something of a person; `states` keep open questions, and
    figures of projects; `history` is what conversations keep; `models` are those that recall may
    use; `watch` is told of every recall.
    `check` says who belongs to a project; without one nobody reaches a project in private.
    `working` keeps conversations; `judge` reads what is cited, where that is configured."""
    wanted = settings.memory
    if not wanted.enabled:
        return WiredMemory(NoMemory(), NoCommands())
    key = audit_key(settings)
    audit = Audit(stores.audit_on(key), key, clock)
    seen_for = timedelta(days=wanted.seen_in_days)
    projects = ProjectRules(seen_for, frozenset(wanted.shared_rooms))
    people = People(stores.people, clock, check or PlatformMembership({}, clock), projects)
    links = Links(stores.links, audit, clock)
    chosen = models or RecallModels()
    path = _write_path(settings, stores, audit, chosen, clock, judge)
    brain = Brain(stores.brain, stores.reviews, audit, clock)
    sync = SiteSync(brain, states.of("parley", "heartbeats"), clock)
    questions = Questions(states.of("parley", "memory-questions"))
    consolidation = Consolidation(stores.waiting, path, guard)
    retriever: Recall = Retriever(
        stores.recall, stores.memories, chosen.embedder, chosen.reranker, recall_rules(settings)
    )
    if watch is not None:
        retriever = WatchedRecall(retriever, clock, watch)
    memory = Memory(
        MemoryParts(
            stores.memories,
            stores.reviews,
            people,
            path,
            audit,
            clock,
            brain,
            consolidation,
            retriever,
            links,
            history,
            holders,
            working,
        )
    )
    rules = TurnRules(
        wanted.episodic,
        wanted.notes,
        BriefLimits(wanted.max_brief_entries, wanted.max_brief_chars),
    )
    days = min(wanted.episodic_ttl_days, wanted.episodic_max_ttl_days)
    return WiredMemory(
        remembering=Remembrance(memory, stores.memories, brain, rules, retriever),
        commands=MemoryCommands(
            memory,
            people,
            questions,
            LinkCommands(links, clock),
            sync.problem,
            episodic_days=days,
            notes=wanted.notes,
            episodic=wanted.episodic,
        ),
        humans=links,
        memory=memory,
        brain=brain,
        sync=sync,
        consolidation=consolidation,
        links=links,
        chores={
            "memories": _forgetting(
                stores, audit, timedelta(days=wanted.purge_superseded_days), clock
            ),
            "seen in projects": lambda: stores.people.prune_seen(clock.now() - seen_for),
        },
    )


def recall_rules(settings: Settings) -> RecallRules:
    """What recall goes by: as measured, but for what is configured."""
    wanted, usual = settings.memory.recall, RecallRules()
    return replace(
        usual,
        arms=replace(usual.arms, lexical=wanted.bm25_weight, vector=wanted.vector_weight),
        weights=replace(usual.weights, recency=wanted.recency_weight),
        limits=Limits(
            wanted.max_episodic_results, wanted.max_semantic_results, wanted.max_total_tokens
        ),
    )


def plans_of(settings: Settings) -> Plans:
    """Who may keep how much."""
    own = {name: Plan(tier.memories, tier.refusal) for name, tier in settings.plans.tiers.items()}
    return Plans(settings.plans.default, {**BUILT_IN, **own}, settings.plans.people)


def _write_path(
    settings: Settings,
    stores: MemoryStores,
    audit: Audit,
    models: RecallModels,
    clock: Clock,
    judge: RelevanceJudge | None,
) -> WritePath:
    wanted = settings.memory
    rules = WriteRules(
        wanted.fail_on_secret,
        timedelta(days=wanted.episodic_ttl_days),
        timedelta(days=wanted.episodic_max_ttl_days),
        settings.grounding.word_threshold,
    )
    return WritePath(
        stores.memories,
        stores.reviews,
        _grounding(settings, judge),
        audit,
        plans_of(settings),
        rules,
        clock,
        _meaning(settings, stores, models),
    )


def _grounding(settings: Settings, judge: RelevanceJudge | None) -> Grounding:
    wanted = settings.grounding
    verifier = ConfiguredVerifier(grounding_sources(wanted), excerpts=wanted.verify_claim_relevance)
    return Grounding(
        verifier,
        WritePolicy(settings.memory.write_policy),
        wanted.auto_approve_ai_synthesis,
        wanted.verify_claim_relevance,
        judge if wanted.relevance_judge == "model" else None,
    )


def _meaning(settings: Settings, stores: MemoryStores, models: RecallModels) -> MeaningCheck | None:
    threshold = settings.grounding.meaning_threshold
    if threshold is None:
        return None
    if models.embedder is None:
        log.warning("dedup_by_words_only", hint="grounding.dedup_method: vector needs a model")
        return None
    return MeaningCheck(models.embedder, stores.recall, stores.memories, threshold)


def _forgetting(
    stores: MemoryStores, audit: Audit, superseded_for: timedelta, clock: Clock
) -> Callable[[], Awaitable[int]]:
    async def forget() -> int:
        now = clock.now()
        expired = len(await stores.memories.prune(now, NEVER))
        replaced = len(await stores.memories.prune(NEVER, now - superseded_for))
        if expired or replaced:
            await audit.append(
                "memory_ttl_cleanup",
                "",
                "",
                deleted=expired + replaced,
                expired=expired,
                superseded=replaced,
            )
        return expired + replaced

    return forget
