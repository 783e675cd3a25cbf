"""One send under way, and what its outcome means. Pure."""

from dataclasses import dataclass
from typing import Final

from gateway.errors import DeliveryError
from gateway.message import Outbound
from gateway.ports import Capabilities

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 60.0
"""Seconds between tries where the platform does not name its own; doubled each time."""


@dataclass(slots=True)
class Send:
    """What a send is by now, and what happened to it so far.

    `begun`: the outbox knows that its try may have happened. `unsure` counts the tries without an
    answer. `announced` is false while the note that a repetition needs is not known to stand there;
    `notes` got no answer.
    """

    outbound: Outbound
    tries: int
    begun: bool = False
    unsure: int = 0
    announced: bool = True
    notes: int = 0

    @property
    def pause(self) -> float:
        """Seconds until the next try, longer after each."""
        return pause_after(self.tries)


def pause_after(tries: int) -> float:
    """Seconds until something is tried again that did not succeed so often."""
    return float(min(FIRST_PAUSE * 2 ** min(tries - 1, 10), LONGEST_PAUSE))


def reason_of(error: Exception) -> str:
    """Words of an adapter's own errors; those of others may hold what people wrote."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, DeliveryError) else f"bug in the adapter: {name}"


def repeats_safely(capabilities: Capabilities, outbound: Outbound) -> bool:
    """Whether nobody sees a repetition: the platform recognises it, it changes once more what
    stands there, or it says nothing."""
    return capabilities.idempotent_sends or bool(outbound.replaces) or outbound.is_empty
