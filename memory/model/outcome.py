"""The outcome of a write."""

from dataclasses import dataclass
from enum import StrEnum

from memory.model.validation import ValidationResult


class Outcome(StrEnum):
    """Stored at once, waiting for its owner's word, blocked by what it says, or refused by a
    limit."""

    STORED = "stored"
    REVIEW = "review"
    BLOCKED = "blocked"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class WriteResult:
    """`code` is stable, `reason` in words. `memory_id` is set when it is stored, `review_id` when
    it waits; `replaces` when it waits and would take the place of another memory. `notices` are
    sentences for the person: on redaction, on shortening, on a memory that was replaced; the last
    of these is `replacement_notice`, empty where there is none. `for_operators` when it waits for
    the decision of an operator, and the person is none."""

    outcome: Outcome
    code: str
    reason: str
    content: str = ""
    memory_id: str = ""
    review_id: str = ""
    validation: ValidationResult | None = None
    notices: tuple[str, ...] = ()
    replaces: bool = False
    for_operators: bool = False
    replacement_notice: str = ""
