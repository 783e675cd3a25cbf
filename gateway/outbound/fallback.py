"""Simpler forms of a send that a platform rejects, and notes about failed sends. Pure."""

from dataclasses import replace

from gateway.message import Outbound, Part

_REPEAT = "(You may see the next message twice: the connection broke while I sent it.)"
_LOST = "(A part of my answer could not be sent here.)"
REPEAT_NOTE = Part(_REPEAT, _REPEAT)
LOST_NOTE = Part(_LOST, _LOST)


def simpler(outbound: Outbound) -> Outbound | None:
    """Return a simpler form of a rejected send: first without markup, then without buttons; None if
    there is none."""
    part = outbound.part
    if part is not None and part.payload != part.text:
        return replace(outbound, part=Part(part.text, part.text))
    if part is not None and outbound.buttons:
        return replace(outbound, buttons=())
    return None


def note(outbound: Outbound, part: Part) -> Outbound:
    """Return a note about a send to the same recipients, under a key of its own."""
    return replace(outbound, key=f"{outbound.key}~", part=part, file=None, buttons=())
