"""Decides which claims are stored, which wait for review and which are blocked.

`determine_tier` is the pure decision; `Grounding` collects its input. An inference of the model
needs a verified citation. The person's own statement does not, and what they explicitly ask to keep
may begin with "I think". A duplicate is never stored, and an injection finding is never approved
automatically.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from gateway.immutable import replace
from gateway.text import Text, text
from memory.grounding.citations import find_citations
from memory.grounding.hedges import HedgeAction, HedgeResult, analyze_hedges
from memory.grounding.verifier import keep_relevant, verify_all
from memory.model.outcome import Code, IngestionTier, ValidationResult
from memory.model.record import CONFIDENCE, SOURCE_TYPE, Evidence, Kind, SourceType, Trust
from memory.ports.grounding import Checked, CitationKind, JudgeRelevance, VerifyCitation
from memory.ports.memories import Duplicate

MAX_CHECKS: Final = 20
MAX_CHECK: Final = 120
"""Checks that a result names, and characters of each."""


class WritePolicy(StrEnum):
    """`memory.write_policy`: store grounded claims at once; store nothing without the person's
    approval; store everything but duplicates, injections and external text."""

    GROUNDED = "grounded"
    CONFIRM = "confirm"
    OPEN = "open"


ImportState: TypeAlias = Literal["", "restored", "imported"]


class Claim(Struct, frozen=True):
    """A text to store, with what the handler derived about it.

    `confirmed`: its owner approved this text. `external`: it was stored in a turn with external
    text, and the person's own words do not prove it. `supersedes` is the id of the memory that it
    replaces. `import_state` is set for a text from a file: "restored" if a signature proves that
    it was stored here, else "imported".
    """

    content: str
    """The text."""
    kind: Kind
    """The kind of memory."""
    source: SourceType
    """The source that the service derived."""
    trust: Trust
    """The trust that follows from the source."""
    captured_at: datetime
    """The time of the claim."""
    confirmed: bool = False
    external: bool = False
    supersedes: str = ""
    valid_until: datetime | None = None
    """The end of its validity; None for no end."""
    import_state: ImportState = ""


class Findings(Struct, frozen=True):
    """The results of the checks. `injections` are names; `duplicate_unchecked`: the search for
    duplicates failed; `compared`: it is switched on."""

    hedges: HedgeResult = HedgeResult(HedgeAction.NONE)
    """The hedges in the text."""
    citations: tuple[Checked, ...] = ()
    """The citations with the results of their verification."""
    injections: tuple[str, ...] = ()
    duplicate: Duplicate | None = None
    """The stored memory with nearly the same text; None for none."""
    duplicate_unchecked: bool = False
    compared: bool = True


class GroundingDecision(Struct, frozen=True):
    """A tier and its reason, a sentence for people."""

    tier: IngestionTier
    code: Code
    """The rule that applied."""

    @property
    def reason(self) -> Text:
        """The reason as a sentence."""
        return _REASONS[self.code]


def determine_tier(
    claim: Claim,
    findings: Findings,
    policy: WritePolicy = WritePolicy.GROUNDED,
    *,
    auto_approve_ai_synthesis: bool = False,
) -> GroundingDecision:
    """Return the decision of the first rule that applies, strictest first."""
    asked_for = claim.confirmed or claim.source is SourceType.EXPLICIT_SAVE
    opened = policy is WritePolicy.OPEN
    if findings.hedges.action is HedgeAction.BLOCK and not (
        asked_for or opened or claim.import_state
    ):
        return _blocked(Code.SPECULATION)
    if findings.duplicate is not None and findings.duplicate.id != claim.supersedes:
        return _blocked(Code.DUPLICATE)
    if claim.confirmed:
        return _approved(Code.EXPLICIT)
    if findings.injections:
        return _flagged(Code.INJECTION)
    if findings.duplicate_unchecked:
        return _flagged(Code.DUPLICATE_UNCHECKED)
    if claim.import_state:
        return _imported(claim, policy)
    if asked_for:
        return _approved(Code.EXPLICIT)
    if claim.external:
        return _flagged(Code.EXTERNAL)
    if opened:
        return _approved(Code.OPEN_POLICY)
    if policy is WritePolicy.CONFIRM:
        return _flagged(Code.NOT_CONFIRMED)
    if findings.hedges.action is HedgeAction.REVIEW:
        return _flagged(Code.HEDGED)
    return _grounded(claim, findings.citations, auto_approve_ai_synthesis)


def _imported(claim: Claim, policy: WritePolicy) -> GroundingDecision:
    """Store unproven imports as such, except those that would change the assistant's behaviour."""
    if claim.import_state == "restored":
        return _approved(Code.RESTORED)
    if claim.kind.behavioral:
        return _flagged(Code.EXTERNAL)
    if policy is WritePolicy.CONFIRM:
        return _flagged(Code.NOT_CONFIRMED)
    return _approved(Code.IMPORTED)


