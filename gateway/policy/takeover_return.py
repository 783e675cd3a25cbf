"""The decision about a message in a conversation that an operator has taken over."""

from datetime import datetime, timedelta
from typing import Final

from gateway.policy.decision import Decision

STAGE: Final = "operator"
TAKEN_OVER: Final = "taken_over"
RETURNED: Final = "returned_when_idle"
WITHHELD: Final = "answer_withheld"
HANDED_OVER: Final = "handed_over"
"""The outcome of a message that an operator answers."""


def decide_takeover(active: datetime, now: datetime, idle: timedelta) -> Decision:
    """Decide if the assistant answers: it is silent until the operator was idle for that long.
    `active` is when the operator last took part."""
    if now - active >= idle:
        hours = round(idle.total_seconds() / 3600)
        return Decision(STAGE, True, RETURNED, f"{hours} h without an answer of the operator")
    return Decision(STAGE, False, TAKEN_OVER)
