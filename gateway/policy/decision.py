"""The result type of every policy decision."""

from collections.abc import Mapping
from typing import NamedTuple


class Decision(NamedTuple):
    """A yes or no with its reason. A tuple, because sixteen are created for every message.

    `stage` names who decided ("access"), `reason` is a stable code that tests and dashboards rely
    on ("channel_blocked"), `detail` a short text for people, `data` what programs read, as JSON
    takes it; neither holds message content.
    """

    stage: str
    allowed: bool
    """True if the message goes on."""
    reason: str
    detail: str = ""
    retry_after: float = 0.0
    """Seconds until the same would be allowed; 0 if unknown."""
    data: Mapping[str, object] | None = None
