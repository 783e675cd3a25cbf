"""An answer while it is written: a message that is edited, or the "thinking" one of a command."""

from typing import Final

from adapters.discord.answers import InteractionResponses, handle_of
from adapters.discord.api import Api
from adapters.discord.send import NOBODY, message_route, rows_of, text_of
from gateway.errors import Permanent
from gateway.message import Outbound
from gateway.ports import LiveView

ORIGINAL: Final = "@original"
"""The handle of a command's first answer, which is reached through its interaction only."""


def first_of(view: LiveView) -> Outbound:
    """What is sent when nothing stands there yet."""
    return Outbound(
        view.key,
        view.place,
        view.part,
        reply_to_id=view.reply_to_id,
        reply_handle=view.reply_handle,
    )


def changed(view: LiveView) -> Outbound:
    """What the message that stands there becomes."""
    return Outbound(
        view.key, view.place, view.part, reply_handle=view.reply_handle, replaces=view.handle
    )


async def put(api: Api, answers: InteractionResponses, outbound: Outbound) -> str:
    """Change the live message of `outbound`; returns its id. Raises a `DeliveryError`."""
    if outbound.part is None:
        raise Permanent("there is no text to put into the message")
    if outbound.replaces == ORIGINAL:
        handle = handle_of(outbound)
        if handle is None:
            raise Permanent("the command that was answered is not known any more")
        return await answers.refill(handle, outbound)
    body: dict[str, object] = {"content": text_of(outbound.part), "allowed_mentions": NOBODY}
    if outbound.buttons:
        body["components"] = rows_of(outbound.buttons)
    await api.call(message_route("PATCH", outbound.place, outbound.replaces), json=body)
    return outbound.replaces
