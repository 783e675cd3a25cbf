"""The end of a live message: the answer takes its place, or is sent anew where that fails."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.errors import Ambiguous, DeliveryError, FormatRejected, Permanent, Transient
from gateway.message import Outbound, Part, Place, Receipt
from gateway.outbound.fallback import REPEAT_NOTE, note
from gateway.outbound.live.state import Deliver, LiveMessage, Phase
from gateway.ports import CanClearButtons, CanDelete, CanShowLive, LiveStyle, PlatformAdapter


async def deliver(adapter: PlatformAdapter, outbound: Outbound) -> Receipt:
    """Send once; what replaces a live message is edited into it. Raises a `DeliveryError`.

    An edit is the same however often it is made, so that one without an answer is simply repeated.
    One that is refused is followed by a send, once nothing of the live message is left.
    """
    if outbound.clears:
        return await _without_buttons(adapter, outbound)
    if not outbound.replaces:
        return await adapter.send(outbound)
    message = LiveMessage(LiveStyle(), Phase.FINALISING, outbound.replaces)
    if isinstance(adapter, CanShowLive):
        try:
            return await adapter.end_live(outbound)
        except Ambiguous as error:
            raise Transient(str(error)) from error
        except Permanent:
            await take_away(adapter, outbound.place, outbound.replaces)
    _, action = message.final_refused()
    anew = replace(outbound, replaces=action.replaces if action else "")
    return await adapter.send(anew)


async def _without_buttons(adapter: PlatformAdapter, outbound: Outbound) -> Receipt:
    """Take buttons away; a message that is gone, or too old to be changed, needs it no more."""
    if isinstance(adapter, CanClearButtons):
        try:
            await adapter.clear_buttons(outbound)
        except Ambiguous as error:
            raise Transient(str(error)) from error
        except (Permanent, FormatRejected):
            pass
    return Receipt(outbound.clears)


async def take_away(adapter: PlatformAdapter, place: Place, handle: str) -> None:
    """Delete a live message that nobody will finish, where that can be done."""
    if isinstance(adapter, CanDelete) and handle:
        with contextlib.suppress(DeliveryError):
            await adapter.delete(place, handle)


def announced(outbound: Outbound, key: str) -> Outbound:
    """The note above an answer whose beginning an earlier run may have left standing."""
    return replace(note(outbound, REPEAT_NOTE), key=f"{key}-note:0")


def joined(
    outbound: tuple[Outbound, ...],
    action: Deliver | None,
    closing: Callable[[], Sequence[Outbound]],
) -> tuple[Outbound, ...]:
    """The sends of a finished answer, the first of them in the place of the live message.

    What only one person may read, or a file, cannot take that place: `closing` then does.
    """
    if action is None or not action.replaces:
        return outbound
    first = outbound[0] if outbound else None
    if first is None or first.part is None or first.private_to:
        return (*closed(closing(), action), *outbound)
    return (replace(first, replaces=action.replaces), *outbound[1:])


def closed(closing: Sequence[Outbound], action: Deliver) -> tuple[Outbound, ...]:
    """The sends that close what was shown, the first of them in its place."""
    return tuple(
        replace(send, replaces="" if index else action.replaces)
        for index, send in enumerate(closing)
    )


def sends(
    key: str, place: Place, parts: Sequence[Part], reply_to_id: str, reply_handle: str
) -> list[Outbound]:
    """Parts as sends of one reply."""
    return [
        Outbound(
            f"{key}:{index}",
            place,
            part,
            reply_to_id="" if index else reply_to_id,
            reply_handle=reply_handle,
        )
        for index, part in enumerate(parts)
    ]
