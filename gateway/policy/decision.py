"""The result type of every policy decision."""

from collections.abc import Mapping
from typing import NamedTuple


class Decision(NamedTuple):
    """A yes or no with its reason. A tuple, because sixteen are created for every message. Neither
    text holds message content."""

    stage: str
    """The stage that decided, such as "access": a code of lower-case letters, digits and `_`."""
    allowed: bool
    """True if the message goes on."""
    reason: str
    """A stable code on which tests and dashboards rely, such as "channel_blocked": lower-case
    letters, digits and `_`, at most 64."""
    detail: str = ""
    """A short text for people; empty if the reason says it all."""
    retry_after: float = 0.0
    """Seconds until the same would be allowed; 0 if unknown."""
    data: Mapping[str, object] | None = None
    """The same for programs, as JSON takes it; None for nothing."""


NOTHING_TO_DO = Decision("", True, "")
"""The decision of a stage that does not concern a message: it is no part of the trace."""
