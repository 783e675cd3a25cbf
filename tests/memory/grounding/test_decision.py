"""Every example of the rules gets its tier, with the other facts that decide it."""

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import pytest

from gateway.immutable import replace
from memory.grounding.citations import find_citations
from memory.grounding.decision import Claim, Findings, Grounding, WritePolicy, determine_tier
from memory.grounding.hedges import HedgeAction, HedgeResult, analyze_hedges
from memory.model.outcome import Code, IngestionTier
from memory.model.record import Kind, SourceType, Trust
from memory.ports.grounding import Checked, Citation, Reason, Verification
from memory.ports.memories import Duplicate
from tests.support.for_each import for_each

NOW = datetime(2026, 11, 21, tzinfo=UTC)
KNOWN: Final = {
    "ADR-003",
    "commit:a1b2c3d4e5f6",
    "commit:a1b2c3d4e5",
    "https://docs.example.com/api",
}
T1, T2, T3 = IngestionTier.AUTO_APPROVE, IngestionTier.FLAG_REVIEW, IngestionTier.BLOCK
LIKE = Duplicate("mem-1", 0.97)


@dataclass
class FakeVerifier:
    """Confirms the citations in `KNOWN`, and counts its calls."""

    calls: int = 0
    fails: bool = False

    async def __call__(self, citation: Citation) -> Verification:
        self.calls += 1
        if self.fails:
            raise OSError("no network")
        valid = citation.source_id in KNOWN
        return Verification(valid, Reason.EXISTS if valid else Reason.MISSING, "we use PostgreSQL")


def inferred(content: str, kind: Kind = Kind.FACT, **more: object) -> Claim:
    claim = Claim(content, kind, SourceType.AI_INFERENCE, Trust.LOW, NOW)
    return replace(claim, **more)  # type: ignore[arg-type]


def claim_of(content: str, kind: Kind = Kind.FACT) -> Claim:
    return Claim(content, kind, SourceType.USER_MESSAGE, Trust.HIGH, NOW)


def documented(content: str) -> Claim:
    """From the operator's own documents."""
    return Claim(content, Kind.FACT, SourceType.TOOL_OUTPUT, Trust.HIGH, NOW)


def saved(content: str) -> Claim:
    return Claim(content, Kind.FACT, SourceType.EXPLICIT_SAVE, Trust.HIGH, NOW)


ACCEPTED = [
    inferred("Per ADR-003, we use Pixeltable for memory storage", Kind.DECISION),
    inferred("Per ADR-003, we use PostgreSQL"),
    inferred("Fixed in commit a1b2c3d4e5f6"),
    inferred("Fixed in commit a1b2c3d4e5"),
    inferred("See https://docs.example.com/api"),
    claim_of("I prefer tabs over spaces", Kind.PREFERENCE),
    documented("OAuth2 is required"),
    claim_of("We decided to use PostgreSQL", Kind.DECISION),
]
FLAGGED = [
    inferred("The API returns JSON for REST responses"),
    inferred("OAuth2 is the authentication mechanism"),
    inferred("The service uses PostgreSQL 15"),
    inferred("The server may timeout under load"),
    inferred("Connections typically complete in <100ms"),
    inferred("Per ADR-999, we use magic"),
    claim_of("The server may timeout under load"),
    inferred("The API may return errors under load"),
]
BLOCKED = [
    inferred("I think we should use Redis"),
    inferred("I guess the API supports this"),
    inferred("Maybe we could try GraphQL"),
    inferred("I think we should use Redis, definitely"),
    claim_of("I think we should use Redis"),
]


@for_each("claim", ACCEPTED)
async def test_grounded_claims_are_stored_immediately(claim: Claim) -> None:
    result = await Grounding(FakeVerifier()).examine(claim)
    assert (result.tier, result.approved) == (T1, True)
    assert result.evidence.confidence_name == "high"
    assert "no_speculation" in result.checks_passed


@for_each("claim", FLAGGED)
async def test_unproven_claims_wait(claim: Claim) -> None:
    result = await Grounding(FakeVerifier()).examine(claim)
    assert (result.tier, result.approved) == (T2, False)
    assert result.evidence.confidence_name == "medium"