def _grounded(claim: Claim, citations: Sequence[Checked], synthesis: bool) -> GroundingDecision:
    """Return the decision by trust first: a person's statement is accepted even if a page cannot be
    checked."""
    if claim.trust is Trust.HIGH and claim.source is not SourceType.AI_INFERENCE:
        return _approved(Code.TRUSTED)
    if not all(checked.verification.valid for checked in citations):
        return _flagged(Code.CITATION_UNVERIFIED)
    if citations:
        return _approved(Code.CITED)
    if synthesis and claim.source is SourceType.AI_INFERENCE:
        return _approved(Code.SYNTHESIS_ALLOWED)
    return _flagged(Code.UNGROUNDED)


def _approved(code: Code) -> GroundingDecision:
    return GroundingDecision(IngestionTier.AUTO_APPROVE, code)


def _flagged(code: Code) -> GroundingDecision:
    return GroundingDecision(IngestionTier.FLAG_REVIEW, code)


def _blocked(code: Code) -> GroundingDecision:
    return GroundingDecision(IngestionTier.BLOCK, code)


_REASONS: Final = {
    Code.EXPLICIT: text("You asked for it yourself."),
    Code.CITED: text("The source that it cites was checked."),
    Code.TRUSTED: text("It comes from a trusted source."),
    Code.SYNTHESIS_ALLOWED: text("My conclusions are stored here without review."),
    Code.OPEN_POLICY: text("Everything is stored here without review."),
    Code.INJECTION: text("This text reads like an instruction to me, or like code."),
    Code.DUPLICATE_UNCHECKED: text("I could not check whether it is stored already."),
    Code.HEDGED: text("It says how things may be, not how they are."),
    Code.NOT_CONFIRMED: text("I store nothing here before you confirm it."),
    Code.CITATION_UNVERIFIED: text("The source that it cites could not be checked."),
    Code.EXTERNAL: text("It may come from a message of somebody else, a page, a file or a tool."),
    Code.UNGROUNDED: text("I concluded it myself, without a source."),
    Code.SPECULATION: text("It is an opinion or a guess, not something known."),
    Code.DUPLICATE: text("It is stored already."),
    Code.RESTORED: text("It was stored here before, as its signature shows."),
    Code.IMPORTED: text("It comes from a file that you imported."),
    Code.REPLACES: text("It may replace something that is stored."),
}
_CONFIDENCE: Final = {
    IngestionTier.AUTO_APPROVE: 0.9,
    IngestionTier.FLAG_REVIEW: 0.6,
    IngestionTier.BLOCK: 0.3,
}
"""The confidence of each tier."""
_SOURCE_TYPES: Final = {
    CitationKind.URL: "documentation",
    CitationKind.ADR: "adr",
    CitationKind.COMMIT: "commit",
    CitationKind.ISSUE: "issue",
}
_ON_TRUST: Final = frozenset({Code.OPEN_POLICY, Code.SYNTHESIS_ALLOWED, Code.IMPORTED})
"""Codes of approval without a citation: the confidence is that of the source."""


