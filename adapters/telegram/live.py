"""An answer while it is written: a draft in private chats, in groups a message that is edited."""

import hashlib
from typing import Final

from adapters.telegram.client import RawBot
from adapters.telegram.send import chat_id, edit, run, send, text_body, topic
from gateway.message import Outbound, Receipt
from gateway.people import Audience
from gateway.ports import LiveView

MAX_DRAFT_ID: Final = 2**31 - 1


async def show(bot: RawBot, view: LiveView) -> str:
    """Show what is written. Raises a `DeliveryError`."""
    place = view.place
    if place.audience is Audience.DIRECT:
        draft = {"chat_id": chat_id(place), "draft_id": draft_id(view.key), **topic(place)}
        await run(bot, "sendMessageDraft", {**draft, **text_body(view.part)})
        return ""
    if view.handle:
        await edit(bot, place, view.handle, view.part)
        return view.handle
    first = Outbound(view.key, place, view.part, reply_to_id=view.reply_to_id)
    return (await send(bot, first)).message_id


async def end(bot: RawBot, outbound: Outbound) -> Receipt:
    """Turn the live message into the answer. Raises a `DeliveryError`."""
    await edit(bot, outbound.place, outbound.replaces, outbound.part, outbound.buttons)
    return Receipt(outbound.replaces)


def draft_id(key: str) -> int:
    """A number for the draft, never 0, the same for the same answer."""
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % MAX_DRAFT_ID + 1