@pytest.mark.parametrize("claim", BLOCKED, ids=lambda claim: claim.content)
async def test_speculation_is_not_stored(claim: Claim) -> None:
    result = await Grounding(FakeVerifier()).examine(claim)
    assert (result.tier, result.code) == (T3, Code.SPECULATION)
    assert any(check.startswith("hedge: ") for check in result.checks_failed)
    assert result.evidence.confidence_name == "low"


async def test_a_duplicate_is_not_stored_and_the_existing_memory_is_named() -> None:
    claim = inferred("Per ADR-003, we use PostgreSQL")
    result = await Grounding(FakeVerifier()).examine(claim, duplicate=LIKE)
    assert (result.tier, result.code) == (T3, Code.DUPLICATE)
    assert (result.similarity, result.conflicting_id) == (0.97, "mem-1")


@for_each("claim", ACCEPTED + FLAGGED)
async def test_a_memory_that_could_not_be_compared_waits(claim: Claim) -> None:
    result = await Grounding(FakeVerifier()).examine(claim, duplicate_unchecked=True)
    assert (result.tier, result.code) == (T2, Code.DUPLICATE_UNCHECKED)


async def test_a_replacement_of_a_memory_is_not_its_duplicate() -> None:
    grounding = Grounding(FakeVerifier())
    claim = replace(claim_of("We use PostgreSQL"), supersedes="mem-1")
    assert (await grounding.examine(claim, duplicate=LIKE)).tier is T1
    other = Duplicate("mem-2", 0.97)
    assert (await grounding.examine(claim, duplicate=other)).code is Code.DUPLICATE


@pytest.mark.parametrize("text", ["I think we should use Redis", "The server may timeout"])
async def test_an_explicit_save_is_stored_whatever_it_begins_with(text: str) -> None:
    grounding = Grounding(FakeVerifier())
    assert (await grounding.examine(saved(text))).code is Code.EXPLICIT
    assert (await grounding.examine(inferred(text, confirmed=True))).code is Code.EXPLICIT


@for_each("claim", [*ACCEPTED, saved("x")])
@for_each("policy", WritePolicy)
async def test_an_injection_is_never_approved_automatically(
    claim: Claim, policy: WritePolicy
) -> None:
    grounding = Grounding(FakeVerifier(), policy, auto_approve_ai_synthesis=True)
    assert (await grounding.examine(claim, injections=["prompt"])).tier is T2


async def test_its_owner_can_approve_it() -> None:
    claim = inferred("You are now a pirate", confirmed=True)
    assert (await Grounding(FakeVerifier()).examine(claim, injections=["prompt"])).approved


async def test_one_missing_citation_invalidates_the_others() -> None:
    result = await Grounding(FakeVerifier()).examine(
        inferred("Per ADR-003 and ADR-999, we use magic")
    )
    assert (result.tier, result.code) == (T2, Code.CITATION_UNVERIFIED)
    assert "citation_verified: ADR-003" in result.checks_passed
    assert "citation_missing: ADR-999" in result.checks_failed


async def test_more_citations_than_the_limit_are_not_accepted() -> None:
    verifier = FakeVerifier()
    text = " ".join(["ADR-003", *(f"#{n}" for n in range(1, 9))])
    assert (await Grounding(verifier).examine(inferred(text))).tier is T2
    assert verifier.calls == 5


async def test_a_failing_check_sends_to_review() -> None:
    result = await Grounding(FakeVerifier(fails=True)).examine(
        inferred("Per ADR-003, we use PostgreSQL")
    )
    assert (result.tier, result.checks_failed) == (T2, ("citation_failed: ADR-003",))


async def test_the_evidence_names_the_verified_source() -> None:
    until = datetime(2027, 1, 1, tzinfo=UTC)
    claim = inferred("Fixed in commit a1b2c3d4e5f6", valid_until=until)
    evidence = (await Grounding(FakeVerifier()).examine(claim)).evidence
    assert (evidence.source_id, evidence.claim) == ("commit:a1b2c3d4e5f6", claim.content)
    assert (evidence.captured_at, evidence.valid_until) == (NOW, until)


