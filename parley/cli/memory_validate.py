"""`parley memory validate`: the result that a text would have on the write path."""

import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Final

import typer

from gateway.errors import BadInput
from memory.model.outcome import IngestionTier, ValidationResult
from memory.service.handle import MemoryHandle
from memory.write.validate import WAYS
from parley.cli.memory_access import PersonOptions, with_memory
from parley.cli.memory_table import print_json
from parley.cli.options import AsJson, Config, Person
from parley.config import Settings

MEANINGS: Final[Mapping[IngestionTier, str]] = {
    IngestionTier.AUTO_APPROVE: "stored at once",
    IngestionTier.FLAG_REVIEW: "waits for the person's decision",
    IngestionTier.BLOCK: "not stored",
}


def validate(
    text: Annotated[str, typer.Argument(help="The text to remember.")],
    person: Person = "",
    memory_type: Annotated[
        str, typer.Option("--type", help="preference, fact, instruction, correction, decision …")
    ] = "fact",
    source: Annotated[str, typer.Option(help=f"The origin of the text: {', '.join(WAYS)}.")] = (
        "ai_synthesis"
    ),
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the tier, the reason and every check; 0 only where the text would be stored at once."""

    async def job(handle: MemoryHandle, _: Settings) -> ValidationResult:
        if source not in WAYS:
            raise BadInput(f"--source: {source[:40]!r} is not one of {', '.join(WAYS)}")
        return await handle.write.try_out(text, memory_type, source)

    result = with_memory(PersonOptions(person, config, as_json), job, allow_unknown=True)
    if as_json:
        print_json([_as_values(result)])
    else:
        sys.stdout.writelines(f"{line}\n" for line in _as_lines(result))
    return int(not result.approved)


def _as_values(result: ValidationResult) -> dict[str, object]:
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


def _as_lines(result: ValidationResult) -> Iterator[str]:
    yield f"{result.tier.value}, {MEANINGS[result.tier]}: {result.reason}"
    yield f"confidence {result.evidence.confidence_name} ({result.evidence.confidence:.1f})"
    yield from (f"passed: {check}" for check in result.checks_passed)
    yield from (f"failed: {check}" for check in result.checks_failed)
    if result.conflicting_id:
        yield f"like {result.conflicting_id}: {result.similarity or 0:.2f}"
