"""What every decision of the gateway returns."""

from collections.abc import Mapping
from typing import NamedTuple


class Decision(NamedTuple):
    """Yes or no, and why. A tuple, because sixteen are made for every message.

    `stage` names who decided ("access"), `reason` is a stable code that tests and dashboards rely
    on ("channel_blocked"), `detail` a short text for people, `data` what programs read, as JSON
    takes it; neither holds message content.
    """

    stage: str
    allowed: bool
    reason: str
    detail: str = ""
    retry_after: float = 0.0
    data: Mapping[str, object] | None = None
