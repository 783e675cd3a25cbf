"""The one way into memory, from a draft to a stored record, in the order that is settled:

snapshot, bounds, Unicode, sanitise, secrets, injection, trust, markers, cut, credential check
(`prepare.py`), grounding (`grounding.py`), duplicates and quota (inside the store's transaction),
store, audit. What is doubtful waits in the review queue for its owner's word.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Literal

import structlog

from db.errors import StoreUnavailable
from gateway.errors import ModelError
from gateway.ports import Clock
from memory.audit import Audit
from memory.grounding.decision import Claim, Grounding, ImportState
from memory.model.outcome import Outcome, WriteResult
from memory.model.plans import Plans, refusal_of
from memory.model.record import (
    EPISODIC_MAX_TTL,
    EPISODIC_TTL,
    ID_PREFIX,
    Draft,
    Evidence,
    Kind,
    Provenance,
    Record,
    Scope,
    SourceType,
    Tier,
    Trust,
    new_id,
)
from memory.model.scope import AccessScope, RequestScope, channel_of, may_change
from memory.model.trust import CONFIDENCE, InputKind, derive_trust
from memory.model.validation import Code, IngestionTier, ValidationResult
from memory.ports.memories import Duplicate, Filter, Insertion, MemoryStore
from memory.ports.reviews import ReviewItem, ReviewStore
from memory.text.similarity import JACCARD_THRESHOLD
from memory.write.imported import ImportedHistory, import_state, is_proven, with_imported_history
from memory.write.prepare import Prepared, Refusal, prepare, prepare_turn
from memory.write.replacement import Replaced, announces_change, named_rightly, replaced_by
from memory.write.semantic_duplicates import MeaningCheck
from memory.write.validate import validate
from safety.cut import cut
from safety.secret_detection.detect import redact_secrets

REVIEW_PREFIX: Final = "rev-"
TURNS: Final = uuid.UUID("5d1bd6a5-6f7b-4f0b-9d0c-3f6f0d5d3c51")
"""Namespace of the ids of turns, so that the same turn always has the same id."""
DOUBTFUL: Final = "It may hold a secret."
QUEUE_FULL: Final = (
    "Too much waits for your decision already. Decide some of it first: `/memories review`."
)
NOT_THERE: Final = "What it replaces is not there any more, or is not yours."
NOT_OPERATOR: Final = "Only operators keep what everybody reads; I have passed it on to them."
NO_PROJECT: Final = "Which project? Choose one with `/project` first."

REPLACES: Final = "I now remember “{new}”. It replaces “{text}”."
MAY_REPLACE: Final = "It may replace “{text}”."
WOULD_REPLACE: Final = "It would replace “{text}”."
CANDIDATES: Final = 10
"""Memories that are compared with a statement that announces a change."""
MAX_IN_NOTICE: Final = 120

Speaker = Literal["user", "assistant", "tool", "other"]
WAYS: Final[Mapping[Speaker, InputKind]] = {
    "user": InputKind.OWN_WORDS,
    "assistant": InputKind.ASSISTANT,
    "tool": InputKind.TOOL,
    "other": InputKind.OTHERS_WORDS,
}
"""How far the sides of a turn are believed."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WriteRules:
    """`memory.*` of the configuration as far as writing is concerned."""

    fail_on_secret: bool = False
    episodic_ttl: timedelta = EPISODIC_TTL
    episodic_max_ttl: timedelta = EPISODIC_MAX_TTL
    dedup_threshold: float = JACCARD_THRESHOLD

    @property
    def lives(self) -> timedelta:
        """How long an episodic memory is kept."""
        return min(self.episodic_ttl, self.episodic_max_ttl)


@dataclass(frozen=True, slots=True)
class TurnRecords:
    """The sides of a turn that are kept, and what was found in each of them."""

    kept: tuple[Record, ...]
    findings: tuple[Prepared, ...]


