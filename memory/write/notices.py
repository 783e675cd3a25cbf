"""The sentences about a memory that another one replaces, or may replace."""

from typing import Final

from gateway.text import Sentence, Text, joined, text, verbatim
from memory.model.record import Record
from safety.secret_detection.detect import redact_secrets
from safety.unicode import cut

REPLACES: Final = text("I now remember “{new}”. It replaces “{text}”.")
KEPT_BOTH: Final = text(
    "I now remember “{new}”, and still “{text}”: a session replaces at most 5 memories. `/forget` "
    "deletes the old one."
)
MAY_REPLACE: Final = text("It may replace a memory.")
MAY_REPLACE_THIS: Final = text("It may replace “{text}”.")
WOULD_REPLACE: Final = text("It would replace “{text}”.")
MAX_IN_NOTICE: Final = 120
"""Characters of a memory that a notice quotes."""


def naming(reason: Text, old: str) -> Text:
    """Return the reason of a review with the text that the memory would replace; empty for none."""
    if not old:
        return reason
    shown = verbatim(shown_in_notice(old))
    if reason == MAY_REPLACE:
        return MAY_REPLACE_THIS.of(text=shown)
    return joined((reason, WOULD_REPLACE.of(text=shown)), " ")


def replacement_notice(new: Record, old: Record, notice: Sentence = REPLACES) -> Text:
    """Return the sentence that quotes a memory and the one that it replaces."""
    return notice.of(
        new=verbatim(shown_in_notice(new.content)), text=verbatim(shown_in_notice(old.content))
    )


def shown_in_notice(text: str) -> str:
    """Return the first characters of a memory in one line, without secrets and final full stop."""
    return cut(" ".join(redact_secrets(text).text.split()), MAX_IN_NOTICE).removesuffix(".")
