"""Derives the trust in a text from its origin.

What the model stores is its own
inference, unless the person wrote that sentence in this turn (`memory/write/statement.py`).
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from memory.model.record import SourceType, Trust


class InputKind(StrEnum):
    """The origin of a text, which only the service decides."""

    EXPLICIT = "explicit"
    OWN_WORDS = "own_words"
    OTHERS_WORDS = "others_words"
    ASSISTANT = "assistant"
    DOCUMENT = "document"
    TOOL = "tool"
    WEB = "web"
    IMPORT = "import"


class Derived(Struct, frozen=True):
    """The derived source and trust."""

    source: SourceType
    trust: Trust


_DERIVED: Final = {
    InputKind.EXPLICIT: Derived(SourceType.EXPLICIT_SAVE, Trust.HIGH),
    InputKind.OWN_WORDS: Derived(SourceType.USER_MESSAGE, Trust.HIGH),
    InputKind.OTHERS_WORDS: Derived(SourceType.USER_MESSAGE, Trust.MEDIUM),
    InputKind.ASSISTANT: Derived(SourceType.AI_INFERENCE, Trust.LOW),
    InputKind.DOCUMENT: Derived(SourceType.TOOL_OUTPUT, Trust.HIGH),
    InputKind.TOOL: Derived(SourceType.TOOL_OUTPUT, Trust.MEDIUM),
    InputKind.WEB: Derived(SourceType.TOOL_OUTPUT, Trust.LOW),
    InputKind.IMPORT: Derived(SourceType.IMPORT, Trust.LOW),
}
CONFIDENCE: Final = {Trust.HIGH: 0.9, Trust.MEDIUM: 0.6, Trust.LOW: 0.3}
"""The initial confidence of a memory; a verified citation raises it."""


def derive_trust(kind: InputKind, *, injection: bool = False, external: bool = False) -> Derived:
    """Return source and trust of a text; an injection finding removes the trust. External text
    never has high trust: an attached file could be hostile."""
    derived = _DERIVED[kind]
    if injection:
        return Derived(derived.source, Trust.LOW)
    if external and derived.trust is Trust.HIGH:
        return Derived(derived.source, Trust.MEDIUM)
    return derived
