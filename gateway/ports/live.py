"""An answer that is shown while it is written."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from gateway.message import Outbound, Part, Place, Receipt


@dataclass(frozen=True, slots=True)
class LiveStyle:
    """How a conversation shows an answer that is being written.

    `pause`: seconds between two requests, at least. `fades`: seconds after which what is shown
    vanishes unless it is shown again, 0 for never. `costs`: it counts against the send budget.
    `appends`: what is shown can only be added to until the answer is complete.
    """

    pause: float = 1.2
    fades: float = 0.0
    costs: bool = True
    appends: bool = False


@dataclass(frozen=True, slots=True)
class LiveView:
    """What is to be shown of an answer now.

    `key` is the same for the whole answer, also after a restart. `part` is everything so far, with
    what is open closed, as one message; `added` is the Markdown that is new in it. `handle` is what
    the last call returned, empty for the first one.
    """

    key: str
    place: Place
    part: Part
    added: str
    handle: str = ""
    reply_to_id: str = ""
    reply_handle: str = field(default="", repr=False)


@runtime_checkable
class CanShowLive(Protocol):
    def live_style(self, place: Place) -> LiveStyle | None:
        """How it is shown there; None where it cannot be."""
        ...

    async def show_live(self, view: LiveView) -> str:
        """Show it, or change what is shown. Returns the handle of the message that stands there,
        empty for a preview that vanishes by itself. Raises a `DeliveryError`."""
        ...

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Turn the message with the handle `outbound.replaces` into this. Doing it again changes
        nothing. Raises a `DeliveryError`; `Permanent` when it is gone or cannot be changed."""
        ...