def validation(claim: Claim, findings: Findings, ruling: GroundingDecision) -> ValidationResult:
    """Return the decision with its evidence, and every check by name."""
    valid = [c.citation for c in findings.citations if c.verification.valid]
    like = findings.duplicate
    confidence = _CONFIDENCE[ruling.tier]
    return ValidationResult(
        tier=ruling.tier,
        code=ruling.code,
        reason=ruling.reason,
        evidence=Evidence(
            claim=claim.content,
            captured_at=claim.captured_at,
            confidence=CONFIDENCE[claim.trust] if ruling.code in _ON_TRUST else confidence,
            source_id=valid[0].source_id if valid else "",
            valid_until=claim.valid_until,
            fields={SOURCE_TYPE: _SOURCE_TYPES[valid[0].kind]} if valid else {},
        ),
        checks_passed=_bounded(_passed(claim, findings)),
        checks_failed=_bounded(_failed(claim, findings)),
        similarity=like.similarity if like else None,
        conflicting_id=like.id if like else "",
    )


def _passed(claim: Claim, findings: Findings) -> list[str]:
    passed = []
    if findings.hedges.action is HedgeAction.NONE:
        passed.append("no_speculation")
    if not findings.injections:
        passed.append("no_injection")
    checked = findings.compared and not findings.duplicate_unchecked
    if checked and not _repeats(claim, findings):
        passed.append("no_duplicate")
    if claim.trust is Trust.HIGH:
        passed.append("trusted_source")
    valid = [c.citation.source_id for c in findings.citations if c.verification.valid]
    return passed + [f"citation_verified: {source_id}" for source_id in valid]


def _failed(claim: Claim, findings: Findings) -> list[str]:
    failed = [f"hedge: {word}" for word in findings.hedges.words]
    failed += [f"injection: {name}" for name in findings.injections]
    if findings.duplicate_unchecked:
        failed.append("duplicate_unchecked")
    if findings.duplicate and _repeats(claim, findings):
        failed.append(f"duplicate: {findings.duplicate.id}")
    for checked in findings.citations:
        if not checked.verification.valid:
            outcome = checked.verification.reason
            failed.append(f"citation_{outcome}: {checked.citation.source_id}")
    return failed


def _repeats(claim: Claim, findings: Findings) -> bool:
    return findings.duplicate is not None and findings.duplicate.id != claim.supersedes


def _bounded(checks: Sequence[str]) -> tuple[str, ...]:
    return tuple(check[:MAX_CHECK] for check in checks[:MAX_CHECKS])


class Grounding(Struct, frozen=True):
    """Runs the checks of a claim.

    `relevance`: a citation must also support the claim; `judge` is the model that decides about
    that, if any.
    """

    verify: VerifyCitation
    policy: WritePolicy = WritePolicy.GROUNDED
    auto_approve_ai_synthesis: bool = False
    relevance: bool = False
    judge: JudgeRelevance | None = None

    async def examine(
        self,
        claim: Claim,
        *,
        injections: Sequence[str] = (),
        duplicate: Duplicate | None = None,
        duplicate_unchecked: bool = False,
        compared: bool = True,
    ) -> ValidationResult:
        """Return the result for a claim. Citations are verified only if the tier depends on
        them."""
        findings = Findings(
            hedges=analyze_hedges(claim.content),
            injections=tuple(injections),
            duplicate=duplicate,
            duplicate_unchecked=duplicate_unchecked,
            compared=compared,
        )
        ruling = self._rule(claim, findings)
        if ruling.code in {Code.UNGROUNDED, Code.SYNTHESIS_ALLOWED}:
            findings = replace(findings, citations=await self.citations(claim.content))
            ruling = self._rule(claim, findings)
        return validation(claim, findings, ruling)

    def _rule(self, claim: Claim, findings: Findings) -> GroundingDecision:
        synthesis = self.auto_approve_ai_synthesis
        return determine_tier(claim, findings, self.policy, auto_approve_ai_synthesis=synthesis)

    async def citations(self, content: str) -> tuple[Checked, ...]:
        """Find and verify the citations of a text."""
        checked = await verify_all(find_citations(content), self.verify)
        if self.relevance:
            return await keep_relevant(content, checked, self.judge)
        return checked
