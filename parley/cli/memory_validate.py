"""`parley memory validate`: what would become of a text."""

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from gateway.errors import BadInput
from memory.model.validation import IngestionTier, ValidationResult
from memory.service.handle import MemoryHandle
from memory.write.validate import WAYS
from parley.cli.memory_access import PersonOptions, with_memory
from parley.cli.memory_table import print_json
from parley.config import Settings

TOLD: Final[Mapping[IngestionTier, str]] = {
    IngestionTier.AUTO_APPROVE: "stored at once",
    IngestionTier.FLAG_REVIEW: "waits for the person's word",
    IngestionTier.BLOCK: "not stored",
}


def run(wanted: PersonOptions, text: str, memory_type: str, source: str) -> int:
    """Print the tier, the reason and every check; 0 in the first tier only."""

    async def job(handle: MemoryHandle, _: Settings) -> ValidationResult:
        if source not in WAYS:
            raise BadInput(f"--source: there is no {source[:40]!r}; there are {', '.join(WAYS)}")
        return await handle.write.try_out(text, memory_type, source)

    result = with_memory(wanted, job, stranger=True)
    if wanted.as_json:
        print_json([sender_for(result)])
    else:
        sys.stdout.writelines(f"{line}\n" for line in told(result))
    return int(not result.approved)


def sender_for(result: ValidationResult) -> dict[str, object]:
    """The result as a JSON object."""
    return {
        "tier": result.tier.value,
        "approved": result.approved,
        "code": result.code.value,
        "reason": result.reason,
        "confidence": result.evidence.confidence,
        "confidence_name": result.evidence.confidence_name,
        "source_id": result.evidence.source_id,
        "checks_passed": list(result.checks_passed),
        "checks_failed": list(result.checks_failed),
        "similarity": result.similarity,
        "conflicting_id": result.conflicting_id,
    }


def told(result: ValidationResult) -> Iterator[str]:
    """It in words, line by line."""
    yield f"{result.tier.value}, {TOLD[result.tier]}: {result.reason}"
    yield f"confidence {result.evidence.confidence_name} ({result.evidence.confidence:.1f})"
    yield from (f"passed: {check}" for check in result.checks_passed)
    yield from (f"failed: {check}" for check in result.checks_failed)
    if result.conflicting_id:
        yield f"like {result.conflicting_id}: {result.similarity or 0:.2f}"
