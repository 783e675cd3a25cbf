"""What every decision of the gateway returns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """Yes or no, and why.

    `stage` names who decided ("access"), `reason` is a stable code that tests and dashboards rely
    on ("channel_blocked"), `detail` a short text for people; it never holds message content.
    """

    stage: str
    allowed: bool
    reason: str
    detail: str = ""
    retry_after: float = 0.0
