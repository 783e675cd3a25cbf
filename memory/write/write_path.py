"""The write path, from a draft to a stored record.

The order is: snapshot, bounds, Unicode, sanitise, secrets, injection, trust, markers, cut,
credential check (`prepare.py`), grounding (`memory/grounding/`), duplicates and quota (in the
store's transaction), store, audit. Uncertain texts wait in the review queue.
"""

import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeAlias

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import MemoryUnavailable, ModelError
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.text import NO_TEXT, Sentence, Text, text
from memory.grounding.decision import Claim, Grounding, ImportState
from memory.model.outcome import STORED, Code, IngestionTier, Outcome, ValidationResult, WriteResult
from memory.model.plans import Plan, Plans, refusal_of
from memory.model.record import (
    CONFIDENCE,
    Draft,
    InputKind,
    Kind,
    Record,
    Scope,
    SourceType,
    Tier,
    Trust,
    derive_trust,
)
from memory.model.scope import NO_PROJECT, AccessScope, RequestScope, may_change
from memory.ports.memories import Duplicate, Insertion, MemoryStore
from memory.stores.audit import Audit
from memory.stores.conflicts import ConflictStore
from memory.stores.reviews import ReviewItem, ReviewStore
from memory.text.proposals import Proposal, is_own, same_before
from memory.write.contradiction import Relation, verdict
from memory.write.imports import ImportedHistory, import_state, is_proven, with_imported_history
from memory.write.notices import KEPT_BOTH, MAY_REPLACE, REPLACES, naming, replacement_notice
from memory.write.prepare import DraftRefusal, Prepared, WriteRules, new_record, prepare
from memory.write.replacement import Compared, MeaningCheck, crosses, with_candidates
from memory.write.turns import EpisodicWriter, note_findings, note_kept_secrets
from memory.write.validate import validate

REVIEW_PREFIX: Final = "rev-"
DOUBTFUL: Final = text("It may contain a password or a key.")
QUEUE_FULL: Final = text(
    "Too many memories wait for your decision. Decide some of them first: `/memories review`."
)
STORED_ALREADY: Final = text("It is stored already.")
NOT_THERE: Final = text(
    "The memory that it replaces no longer exists, or is not yours. `/memories` lists yours."
)
NOT_OPERATOR: Final = text(
    "Only operators can store memories for everybody. I proposed it to them."
)
FOR_OTHERS: Final = text(
    "Nothing was stored: a client may have read a repository that not everybody may read, so it "
    "stores memories of its person only. The person stores it for others in a chat."
)

ASKED_ALREADY: Final = text("Nothing was stored: the person is asked about this already.")
REJECTED_LATELY: Final = text(
    "Nothing was stored: the person rejected this within the last 90 days. Only their own words "
    "can store it."
)
TOO_MANY_REPLACED: Final = text("A session replaces at most 5 memories.")

MayReplace: TypeAlias = Callable[[], Awaitable[bool]]
"""Counts a replacement by the model; False if its session has no more of them."""

log = structlog.get_logger(__name__)


