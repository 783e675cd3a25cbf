"""Builds the path on which memories are written: plans, grounding, duplicates by meaning."""

from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import structlog

from gateway.ports import Clock
from memory.grounding.decision import Grounding, WritePolicy
from memory.grounding.verifier import ConfiguredVerifier, GroundingSources
from memory.grounding.web_sources import Tracker
from memory.model.plans import BUILT_IN, Plans
from memory.ports.grounding import JudgeRelevance
from memory.stores.audit import Audit
from memory.write.prepare import WriteRules
from memory.write.replacement import MeaningCheck
from memory.write.write_path import WritePath
from parley.config import Settings
from parley.config.memory import GroundingSection
from parley.wiring.recall import RecallModels
from parley.wiring.storage import MemoryStores
from safety.http.addresses import AllowedHost

log = structlog.get_logger(__name__)


def write_path_of(
    settings: Settings,
    stores: MemoryStores,
    audit: Audit,
    models: RecallModels,
    clock: Clock,
    judge: JudgeRelevance | None,
) -> WritePath:
    """Return the path of everything that is stored; `judge` reads citations, where that is
    configured."""
    section = settings.memory
    rules = WriteRules(
        fail_on_secret=section.fail_on_secret,
        episodic_ttl=timedelta(days=section.episodic_ttl_days),
        episodic_max_ttl=timedelta(days=section.episodic_max_ttl_days),
        dedup_threshold=settings.grounding.word_threshold,
    )
    return WritePath(
        stores.memories,
        stores.reviews,
        grounding_of(settings, judge),
        audit,
        plans_of(settings),
        rules,
        clock,
        _meaning(settings, stores, models),
    )


def grounding_of(settings: Settings, judge: JudgeRelevance | None) -> Grounding:
    """Return the rules by which a statement is proven."""
    section = settings.grounding
    verifier = ConfiguredVerifier(
        grounding_sources(section), excerpts=section.verify_claim_relevance
    )
    return Grounding(
        verifier.verify,
        policy=WritePolicy(settings.memory.write_policy),
        auto_approve_ai_synthesis=section.auto_approve_ai_synthesis,
        relevance=section.verify_claim_relevance,
        judge=judge if section.relevance_judge == "model" else None,
    )


def _meaning(settings: Settings, stores: MemoryStores, models: RecallModels) -> MeaningCheck | None:
    threshold = settings.grounding.meaning_threshold
    if threshold is None:
        return None
    if models.embedder is None:
        log.warning("dedup_by_words_only", hint="grounding.dedup_method: vector needs a model")
        return None
    return MeaningCheck(models.embedder, stores.recall, stores.memories, threshold)


def plans_of(settings: Settings) -> Plans:
    """The plans, with the limit of each."""
    section = settings.plans
    return Plans(section.default, {**BUILT_IN, **section.tiers}, section.people)


def grounding_sources(section: GroundingSection) -> GroundingSources:
    """The configured sources of citations; a relative folder begins at the working folder."""
    tokens = section.tracker_tokens
    return GroundingSources(
        hosts=tuple(AllowedHost.parse(host) for host in section.hosts),
        repositories=tuple(Path(folder) for folder in section.repositories),
        trackers=tuple(
            Tracker(template, tokens[name].get_secret_value() if name in tokens else "")
            for name, template in section.trackers.items()
        ),
        networks=frozenset(ip_network(network) for network in section.networks),
    )
