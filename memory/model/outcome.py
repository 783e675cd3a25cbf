"""The result of grounding a claim, and the outcome of a write."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from gateway.text import NO_TEXT, Text, text
from memory.model.record import Evidence


class IngestionTier(StrEnum):
    """Stored at once, waiting for its owner's decision, or not stored."""

    AUTO_APPROVE = "tier_1"
    FLAG_REVIEW = "tier_2"
    BLOCK = "tier_3"


class Code(StrEnum):
    """The reason for the tier of a claim. Stable: stored in reviews, traces and the audit."""

    EXPLICIT = "explicit"
    CITED = "cited"
    TRUSTED = "trusted"
    SYNTHESIS_ALLOWED = "synthesis_allowed"
    OPEN_POLICY = "open_policy"
    INJECTION = "injection"
    DUPLICATE_UNCHECKED = "duplicate_unchecked"
    HEDGED = "hedged"
    NOT_CONFIRMED = "not_confirmed"
    CITATION_UNVERIFIED = "citation_unverified"
    EXTERNAL = "external"
    UNGROUNDED = "ungrounded"
    SPECULATION = "speculation"
    DUPLICATE = "duplicate"
    REPLACES = "replaces"
    RESTORED = "restored"
    IMPORTED = "imported"


class ValidationResult(Struct, frozen=True):
    """The tier of a claim, and the reason.

    `code` is stable; `reason` is a sentence for people. Checks are up to 20 codes such as
    "no_speculation" or "hedge: maybe". `similarity` (0 to 1) and `conflicting_id` are set for a
    similar memory.
    """

    tier: IngestionTier
    code: Code
    reason: Text
    evidence: Evidence
    """The evidence with which the claim would be stored."""
    checks_passed: tuple[str, ...] = ()
    """The checks that speak for the claim."""
    checks_failed: tuple[str, ...] = ()
    """The checks that speak against it."""
    similarity: float | None = None
    conflicting_id: str = ""

    @property
    def approved(self) -> bool:
        """True in the first tier only."""
        return self.tier is IngestionTier.AUTO_APPROVE


class Outcome(StrEnum):
    """Stored at once, waiting for its owner's decision, blocked by its content, or refused by a
    limit."""

    STORED = "stored"
    REVIEW = "review"
    BLOCKED = "blocked"
    REFUSED = "refused"


STORED: Final = text("Stored.")
"""The reason of a write that stored its text."""


class WriteResult(Struct, frozen=True):
    """The result of a write. `code` is stable, `reason` is a sentence. `memory_id` is set if it is
    stored, `review_id` if it waits; `replaces` if it waits and would replace another memory.
    `notices` are sentences for the person: on redaction, on shortening, on a replaced memory; the
    last of these is `replacement_notice`, empty if there is none. `for_operators` is true if it
    waits for the decision of an operator, and the person is none."""

    outcome: Outcome
    """The fate of the text."""
    code: str
    reason: Text
    content: str = ""
    """The text that is stored or waits; empty for none."""
    memory_id: str = ""
    review_id: str = ""
    validation: ValidationResult | None = None
    """The result of the grounding; None if it was not reached."""
    notices: tuple[Text, ...] = ()
    replaces: bool = False
    for_operators: bool = False
    replacement_notice: Text = NO_TEXT
    replaced_id: str = ""
    """The id of the memory that the stored one replaced; empty if there is none."""
