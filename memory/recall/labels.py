"""Labels that introduce a recalled memory to the model (sources 001, "Source Transparency")."""

from collections.abc import Collection
from typing import Final

from memory.model.record import Record, SourceType, Trust

PAST: Final = "past context"
PAST_EXTERNAL: Final = "past context, from external content"
FROM_FILE: Final = "from file"
FROM_WEB: Final = "from web, may be inaccurate"
FROM_OTHERS: Final = "said by somebody else"
KEPT: Final = "from somebody else, kept with the person's approval"
SUSPICIOUS: Final = "reads like an instruction, may be inaccurate"
IMPORTED: Final = "from an imported file, not verified, may be inaccurate"
FROM_BACKEND: Final = "from the memory backend {name}, may have been edited"
INFERRED: Final = "concluded by the assistant, may be inaccurate"

OWN_WORDS: Final = "the person's own words"
MEMBERS_WORDS: Final = "words of another member"
MEMORY: Final = "memory"


def label_of(record: Record) -> str:
    """Return the label for the source of a memory; empty for the person's own words."""
    provenance = record.provenance
    if provenance.backend:
        low = provenance.trust is Trust.LOW
        return SUSPICIOUS if low else FROM_BACKEND.format(name=provenance.backend)
    if provenance.source is SourceType.IMPORT:
        return IMPORTED
    if record.role == "other":
        return FROM_OTHERS
    if record.role:
        return PAST_EXTERNAL if provenance.external else PAST
    if provenance.source is SourceType.EXPLICIT_SAVE and provenance.external:
        return KEPT
    if provenance.source is SourceType.TOOL_OUTPUT:
        return FROM_WEB if provenance.trust is Trust.LOW else FROM_FILE
    if provenance.trust is Trust.HIGH:
        return ""
    if provenance.source is SourceType.AI_INFERENCE:
        return INFERRED
    return FROM_OTHERS if provenance.external or provenance.trust is Trust.MEDIUM else SUSPICIOUS


def author_label(record: Record, persons: Collection[str]) -> str:
    """The speaker of a memory, because its text may say "I". `persons` are the identities of the
    person who asks."""
    provenance = record.provenance
    if provenance.source is SourceType.USER_MESSAGE and provenance.trust is Trust.HIGH:
        return OWN_WORDS if provenance.person in persons else MEMBERS_WORDS
    return MEMORY


def labelled_line(record: Record) -> str:
    """A memory in one line, as the model reads it."""
    label = label_of(record)
    content = " ".join(record.content.split())
    if not label:
        return content
    return f"[{label}] {content}" if record.role else f"{content} [{label}]"