@dataclass(frozen=True, slots=True)
class WritePath:
    """Everything raises `StoreUnavailable`."""

    memories: MemoryStore
    reviews: ReviewStore
    grounding: Grounding
    audit: Audit
    plans: Plans
    rules: WriteRules
    clock: Clock
    meaning: MeaningCheck | None = None
    """Finds repetitions in other words; None looks at words only."""

    async def write(
        self,
        request: RequestScope,
        access: AccessScope,
        draft: Draft,
        way: InputKind,
        *,
        external: bool = False,
        past: ImportedHistory | None = None,
    ) -> WriteResult:
        """Store what somebody asks for, or let it wait, or say why not; `past` is the history of
        one that is brought in again."""
        if draft.scope is Scope.PROJECT and not access.project:
            return WriteResult(Outcome.REFUSED, "no_project", NO_PROJECT)
        fails = self.rules.fail_on_secret
        tier = draft.kind.tier
        prepared = prepare(draft, way, tier, fail_on_secret=fails, external=external)
        if isinstance(prepared, Refusal):
            await self._note_refusal(request, prepared)
            return WriteResult(Outcome.REFUSED, prepared.code, prepared.reason)
        await self._note_findings(request, prepared)
        replaced = await self._replaced(access, draft, prepared, way, past)
        if isinstance(replaced, WriteResult):
            return replaced
        if replaced is not None:
            draft = replace(draft, supersedes=replaced.record.id)
        record = self._record(request, access, draft, prepared, external=external)
        record = self._relived(record, past, prepared)
        record, like, unchecked = await self._like(access, record)
        result = await self._ground(record, prepared, like, unchecked, import_state(past))
        if result.tier is IngestionTier.BLOCK:
            return _blocked(record, result, prepared)
        record = record if is_proven(past) else replace(record, evidence=result.evidence)
        shared = draft.scope is not Scope.USER and not access.operates
        if result.tier is IngestionTier.FLAG_REVIEW or prepared.doubtful or shared:
            reason = NOT_OPERATOR if shared else result.reason
            if prepared.doubtful and result.approved:
                reason = DOUBTFUL
            if replaced is not None:
                old = shown_in_notice(replaced.record.content)
                reason = f"{reason} {WOULD_REPLACE.format(text=old)}"
            return await self._queue(request, access, record, result, reason, prepared)
        if replaced is not None and not replaced.certain:
            result = replace(result, tier=IngestionTier.FLAG_REVIEW, code=Code.REPLACES)
            reason = MAY_REPLACE.format(text=shown_in_notice(replaced.record.content))
            return await self._queue(request, access, record, result, reason, prepared)
        notices, told = prepared.notices, ""
        if replaced is not None:
            old, new = replaced.record.content, record.content
            told = REPLACES.format(new=shown_in_notice(new), text=shown_in_notice(old))
            notices = (*notices, told)
        stored = await self._store(request, access, record, result, notices)
        return replace(stored, told_replaced=told)

    async def try_out(
        self,
        request: RequestScope,
        access: AccessScope,
        content: str,
        memory_type: str,
        source: str,
    ) -> ValidationResult:
        """What would become of a text, with what it cites looked up and repetitions looked for;
        nothing is stored. Raises `BadInput` as `validate` does."""
        rules, principal = self.grounding, request.principal
        decide = partial(
            validate,
            *(content, memory_type, source, principal, request.place.audience),
            policy=rules.policy,
            auto_approve_ai_synthesis=rules.auto_approve_ai_synthesis,
            at=self.clock.now(),
        )
        kept = decide().evidence.claim
        draft = Draft(kept, Kind(memory_type))
        prepared = Prepared(kept, (), derive_trust(InputKind.ASSISTANT))
        record = self._record(request, access, draft, prepared, external=False)
        _, like, unchecked = await self._like(access, record)
        citations = await rules.citations(kept)
        return decide(citations=citations, duplicate=like, duplicate_unchecked=unchecked)

    async def _replaced(
        self,
        access: AccessScope,
        draft: Draft,
        prepared: Prepared,
        way: InputKind,
        past: ImportedHistory | None,
    ) -> Replaced | WriteResult | None:
        """The memory that is replaced: the one that the model names, as long as it is there, or the
        one that the person's own statement contradicts; a refusal where it is not there."""
        if past is not None:
            return None
        if draft.supersedes:
            old = await self.memories.get(access, draft.supersedes)
            if old is None or not old.current or old.role or not may_change(access, old):
                return WriteResult(Outcome.REFUSED, "missing", NOT_THERE)
            certain = way is InputKind.EXPLICIT or named_rightly(prepared.content, old)
            return Replaced(old, certain=certain)
        own = way in (InputKind.OWN_WORDS, InputKind.EXPLICIT) and draft.scope is Scope.USER
        kept = draft.kind.tier is Tier.SEMANTIC and not prepared.injections
        if not own or not kept or not announces_change(prepared.content):
            return None
        wanted = Filter(
            text=prepared.content, own_only=True, tiers=(Tier.SEMANTIC,), limit=CANDIDATES
        )
        found = await self.memories.find(access, wanted)
        return replaced_by(prepared.content, [match.record for match in found])

    async def approve(
        self,
        request: RequestScope,
        access: AccessScope,
        pending: ReviewItem,
        *,
        beside: bool = False,
    ) -> WriteResult:
        """Store what its owner said yes to: now it is an explicit save, whatever it was. `beside`
        keeps the memory that it would replace."""
        told = replace(pending.record.provenance, source=SourceType.EXPLICIT_SAVE, trust=Trust.HIGH)
        evidence = replace(pending.record.evidence, confidence=CONFIDENCE[Trust.HIGH])
        record = replace(pending.record, confirmed=True, provenance=told, evidence=evidence)
        record = replace(record, supersedes="") if beside else record
        return await self._store(request, access, record, None, ())

    def turn_records(
        self,
        request: RequestScope,
        access: AccessScope,
        turn_id: str,
        said: str,
        answer: str,
        *,
        external: bool,
        shown: str = "",
    ) -> TurnRecords:
        """Both sides of a turn as they are to be kept, and what the person showed. The same turn
        again has the same ids."""
        sides: tuple[tuple[Speaker, str], ...] = (
            ("other", shown),
            ("user", said),
            ("assistant", answer),
        )
        records, findings = [], []
        for role, text in sides:
            prepared = prepare_turn(text, WAYS[role])
            if isinstance(prepared, Refusal):
                continue
            outside = role == "other" or (external and role == "assistant")
            record = self._turn(request, access, role, prepared, external=outside)
            turn = f"{ID_PREFIX}{uuid.uuid5(TURNS, f'{turn_id}:{role}')}"
            records.append(replace(record, id=turn))
            findings.append(prepared)
        return TurnRecords(tuple(records), tuple(findings))

    async def note_turn(self, request: RequestScope, turn: TurnRecords) -> None:
        """Audit a turn that was kept."""
        for prepared in turn.findings:
            await self._note_findings(request, prepared)
        if turn.kept:
            await self._note_kept(request, turn.kept)

    async def keep_past_turn(
        self,
        request: RequestScope,
        access: AccessScope,
        role: Speaker,
        text: str,
        past: ImportedHistory,
        way: InputKind,
    ) -> WriteResult:
        """Keep one side of a turn that is brought in; `way` is that of what nothing proves."""
        proven = is_proven(past)
        prepared = prepare_turn(text, WAYS[role] if proven else way)
        if isinstance(prepared, Refusal):
            return WriteResult(Outcome.REFUSED, prepared.code, prepared.reason)
        await self._note_findings(request, prepared)
        record = self._turn(request, access, role, prepared, external=not proven)
        record = self._relived(record, past, prepared)
        await self.memories.keep_turns(access, [record])
        await self._note_kept(request, [record])
        return WriteResult(Outcome.STORED, "stored", "Stored.", record.content, record.id)

    def _relived(self, record: Record, past: ImportedHistory | None, prepared: Prepared) -> Record:
        if past is None:
            return record
        suspicious = bool(prepared.injections)
        return with_imported_history(
            record, past, self.clock.now(), self.rules.lives, suspicious=suspicious
        )

    def _turn(
        self,
        request: RequestScope,
        access: AccessScope,
        role: Speaker,
        prepared: Prepared,
        *,
        external: bool,
    ) -> Record:
        draft = Draft(prepared.content, Kind.CONTEXT)
        record = self._record(request, access, draft, prepared, external=external, at=request.at)
        return replace(record, role=role)

    async def _note_kept(self, request: RequestScope, records: Sequence[Record]) -> None:
        await self.audit.note(
            "memory_write",
            request,
            tier=Tier.EPISODIC.value,
            source=" ".join(record.provenance.source.value for record in records),
            count=len(records),
            size=sum(len(record.content) for record in records),
        )

    async def _ground(
        self,
        record: Record,
        prepared: Prepared,
        like: Duplicate | None,
        unchecked: bool,
        brought: ImportState = "",
    ) -> ValidationResult:
        told = record.provenance
        claim = Claim(
            record.content,
            record.kind,
            told.source,
            told.trust,
            told.at,
            external=told.external,
            supersedes=record.supersedes,
            valid_until=record.true_until,
            brought=brought,
        )
        return await self.grounding.examine(
            claim,
            injections=prepared.injections,
            duplicate=like,
            duplicate_unchecked=unchecked,
        )

    async def _like(
        self, access: AccessScope, record: Record
    ) -> tuple[Record, Duplicate | None, bool]:
        """The record, with its vector where one was made; what it would repeat, and whether that
        could not be found out. What was replaced already repeats nothing."""
        if not record.current:
            return record, None, False
        try:
            found = await self.memories.like(access, record, threshold=self.rules.dedup_threshold)
            if found is None and self.meaning is not None:
                found, vector = await self.meaning.like(access, record)
                record = replace(record, embedding=vector)
        except (StoreUnavailable, ModelError) as error:
            log.warning("duplicates_not_checked", error=str(error))
            return record, None, True
        return record, found, False

    async def _store(
        self,
        request: RequestScope,
        access: AccessScope,
        record: Record,
        result: ValidationResult | None,
        notices: tuple[str, ...],
    ) -> WriteResult:
        plan = self.plans.plan_of(access.persons)
        quota = plan.memories if record.scope is Scope.USER else None
        done = await self.memories.insert(
            access, record, threshold=self.rules.dedup_threshold, quota=quota
        )
        if not done.stored:
            count = done.quota[0] if done.quota else 0
            return _not_stored(record, done, refusal_of(plan, count), result)
        told = record.provenance
        await self.audit.note(
            "memory_write",
            request,
            memory=record.id,
            tier=record.tier.value,
            scope=record.scope.value,
            source=told.source.value,
            trust=told.trust.value,
            size=len(record.content),
        )
        return WriteResult(
            Outcome.STORED, "stored", "Stored.", record.content, record.id, "", result, notices
        )

    async def _queue(
        self,
        request: RequestScope,
        access: AccessScope,
        record: Record,
        result: ValidationResult,
        reason: str,
        prepared: Prepared,
    ) -> WriteResult:
        pending = ReviewItem(
            f"{REVIEW_PREFIX}{uuid.uuid4()}",
            record,
            reason,
            self.clock.now(),
            result.checks_passed,
            result.checks_failed,
        )
        if not await self.reviews.add(access, pending):
            return WriteResult(Outcome.REFUSED, "queue_full", QUEUE_FULL, validation=result)
        await self.audit.note(
            "memory_review", request, decision="queued", review=pending.id, code=result.code.value
        )
        return WriteResult(
            Outcome.REVIEW,
            result.code.value,
            reason,
            record.content,
            review_id=pending.id,
            validation=result,
            notices=prepared.notices,
            replaces=bool(record.supersedes),
            for_operators=record.scope is not Scope.USER and not access.operates,
        )

    def _record(
        self,
        request: RequestScope,
        access: AccessScope,
        draft: Draft,
        prepared: Prepared,
        *,
        external: bool,
        at: datetime | None = None,
    ) -> Record:
        tier, now, place = draft.kind.tier, at or self.clock.now(), request.place
        derived = prepared.derived
        told = Provenance(
            source=derived.source,
            trust=derived.trust,
            person=access.person,
            at=now,
            session=request.session,
            message_id=request.message_ids[-1] if request.message_ids else "",
            group=request.conversation,
            room=access.room,
            channel=channel_of(place),
            audience=place.audience,
            external=external,
        )
        return Record(
            id=new_id(),
            tenant=access.tenant,
            scope=draft.scope,
            tier=tier,
            kind=draft.kind,
            content=prepared.content,
            provenance=told,
            evidence=Evidence(prepared.content, now, CONFIDENCE[derived.trust]),
            project=access.project if draft.scope is Scope.PROJECT else "",
            tags=prepared.tags,
            true_from=draft.true_from,
            true_until=draft.true_until,
            expires_at=now + self.rules.lives if tier is Tier.EPISODIC else None,
            supersedes=draft.supersedes,
            derived_from=request.message_ids,
        )

    async def _note_refusal(self, request: RequestScope, refusal: Refusal) -> None:
        if refusal.code in ("secret", "credential"):
            await self.audit.note("poisoning_attempt_blocked", request, reason=refusal.code)

    async def _note_findings(self, request: RequestScope, prepared: Prepared) -> None:
        if prepared.secrets:
            await self.audit.note("secret_redacted", request, **prepared.redacted)
        if prepared.injections:
            found = " ".join(prepared.injections)
            await self.audit.note("poisoning_attempt_blocked", request, findings=found)


