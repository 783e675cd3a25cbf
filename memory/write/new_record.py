"""Builds the record of a draft from the request that stores it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.model.record import (
    EPISODIC_MAX_TTL,
    EPISODIC_TTL,
    Draft,
    Evidence,
    Provenance,
    Record,
    Scope,
    Tier,
    new_id,
)
from memory.model.scope import AccessScope, RequestScope, channel_of
from memory.model.trust import CONFIDENCE
from memory.text.similarity import JACCARD_THRESHOLD
from memory.write.prepare import Prepared


@dataclass(frozen=True, slots=True)
class WriteRules:
    """The `memory.*` settings for writing."""

    fail_on_secret: bool = False
    episodic_ttl: timedelta = EPISODIC_TTL
    episodic_max_ttl: timedelta = EPISODIC_MAX_TTL
    dedup_threshold: float = JACCARD_THRESHOLD

    @property
    def lives(self) -> timedelta:
        """The lifetime of an episodic memory."""
        return min(self.episodic_ttl, self.episodic_max_ttl)


def new_record(
    request: RequestScope,
    access: AccessScope,
    draft: Draft,
    prepared: Prepared,
    *,
    external: bool,
    at: datetime,
    lives: timedelta,
) -> Record:
    """Return the record of a prepared draft."""
    tier, place = draft.kind.tier, request.place
    derived = prepared.derived
    provenance = Provenance(
        source=derived.source,
        trust=derived.trust,
        person=access.person,
        at=at,
        session=request.session,
        message_id=request.message_ids[-1] if request.message_ids else "",
        conversation=request.conversation,
        room=access.room,
        channel=channel_of(place),
        audience=place.audience,
        external=external,
        agent=request.agent,
    )
    return Record(
        id=new_id(),
        tenant=access.tenant,
        scope=draft.scope,
        tier=tier,
        kind=draft.kind,
        content=prepared.content,
        provenance=provenance,
        evidence=Evidence(prepared.content, at, CONFIDENCE[derived.trust]),
        project=access.project if draft.scope is Scope.PROJECT else "",
        tags=prepared.tags,
        true_from=draft.true_from,
        true_until=draft.true_until,
        expires_at=at + lives if tier is Tier.EPISODIC else None,
        supersedes=draft.supersedes,
        derived_from=request.message_ids,
        agent_private=draft.agent_private and bool(request.agent) and draft.scope is Scope.USER,
    )
