"""What sort of thing a person asks to be remembered, as far as the words tell."""

import re
from typing import Final

from memory.model.record import Kind

_FORMS: Final[tuple[tuple[Kind, str], ...]] = (
    (Kind.CORRECTION, r"\b(?:actually|correction|not .{1,40} but|no longer|instead of)\b"),
    (Kind.DECISION, r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|settled)\b|\bdecision\b"),
    (
        Kind.PREFERENCE,
        r"\b(?:prefer|favou?rite|i (?:really )?(?:like|love|hate|dislike)|rather than)",
    ),
    (Kind.INSTRUCTION, r"^(?:please )?(?:always|never|don't|do not|call me|answer|use|write)\b"),
)


def kind_of(text: str) -> Kind:
    """The first kind whose words occur; a fact otherwise."""
    plain = text.strip().lower().replace("’", "'")
    for kind, form in _FORMS:
        if re.search(form, plain):
            return kind
    return Kind.FACT
