"""Questions that are asked at a time that their author set before."""

from datetime import datetime
from typing import Final

ASKED_AS: Final = "ask"
"""The command as which a scheduled question is asked."""
SCHEDULED: Final = "scheduled"
"""The reason for the answer to it."""


def reason_for(due_at: datetime) -> str:
    """Return the reason of the entry in the inbox, with the time for which it was scheduled."""
    return f"{SCHEDULED} {due_at.isoformat()}"


def scheduled_for(reason: str) -> datetime | None:
    """Return the time in the reason of an entry of the inbox; None for any other reason."""
    kind, _, at = reason.partition(" ")
    if kind != SCHEDULED:
        return None
    return datetime.fromisoformat(at)
