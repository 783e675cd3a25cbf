"""Live answers: the interface of an adapter that can show an answer while it is generated."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from gateway.message import Outbound, Part, Place, Receipt


@dataclass(frozen=True, slots=True)
class LiveStyle:
    """The style of live answers in a conversation.

    `pause`: minimum seconds between two requests. `fades`: seconds after which a preview disappears
    unless it is repeated, 0 for never. `costs`: requests count against the send budget. `appends`:
    text can only be added until the answer is complete.
    """

    pause: float = 1.2
    fades: float = 0.0
    costs: bool = True
    appends: bool = False


@dataclass(frozen=True, slots=True)
class LiveView:
    """The current state of a live answer.

    `key` is the same for the whole answer, also after a restart. `part` is the text so far as one
    message, with open marks closed; `added` is the new Markdown in it. `handle` is the result of
    the last call, empty for the first one.
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
        """Return the style for a place; None where live answers are not possible."""

    async def show_live(self, view: LiveView) -> str:
        """Show the text, or update it. Returns the handle of the message, empty for a preview that
        disappears by itself. Raises a `DeliveryError`."""

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Replace the message with the handle `outbound.replaces`. Idempotent. Raises a
        `DeliveryError`; `Permanent` if it is gone or cannot be changed."""
