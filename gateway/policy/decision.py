"""What every decision of the gateway returns."""

from typing import NamedTuple


class Decision(NamedTuple):
    """Yes or no, and why. A tuple, because sixteen are made for every message.

    `stage` names who decided ("access"), `reason` is a stable code that tests and dashboards rely
    on ("channel_blocked"), `detail` a short text for people; it never holds message content.
    """

    stage: str
    allowed: bool
    reason: str
    detail: str = ""
    retry_after: float = 0.0
