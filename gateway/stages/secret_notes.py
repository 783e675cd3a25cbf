"""What a person is told under an answer of the secrets in their message."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.authorship import Material
from gateway.policy.history_redaction import RedactedMessages
from gateway.remembering import REDACTION_NOTICE, Aftermath
from safety.cut import REDACTED

REMOVED: Final = (
    "_Your message holds what looks like a password or a key. I have read it, and did not keep it._"
)
LEFT_OUT: Final = (
    "_Your message holds what may be a key, so I did not keep that part. To keep it, send it"
    " to me with `/remember`._"
)
_REMOVED_LATER: Final = (
    "In a group you wrote what looks like a password or a key. I read it, and did not keep it."
)
_LEFT_OUT_LATER: Final = (
    "In a group you wrote what may be a key, so I did not keep that part. To keep it, send it to me"
    " with /remember."
)
LATER: Final = {REMOVED: _REMOVED_LATER, LEFT_OUT: _LEFT_OUT_LATER}
"""The same lines for a later direct message, where the message they are about does not stand."""


def secret_note(
    kept: RedactedMessages, shown: Sequence[Material], kept_shown: Sequence[Material]
) -> str:
    """The line for this message, empty where everything of it is kept. `shown` is the text of
    others in it, `kept_shown` the same as it is kept."""
    cut = any(
        REDACTED in after.text and before.text != after.text
        for before, after in zip(shown, kept_shown, strict=True)
    )
    if kept.secrets or cut:
        return REMOVED
    return LEFT_OUT if kept.possible else ""


def noted(after: Aftermath, note: str) -> Aftermath:
    """The aftermath with one more line, in both of its forms. `REMOVED` says of the whole message
    what memory says of a part of it, and takes the place of that line."""
    if not note:
        return after
    typed = _with(after.typed, note) if after.typed else ""
    return replace(after, note=_with(after.note, note), typed=typed)


def _with(told: str, note: str) -> str:
    lines = told.split("\n") if told else []
    if note == REMOVED:
        lines = [line for line in lines if line != f"_{REDACTION_NOTICE}_"]
    return "\n".join((*lines, note))
