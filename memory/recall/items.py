"""What was recalled, as the gateway takes it into a prompt."""

from gateway.context.blocks import KnowledgeItem
from memory.recall.provenance import Recalled


def knowledge_item(recalled: Recalled, conversation: str) -> KnowledgeItem:
    """A memory with what it can be traced back to; of a turn, with who spoke."""
    record = recalled.record
    day = record.provenance.at.date().isoformat()
    if record.role:
        source, text = f"conversation of {day}", f"{record.role}: {record.content}"
    else:
        source, text = record.evidence.source_id or f"memory of {day}", record.content
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
        message_id=record.provenance.message_id if record.provenance.group == conversation else "",
    )