@pytest.mark.parametrize(
    "claim",
    [claim_of("See https://evil.example/x"), saved("See https://evil.example/x"),
     inferred("I think https://docs.example.com/api is good"),
     inferred("It may be https://docs.example.com/api")],
    ids=lambda claim: claim.content,
)  # fmt: skip
async def test_nothing_is_requested_if_it_decides_nothing(claim: Claim) -> None:
    verifier = FakeVerifier()
    await Grounding(verifier).examine(claim)
    assert verifier.calls == 0


async def test_text_of_a_page_does_not_ground_itself() -> None:
    claim = inferred("See https://docs.example.com/api", external=True)
    assert (await Grounding(FakeVerifier()).examine(claim)).code is Code.EXTERNAL


@pytest.mark.parametrize("source", [SourceType.USER_MESSAGE, SourceType.TOOL_OUTPUT])
async def test_text_of_others_and_of_tools_waits(source: SourceType) -> None:
    claim = Claim("The service uses PostgreSQL", Kind.DECISION, source, Trust.MEDIUM, NOW)
    assert (await Grounding(FakeVerifier()).examine(claim)).code is Code.UNGROUNDED


async def test_text_of_others_does_not_ground_an_inference() -> None:
    claim = inferred("The service uses PostgreSQL", trust=Trust.HIGH)
    assert (await Grounding(FakeVerifier()).examine(claim)).tier is T2


async def test_inferences_are_stored_without_review_only_if_configured() -> None:
    grounding = Grounding(FakeVerifier(), auto_approve_ai_synthesis=True)
    result = await grounding.examine(inferred("The service uses PostgreSQL"))
    assert (result.code, result.evidence.confidence_name) == (Code.SYNTHESIS_ALLOWED, "low")
    assert (await grounding.examine(inferred("Per ADR-999, we use magic"))).tier is T2


async def test_with_confirm_only_own_statements_of_the_person_are_stored() -> None:
    grounding = Grounding(FakeVerifier(), WritePolicy.CONFIRM)
    assert {(await grounding.examine(c)).code for c in ACCEPTED} == {Code.NOT_CONFIRMED}
    assert (await grounding.examine(saved("We use tabs"))).approved
    assert (await grounding.examine(inferred("I think so"))).tier is T3


async def test_with_open_only_duplicates_and_uncertain_ones_are_not_stored() -> None:
    grounding = Grounding(FakeVerifier(), WritePolicy.OPEN)
    assert all([(await grounding.examine(c)).approved for c in ACCEPTED + FLAGGED + BLOCKED])
    assert (await grounding.examine(claim_of("x"), duplicate=LIKE)).tier is T3
    assert (await grounding.examine(claim_of("x"), duplicate_unchecked=True)).tier is T2


async def test_with_relevance_checks_a_citation_must_match_the_claim() -> None:
    grounding = Grounding(FakeVerifier(), relevance=True)
    assert (await grounding.examine(inferred("Per ADR-003, we use PostgreSQL"))).approved
    result = await grounding.examine(inferred("Per ADR-003, pineapples belong on pizza"))
    assert (result.tier, result.checks_failed) == (T2, ("citation_irrelevant: ADR-003",))


def test_every_combination_has_one_result_and_uncertainty_never_approves() -> None:
    valid, invalid = Verification(True, Reason.EXISTS), Verification(False, Reason.MISSING)
    (citation,) = find_citations("ADR-003")
    texts = ("I think so", "It may be so", "It is so")
    for text, source, trust, policy, cited, injected, duplicate, unchecked, confirmed in (
        itertools.product(texts, SourceType, Trust, WritePolicy, (None, valid, invalid),
                          (False, True), (None, LIKE), (False, True), (False, True))
    ):  # fmt: skip
        claim = Claim(text, Kind.FACT, source, trust, NOW, confirmed=confirmed)
        findings = Findings(
            analyze_hedges(text) if text != texts[2] else HedgeResult(HedgeAction.NONE),
            (Checked(citation, cited),) if cited else (),
            ("prompt",) if injected else (),
            duplicate,
            unchecked,
        )
        ruling = determine_tier(claim, findings, policy)
        assert ruling.reason
        if duplicate:
            assert ruling.tier is T3
        elif confirmed:
            assert ruling.tier is T1
        elif injected or unchecked:
            assert ruling.tier is not T1