def _blocked(record: Record, result: ValidationResult, prepared: Prepared) -> WriteResult:
    return WriteResult(
        Outcome.BLOCKED,
        result.code.value,
        result.reason,
        record.content,
        validation=result,
        notices=prepared.notices,
    )


def _not_stored(
    record: Record, done: Insertion, refusal: str, result: ValidationResult | None
) -> WriteResult:
    """Why the store did not take it, found in its own transaction."""
    if done.duplicate is not None:
        reason, code, outcome = "It is stored already.", Code.DUPLICATE.value, Outcome.BLOCKED
        if result is not None:
            result = replace(
                result,
                tier=IngestionTier.BLOCK,
                code=Code.DUPLICATE,
                reason=reason,
                similarity=done.duplicate.similarity,
                conflicting_id=done.duplicate.id,
            )
    elif done.quota is not None:
        reason, code, outcome = refusal, "quota", Outcome.REFUSED
    else:
        reason, code, outcome = NOT_THERE, "missing", Outcome.REFUSED
    return WriteResult(outcome, code, reason, record.content, validation=result)


def shown_in_notice(text: str) -> str:
    """The first characters of a memory, in one line, without secrets and without a full stop at the
    end."""
    return cut(" ".join(redact_secrets(text).text.split()), MAX_IN_NOTICE).removesuffix(".")
