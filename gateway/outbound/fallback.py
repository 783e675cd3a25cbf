"""What is sent where an answer cannot be sent as it is. Pure."""

from dataclasses import replace

from gateway.message import Outbound, Part

_REPEAT = "(You may see the next message twice: the connection broke while I sent it.)"
_LOST = "(A part of my answer could not be sent here.)"
REPEAT_NOTE = Part(_REPEAT, _REPEAT)
LOST_NOTE = Part(_LOST, _LOST)


def simpler(outbound: Outbound) -> Outbound | None:
    """The same with less in it, for a platform that rejected it: first without markup, then
    without buttons; None when there is nothing left to leave away."""
    part = outbound.part
    if part is not None and part.payload != part.text:
        return replace(outbound, part=Part(part.text, part.text))
    if part is not None and outbound.buttons:
        return replace(outbound, buttons=())
    return None


def note(outbound: Outbound, part: Part) -> Outbound:
    """A word about a send, to whoever was to get it; its key is a send's of its own."""
    return replace(outbound, key=f"{outbound.key}~", part=part, file=None, buttons=())
