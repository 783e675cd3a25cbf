"""The decision of the write path without its stores."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from gateway.errors import UsageError
from gateway.people import Audience, Principal
from memory.grounding.decision import Claim, Findings, WritePolicy, determine_tier, validation
from memory.grounding.hedges import analyze_hedges
from memory.model.outcome import ValidationResult
from memory.model.record import Draft, InputKind, Kind
from memory.ports.grounding import Checked
from memory.ports.memories import Duplicate
from memory.write.prepare import DraftRefusal, prepare

INPUT_KINDS: Final = {
    "user": InputKind.OWN_WORDS,
    "chat": InputKind.OWN_WORDS,
    "conversation": InputKind.OWN_WORDS,
    "user_message": InputKind.OWN_WORDS,
    "manual": InputKind.EXPLICIT,
    "explicit_save": InputKind.EXPLICIT,
    "documentation": InputKind.DOCUMENT,
    "adr": InputKind.DOCUMENT,
    "commit": InputKind.DOCUMENT,
    "file": InputKind.DOCUMENT,
    "others": InputKind.OTHERS_WORDS,
    "tool_output": InputKind.TOOL,
    "web": InputKind.WEB,
    "ai_synthesis": InputKind.ASSISTANT,
    "ai_inference": InputKind.ASSISTANT,
}
"""Input kinds by the name of a source; an unknown name is the assistant's inference."""
OUTSIDE: Final = frozenset({"file", "others", "tool_output", "web"})
"""External sources, which are never approved automatically."""


def validate(
    content: str,
    memory_type: str,
    source: str,
    principal: Principal,
    audience: Audience,
    *,
    citations: Sequence[Checked] = (),
    duplicate: Duplicate | None = None,
    duplicate_unchecked: bool = False,
    compared: bool = True,
    policy: WritePolicy = WritePolicy.GROUNDED,
    auto_approve_ai_synthesis: bool = False,
    at: datetime | None = None,
) -> ValidationResult:
    """Return the tier of a text, and the reason.

    Pure: the caller has looked up `citations` and a `duplicate`. `source` is known to our handler;
    it never comes from a person or a model. Raises `BadInput` without a principal and an audience,
    for an unknown type, and for a text that cannot be stored (`prepare.Refusal`).
    """
    if not (principal.tenant and principal.person.id and audience in Audience):
        raise UsageError("principal: it must name a person and an audience")
    try:
        kind = Kind(memory_type)
    except ValueError:
        known = ", ".join(each.value for each in Kind)
        raise UsageError(
            f"memory_type: there is no {memory_type[:40]!r}; there are {known}"
        ) from None
    origin = INPUT_KINDS.get(source, InputKind.ASSISTANT)
    external = source in OUTSIDE
    prepared = prepare(Draft(content, kind), origin, kind.tier, external=external)
    if isinstance(prepared, DraftRefusal):
        raise UsageError(f"content: {prepared.reason.english}")
    trust = prepared.derived.trust
    captured_at = at or datetime.now(UTC)
    claim = Claim(
        prepared.content, kind, prepared.derived.source, trust, captured_at, external=external
    )
    findings = Findings(
        hedges=analyze_hedges(prepared.content),
        citations=tuple(citations),
        injections=prepared.injections,
        duplicate=duplicate,
        duplicate_unchecked=duplicate_unchecked,
        compared=compared,
    )
    ruling = determine_tier(
        claim, findings, policy, auto_approve_ai_synthesis=auto_approve_ai_synthesis
    )
    return validation(claim, findings, ruling)
