"""How a recalled memory is introduced to the model (sources 001, "Source Transparency")."""

from typing import Final

from memory.record import Record, SourceType, Trust

PAST: Final = "past context"
PAST_EXTERNAL: Final = "past context, from external content"
FROM_FILE: Final = "from file"
FROM_WEB: Final = "from web, may be inaccurate"
FROM_OTHERS: Final = "said by somebody else"
INFERRED: Final = "concluded by the assistant, may be inaccurate"


def label_of(record: Record) -> str:
    """How far a memory can be believed; empty where the person said so themselves."""
    said = record.provenance
    if record.role:
        return PAST_EXTERNAL if said.external else PAST
    if said.trust is Trust.HIGH:
        return ""
    if said.source is SourceType.AI_INFERENCE:
        return INFERRED
    if said.trust is Trust.LOW:
        return FROM_WEB
    return FROM_OTHERS if said.source is SourceType.USER_MESSAGE else FROM_FILE


def told(record: Record) -> str:
    """A memory in one line, as the model reads it."""
    label = label_of(record)
    content = " ".join(record.content.split())
    if not label:
        return content
    return f"[{label}] {content}" if record.role else f"{content} [{label}]"
