"""The state of one send, and the consequence of each outcome. Pure."""

from dataclasses import dataclass
from typing import Final

from gateway.errors import DeliveryError
from gateway.message import Outbound
from gateway.ports import Capabilities

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 60.0
"""Seconds between attempts where the platform names no time; doubled each time."""


@dataclass(slots=True)
class Send:
    """A send with the results of its attempts.

    `begun`: the outbox records that an attempt may have reached the platform. `unsure` counts the
    attempts without a result. `announced` is false while the note that a repetition needs is not
    confirmed; `notes` counts notes without a result.
    """

    outbound: Outbound
    tries: int
    begun: bool = False
    unsure: int = 0
    announced: bool = True
    notes: int = 0

    @property
    def pause(self) -> float:
        """Seconds until the next attempt, longer after each."""
        return pause_after(self.tries)


def pause_after(tries: int) -> float:
    """Return the seconds until the next attempt after so many failed ones."""
    return float(min(FIRST_PAUSE * 2 ** min(tries - 1, 10), LONGEST_PAUSE))


def reason_of(error: Exception) -> str:
    """Return the text of an adapter's own error; other errors may quote what people wrote."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, DeliveryError) else f"bug in the adapter: {name}"


def repeats_safely(capabilities: Capabilities, outbound: Outbound) -> bool:
    """Return True if a repetition is never visible: the platform recognises it, it edits an
    existing message, or it has no content."""
    return capabilities.idempotent_sends or bool(outbound.replaces) or outbound.is_empty