class WritePath(Struct, frozen=True):
    """Stores memories. Every method raises `StoreUnavailable`."""

    memories: MemoryStore
    reviews: ReviewStore
    grounding: Grounding
    audit: Audit
    plans: Plans
    rules: WriteRules
    clock: Clock
    conflicts: ConflictStore
    """Notes which memories may contradict each other."""
    meaning: MeaningCheck | None = None
    """Finds duplicates in other words; None compares words only."""
    written: Callable[[str, str], None] | None = None
    """Receives the outcome and the code of each write."""

    @property
    def turns(self) -> EpisodicWriter:
        """The writer of turns."""
        return EpisodicWriter(self.memories, self.audit, self.rules, self.clock)

    async def write(
        self,
        request: RequestScope,
        access: AccessScope,
        draft: Draft,
        kind: InputKind,
        *,
        external: bool = False,
        past: ImportedHistory | None = None,
        keep_both: bool = False,
        may_replace: MayReplace | None = None,
    ) -> WriteResult:
        """Store a draft, queue it for review, or refuse it; `past` is the history of an import.
        Everything that an agent writes is an inference, for a person or a project. `keep_both`:
        what waits for review will keep the memory that it would replace. `may_replace` limits the
        model; a person's own replacements have no limit."""
        kind = InputKind.ASSISTANT if request.agent else kind
        result = await self._write(
            *(request, access, draft, kind),
            external=external,
            past=past,
            keep_both=keep_both,
            may_replace=may_replace,
        )
        if self.written is not None:
            self.written(result.outcome.value, result.code)
        return result

    async def _write(
        self,
        request: RequestScope,
        access: AccessScope,
        draft: Draft,
        kind: InputKind,
        *,
        external: bool,
        past: ImportedHistory | None,
        keep_both: bool,
        may_replace: MayReplace | None,
    ) -> WriteResult:
        if request.from_repository and draft.scope is not Scope.USER:
            return WriteResult(Outcome.REFUSED, "from_repository", FOR_OTHERS)
        if draft.scope is Scope.PROJECT and not access.project:
            return WriteResult(Outcome.REFUSED, "no_project", NO_PROJECT)
        fails = self.rules.fail_on_secret
        tier = draft.kind.tier
        prepared = prepare(draft, kind, tier, fail_on_secret=fails, external=external)
        if isinstance(prepared, DraftRefusal):
            await self._note_refusal(request, prepared)
            return WriteResult(Outcome.REFUSED, prepared.code, prepared.reason)
        await note_findings(self.audit, request, prepared)
        change = await self._compared(access, draft, prepared, kind, past)
        if isinstance(change, WriteResult):
            return change
        replaced = change.replaces
        if draft.supersedes and replaced is not None:
            if may_replace is not None and not await may_replace():
                return WriteResult(Outcome.REFUSED, "session_limit", TOO_MANY_REPLACED)
            may_replace = None
        if past is None:
            draft = replace(draft, supersedes="" if replaced is None else replaced.id)
        record = self._record(request, access, draft, prepared, external=external, past=past)
        record, duplicate, unchecked = await self._like(access, record)
        near = [one for one in change.contradicts if duplicate and one.id == duplicate.id]
        if near:  # too like it to stand beside it, so the person decides
            duplicate, replaced, change = None, near[0], Compared(near[0], certain=False)
            record = replace(record, supersedes=near[0].id)
        result = await self._ground(record, prepared, duplicate, unchecked, import_state(past))
        if result.tier is IngestionTier.BLOCK:
            return _blocked(record, result, prepared)
        record = record if is_proven(past) else _with_evidence(record, result)
        shared = draft.scope is not Scope.USER and not access.operates
        review = _review(result, prepared, change, shared=shared)
        if review is not None:
            old = None if keep_both else replaced
            record = replace(record, supersedes="") if keep_both else record
            return await self._queue(request, access, record, *review, prepared, old)
        stored = await self._stored(
            request, access, record, result, prepared, replaced, may_replace
        )
        if replaced is not None and not stored.replaced_id:
            change = Compared(contradicts=(replaced, *change.contradicts))
        await self._note(access, stored, change)
        return stored

    async def _note(self, access: AccessScope, stored: WriteResult, change: Compared) -> None:
        """Note what a stored memory may contradict."""
        if change.contradicts and stored.memory_id:
            olders = [one.id for one in change.contradicts]
            await self.conflicts.add(access, stored.memory_id, olders, self.clock.now())

    async def _stored(
        self,
        request: RequestScope,
        access: AccessScope,
        record: Record,
        result: ValidationResult,
        prepared: Prepared,
        replaced: Record | None,
        may_replace: MayReplace | None,
    ) -> WriteResult:
        """Store an approved record, which replaces a memory while the session may replace one."""
        if replaced is None:
            return await self._store(request, access, record, result, prepared.notices)
        if may_replace is None or await may_replace():
            return await self._replace(
                request, access, record, result, prepared, replaced, REPLACES
            )
        return await self._keep_both(request, access, record, result, prepared, replaced)

    async def _replace(
        self,
        request: RequestScope,
        access: AccessScope,
        record: Record,
        result: ValidationResult,
        prepared: Prepared,
        old: Record,
        notice: Sentence,
    ) -> WriteResult:
        """Store the record, with a notice that quotes it and the old memory."""
        shown = replacement_notice(record, old, notice)
        notices = (*prepared.notices, shown)
        stored = await self._store(request, access, record, result, notices)
        replaced_id = record.supersedes if stored.outcome is Outcome.STORED else ""
        return replace(stored, replacement_notice=shown, replaced_id=replaced_id)

    async def _keep_both(
        self,
        request: RequestScope,
        access: AccessScope,
        record: Record,
        result: ValidationResult,
        prepared: Prepared,
        old: Record,
    ) -> WriteResult:
        """Store the record beside the memory that it would have replaced. Where the store refuses
        that, because the two are nearly the same or the plan is full, the person decides."""
        another = replace(record, supersedes="")
        kept = await self._replace(request, access, another, result, prepared, old, KEPT_BOTH)
        if kept.outcome is Outcome.STORED:
            return kept
        asked = replace(result, tier=IngestionTier.FLAG_REVIEW, code=Code.REPLACES)
        return await self._queue(request, access, record, asked, MAY_REPLACE, prepared, old)

    async def try_out(
        self,
        request: RequestScope,
        access: AccessScope,
        content: str,
        memory_type: str,
        source: str,
    ) -> ValidationResult:
        """Return the tier of a text without storing it; citations and duplicates are looked up.
        Raises `BadInput` as `validate` does."""
        rules, principal = self.grounding, request.principal
        decide = partial(
            validate,
            *(content, memory_type, source, principal, request.place.audience),
            policy=rules.policy,
            auto_approve_ai_synthesis=rules.auto_approve_ai_synthesis,
            compared=self.rules.dedup_threshold is not None,
            at=self.clock.now(),
        )
        kept = decide().evidence.claim
        draft = Draft(kept, Kind(memory_type))
        prepared = Prepared(kept, (), derive_trust(InputKind.ASSISTANT))
        record = self._record(request, access, draft, prepared)
        _, duplicate, unchecked = await self._like(access, record)
        citations = await rules.citations(kept)
        return decide(citations=citations, duplicate=duplicate, duplicate_unchecked=unchecked)

    async def _compared(
        self,
        access: AccessScope,
        draft: Draft,
        prepared: Prepared,
        kind: InputKind,
        past: ImportedHistory | None,
    ) -> Compared | WriteResult:
        """Return the memories that a draft replaces or may contradict; a refusal if the one that it
        names does not exist."""
        if past is not None:
            return Compared()
        named: Record | None = None
        if draft.supersedes:
            named = await self.memories.get(access, draft.supersedes)
            if named is None or not named.current or named.role or not may_change(access, named):
                return WriteResult(Outcome.REFUSED, "missing", NOT_THERE)
            if crosses(access, draft, named, kind):
                return Compared()
            if kind is not InputKind.OWN_WORDS or named.scope is not Scope.USER:
                said = verdict(prepared.content, named.content, named=True).relation
                certain = kind is InputKind.EXPLICIT or said is Relation.REPLACES
                return Compared(named, certain=certain)
        own = kind in (InputKind.OWN_WORDS, InputKind.EXPLICIT) and draft.scope is Scope.USER
        if not own or draft.kind.tier is not Tier.SEMANTIC or prepared.injections:
            return Compared()
        return await with_candidates(self.memories, access, prepared.content, named)

    async def approve(
        self,
        request: RequestScope,
        access: AccessScope,
        pending: ReviewItem,
        *,
        keep_both: bool = False,
    ) -> WriteResult:
        """Store a text that its owner approved, as an explicit save. `keep_both` keeps the memory
        that it would replace."""
        saved = replace(
            pending.record.provenance, source=SourceType.EXPLICIT_SAVE, trust=Trust.HIGH
        )
        evidence = replace(pending.record.evidence, confidence=CONFIDENCE[Trust.HIGH])
        record = replace(pending.record, confirmed=True, provenance=saved, evidence=evidence)
        record = replace(record, supersedes="") if keep_both else record
        own = record.scope is Scope.USER and record.tier is Tier.SEMANTIC and not keep_both
        change = Compared()
        if own:
            change = await with_candidates(self.memories, access, record.content)
        stored = await self._store(request, access, record, None, ())
        left = [one for one in change.contradicts if one.id not in (record.id, record.supersedes)]
        await self._note(access, stored, Compared(contradicts=tuple(left)))
        return stored

    async def _ground(
        self,
        record: Record,
        prepared: Prepared,
        duplicate: Duplicate | None,
        unchecked: bool,
        state: ImportState = "",
    ) -> ValidationResult:
        provenance = record.provenance
        claim = Claim(
            record.content,
            record.kind,
            provenance.source,
            provenance.trust,
            provenance.at,
            external=provenance.external,
            supersedes=record.supersedes,
            valid_until=record.true_until,
            import_state=state,
        )
        return await self.grounding.examine(
            claim,
            injections=prepared.injections,
            duplicate=duplicate,
            duplicate_unchecked=unchecked,
            compared=self.rules.dedup_threshold is not None,
        )

    async def _like(
        self, access: AccessScope, record: Record
    ) -> tuple[Record, Duplicate | None, bool]:
        """Return the record with its vector, its duplicate, and True if the check failed. A
        replaced memory has no duplicates, and without a threshold nothing is compared."""
        threshold = self.rules.dedup_threshold
        if not record.current or threshold is None:
            return record, None, False
        try:
            duplicate = await self.memories.like(access, record, threshold=threshold)
            if duplicate is None and self.meaning is not None:
                duplicate, vector = await self.meaning.like(access, record)
                record = replace(record, embedding=vector)
        except (StoreUnavailable, ModelError) as error:
            log.warning("duplicates_not_checked", error=str(error))
            return record, None, True
        return record, duplicate, False

    async def _store(
        self,
        request: RequestScope,
        access: AccessScope,
        record: Record,
        result: ValidationResult | None,
        notices: tuple[Text, ...],
    ) -> WriteResult:
        plan = self._plan_of(access, record)
        done = await self.memories.insert(
            access, record, threshold=self.rules.dedup_threshold, quota=plan.memories
        )
        if not done.stored:
            count = done.quota[0] if done.quota else 0
            return _not_stored(record, done, refusal_of(plan, count), result)
        provenance = record.provenance
        await self.audit.note(
            "memory_write",
            request,
            memory=record.id,
            tier=record.tier.value,
            scope=record.scope.value,
            source=provenance.source.value,
            trust=provenance.trust.value,
            size=len(record.content),
        )
        return WriteResult(
            Outcome.STORED, "stored", STORED, record.content, record.id, "", result, notices
        )

    def _plan_of(self, access: AccessScope, record: Record) -> Plan:
        """Return the plan that a record counts towards: none for what belongs to others too."""
        own = record.scope is Scope.USER and record.current
        return self.plans.plan_of(access.persons) if own else Plan()

    async def _full(self, access: AccessScope, record: Record, old: Record | None) -> Text:
        """Return the refusal of a plan that has no room for a record, empty if it has. A memory of
        the person that the record replaces (`old`) makes room. What a backend does not count is
        asked about: storing counts again."""
        plan = self._plan_of(access, record)
        if plan.memories is None:
            return NO_TEXT
        try:
            count = await self.memories.count(access)
        except MemoryUnavailable as error:
            log.warning("plan_not_checked", error=str(error))
            return NO_TEXT
        makes_room = old is not None and old.current and _is_own(old, access)
        return refusal_of(plan, count) if count - makes_room >= plan.memories else NO_TEXT

    async def _queue(
        self,
        request: RequestScope,
        access: AccessScope,
        record: Record,
        result: ValidationResult,
        reason: Text,
        prepared: Prepared,
        old: Record | None,
    ) -> WriteResult:
        """Ask the person about a record that would replace `old`, unless it could not be kept
        anyway."""
        full = await self._full(access, record, old)
        if full:
            return WriteResult(Outcome.REFUSED, "quota", full, record.content, validation=result)
        before = await self._earlier(access, record)
        if before is not None:
            return _asked_before(record, before, result, own=is_own(record))
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
        await note_kept_secrets(self.audit, request, prepared, pending.id)
        return WriteResult(
            Outcome.REVIEW,
            result.code.value,
            naming(reason, "" if old is None else old.content),
            record.content,
            review_id=pending.id,
            validation=result,
            notices=prepared.notices,
            replaces=bool(record.supersedes),
            for_operators=record.scope is not Scope.USER and not access.operates,
        )

    async def _earlier(self, access: AccessScope, record: Record) -> Proposal | None:
        """Return the same proposal as it waits, or was rejected lately; an import is compared with
        nothing."""
        if record.provenance.source is SourceType.IMPORT:
            return None
        earlier = await self.reviews.earlier(access, record, "", self.clock.now())
        return same_before(record, earlier, self.audit.hashed, replaces=record.supersedes)

    def _record(
        self,
        request: RequestScope,
        access: AccessScope,
        draft: Draft,
        prepared: Prepared,
        *,
        external: bool = False,
        past: ImportedHistory | None = None,
    ) -> Record:
        now, lives = self.clock.now(), self.rules.lives
        record = new_record(
            request, access, draft, prepared, external=external, at=now, lives=lives
        )
        if past is None:
            return record
        suspicious = bool(prepared.injections)
        return with_imported_history(record, past, now, lives, suspicious=suspicious)

    async def _note_refusal(self, request: RequestScope, refusal: DraftRefusal) -> None:
        if refusal.code in ("secret", "credential"):
            await self.audit.note("secret_refused", request, reason=refusal.code)


