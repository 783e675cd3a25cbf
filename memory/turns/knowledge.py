"""What was recalled, as the gateway takes it into a prompt."""

from collections.abc import Collection

from gateway.ports.prompt_blocks import KnowledgeItem
from memory.model.recollection import Recalled
from memory.model.record import short_id
from memory.recall.labels import said_by


def knowledge_item(
    recalled: Recalled, conversation: str, persons: Collection[str]
) -> KnowledgeItem:
    """A memory with its source and date; of a turn, with who spoke. `persons` are the identities of
    the person who asks."""
    record = recalled.record
    day = record.provenance.at.date().isoformat()
    if record.role:
        speaker = "somebody else" if record.role == "other" else record.role
        source, text = f"conversation of {day}", f"{speaker}: {record.content}"
    else:
        written = f"{said_by(record, persons)} of {day}"
        source, text = record.evidence.source_id or written, record.content
    return KnowledgeItem(
        id=record.id,
        text=text,
        source=source,
        confidence=record.evidence.confidence,
        kind=record.kind.value,
        scope=record.scope.value,
        label=recalled.label,
        at=record.provenance.at,
        score=recalled.score,
        ref="" if record.role else short_id(record.id),
        message_id=record.provenance.message_id if record.provenance.group == conversation else "",
    )
