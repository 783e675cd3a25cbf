"""The attempts of one send: their state, the notes about them, and simpler forms of a rejected
send. Pure."""

from dataclasses import dataclass

from gateway.errors import AddressGone, DeliveryError
from gateway.immutable import replace
from gateway.message import Outbound, Part
from gateway.people import Audience
from gateway.ports import Capabilities

_REPEAT = "(You may see the next message twice: the connection broke while I sent it.)"
_LOST = "(A part of my answer could not be sent here.)"
_ELSEWHERE = (
    "(The topic of this question was closed or deleted meanwhile, so my answer follows here.)"
)
REPEAT_NOTE = Part(_REPEAT, _REPEAT)
LOST_NOTE = Part(_LOST, _LOST)
ELSEWHERE_NOTE = Part(_ELSEWHERE, _ELSEWHERE)


@dataclass(slots=True)
class Send:
    """A send with the results of its attempts.

    `begun`: the outbox records that an attempt may have reached the platform. `unsure` counts the
    attempts without a result. `announced` is false while the note that a repetition needs is not
    confirmed; `notes` counts notes without a result. `unannounced`: the note cannot be sent.
    """

    outbound: Outbound
    tries: int
    begun: bool = False
    unsure: int = 0
    announced: bool = True
    notes: int = 0
    unannounced: bool = False


def reason_of(error: Exception) -> str:
    """Return the text of an adapter's own error; other errors may quote what people wrote."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, DeliveryError) else f"bug in the adapter: {name}"


def recognised(capabilities: Capabilities, outbound: Outbound) -> bool:
    """Return True if the platform recognises a repetition. It does not where it shows a message to
    one person alone, in a room or as the answer to a command."""
    room = outbound.place.audience is not Audience.DIRECT
    alone = outbound.private_to and (room or outbound.reply_handle)
    return capabilities.idempotent_sends and not alone


def repeats_safely(capabilities: Capabilities, outbound: Outbound) -> bool:
    """Return True if a repetition is never visible: the platform recognises it, it edits an
    existing message, or it has no content."""
    return recognised(capabilities, outbound) or bool(outbound.replaces) or outbound.is_empty


def simpler(outbound: Outbound) -> Outbound | None:
    """Return a simpler form of a rejected send: first without markup, then without buttons; None if
    there is none."""
    part = outbound.part
    if part is not None and part.payload != part.text:
        return replace(outbound, part=Part(part.text, part.text))
    if part is not None and outbound.buttons:
        return replace(outbound, buttons=())
    return None


def readdressed(outbound: Outbound, error: AddressGone) -> Outbound | None:
    """Return the send without what is gone: without the message it replies to, or to the channel of
    its thread; None if the channel has other readers than the thread, or there is nothing left."""
    place = outbound.place
    if not error.thread:
        return replace(outbound, reply_to_id="") if outbound.reply_to_id else None
    if not place.thread_id or place.closed_thread:
        return None
    # A reply to a message of the thread would lead there again.
    outside = replace(place, thread_id="")
    return replace(outbound, place=outside, reply_to_id="", replaces="")


def note(outbound: Outbound, part: Part) -> Outbound:
    """Return a note about a send to the same recipients, under a key of its own."""
    return replace(outbound, key=f"{outbound.key}~", part=part, file=None, buttons=())