def _review(
    result: ValidationResult, prepared: Prepared, change: Compared, *, shared: bool
) -> tuple[ValidationResult, Text] | None:
    """Return the result and the reason of a review; None if the record may be stored. `shared`: it
    would be read by others, and the person is no operator. The reason is stored, so it does not
    contain the text of another memory, which may be deleted before the decision."""
    if result.tier is IngestionTier.FLAG_REVIEW or prepared.doubtful or shared:
        reason: Text = NOT_OPERATOR if shared else result.reason
        if prepared.doubtful and result.approved:
            reason = DOUBTFUL
        return result, reason
    if not change.certain:
        result = replace(result, tier=IngestionTier.FLAG_REVIEW, code=Code.REPLACES)
        return result, MAY_REPLACE
    return None


def _asked_before(
    record: Record, before: Proposal, result: ValidationResult, *, own: bool
) -> WriteResult:
    """Return the result for what the person is asked already, or rejected. What they say themselves
    shows them the open question again."""
    if own:
        return WriteResult(
            *(Outcome.REVIEW, result.code.value, result.reason, record.content),
            review_id=before.id,
            validation=result,
            replaces=bool(record.supersedes),
        )
    reason, code = ASKED_ALREADY, "asked_already"
    if before.state == "rejected":
        reason, code = REJECTED_LATELY, "rejected_lately"
    return WriteResult(Outcome.BLOCKED, code, reason, record.content, validation=result)


def _with_evidence(record: Record, result: ValidationResult) -> Record:
    """Return the record with the evidence of the decision, and the fields that its author gave."""
    fields = {**record.evidence.fields, **result.evidence.fields}
    return replace(record, evidence=replace(result.evidence, fields=fields))


def _is_own(record: Record, access: AccessScope) -> bool:
    return record.scope is Scope.USER and record.provenance.person in access.persons


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
    record: Record, done: Insertion, refusal: Text, result: ValidationResult | None
) -> WriteResult:
    """Return the reason why the store rejected a record."""
    reason: Text
    if done.duplicate is not None:
        reason, code, outcome = STORED_ALREADY, Code.DUPLICATE.value, Outcome.BLOCKED
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
