"""The end of a live message: the answer replaces it, or is sent as a new message if that fails."""

import contextlib
from collections.abc import Awaitable, Callable, Sequence

from gateway.errors import Ambiguous, DeliveryError, FormatRejected, Permanent, Transient
from gateway.immutable import replace
from gateway.message import Outbound, Place, Receipt
from gateway.outbound.live.message import Deliver, LiveMessage, LivePhase
from gateway.outbound.retry_decision import REPEAT_NOTE, note
from gateway.ports import CanClearButtons, CanDelete, CanShowLive, LiveStyle, PlatformAdapter
from gateway.text import Language


async def deliver(
    adapter: PlatformAdapter, outbound: Outbound, begin: Callable[[bool], Awaitable[None]]
) -> Receipt:
    """Send once; an item that replaces a live message is edited into it. Raises a `DeliveryError`.

    An edit is idempotent, so an edit without a result is repeated. If it is refused, the answer is
    sent as a new message once the live message is removed. `begin` is called before that with True
    if it was removed: it records that the send may have happened.
    """
    if outbound.clears:
        return await _without_buttons(adapter, outbound)
    if not outbound.replaces:
        return await adapter.send(outbound)
    message, removed = LiveMessage(LiveStyle(), LivePhase.FINALISING, outbound.replaces), True
    if isinstance(adapter, CanShowLive):
        try:
            return await adapter.end_live(outbound)
        except Ambiguous as error:
            raise Transient(str(error)) from error
        except Permanent:
            removed = await take_away(adapter, outbound.place, outbound.replaces)
    _, action = message.final_refused()
    anew = replace(outbound, replaces=action.replaces if action else "")
    await begin(removed)
    return await adapter.send(anew)


async def _without_buttons(adapter: PlatformAdapter, outbound: Outbound) -> Receipt:
    """Remove buttons; a message that is deleted, or too old to be changed, needs no removal."""
    if isinstance(adapter, CanClearButtons):
        try:
            await adapter.clear_buttons(outbound)
        except Ambiguous as error:
            raise Transient(str(error)) from error
        except (Permanent, FormatRejected):
            pass
    return Receipt(outbound.clears)


async def take_away(adapter: PlatformAdapter, place: Place, handle: str) -> bool:
    """Delete an abandoned live message; False if it may stay."""
    if isinstance(adapter, CanDelete) and handle:
        with contextlib.suppress(DeliveryError):
            await adapter.delete(place, handle)
            return True
    return False


def announced(outbound: Outbound, key: str, language: Language) -> Outbound:
    """Return the note above an answer whose beginning an earlier run may have shown."""
    return replace(note(outbound, REPEAT_NOTE, language), key=f"{key}-note:0")


def joined(
    outbound: tuple[Outbound, ...],
    action: Deliver | None,
    closing: Callable[[], Sequence[Outbound]],
) -> tuple[Outbound, ...]:
    """Return the sends of a finished answer, the first of them in place of the live message.

    A private message or a file cannot replace it: `closing` then does.
    """
    if action is None or not action.replaces:
        return outbound
    first = outbound[0] if outbound else None
    if first is None or first.part is None or first.private_to:
        return (*closed(closing(), action), *outbound)
    return (replace(first, replaces=action.replaces), *outbound[1:])


def closed(closing: Sequence[Outbound], action: Deliver) -> tuple[Outbound, ...]:
    """Return the sends that close the live message, the first of them in its place."""
    return tuple(
        replace(send, replaces="" if index else action.replaces)
        for index, send in enumerate(closing)
    )
