"""Updates by webhook: verified, stored, and only then acknowledged."""

import json
from typing import Final

import structlog

from adapters.shared.json_readers import JsonObject, as_mapping
from adapters.shared.signatures import verify_telegram
from adapters.telegram.pending_updates import PendingUpdates
from adapters.telegram.receive import Receiver, album_of, ordering_key
from db.errors import StoreUnavailable
from gateway.message import CommandInvoked, InboundEvent, MessageReceived
from gateway.people import Audience
from gateway.ports import AdapterContext, WebhookRequest, WebhookResponse

log = structlog.get_logger(__name__)

SECRET_HEADER: Final = "x-telegram-bot-api-secret-token"  # noqa: S105 - the header's name
MAX_BODY: Final = 4 * 1024 * 1024


class WebhookReceiver:
    """Handles Telegram's requests for one account."""

    def __init__(self, receiver: Receiver, secret: str, context: AdapterContext) -> None:
        self._receiver = receiver
        self._secret = secret
        self.pending = PendingUpdates(context, receiver.store_album)

    async def handle(self, request: WebhookRequest) -> WebhookResponse:
        """200 when stored, 401 without the secret, 503 when not stored: Telegram then repeats."""
        if not verify_telegram(request.headers.get(SECRET_HEADER, ""), self._secret):
            return WebhookResponse(401, "wrong secret token")
        if request.method != "POST":
            return WebhookResponse(405, "updates are sent with POST")
        if len(request.body) > MAX_BODY:
            return WebhookResponse(413, "too large for an update")
        try:
            update = as_mapping(json.loads(request.body))
        except (ValueError, RecursionError):
            return WebhookResponse(400, "not JSON")
        try:
            await self._store(update)
        except StoreUnavailable:
            return WebhookResponse(503, "not stored; send it again")
        except Exception:
            log.exception("update_not_handled", platform="telegram")
            return WebhookResponse(503, "not handled; send it again")
        return WebhookResponse(200)

    async def _store(self, update: JsonObject) -> None:
        events = self._receiver.read(update)
        album, chat = album_of(update), ordering_key(update)
        if album and (self.pending.holds(album) or any(map(_is_addressed, events))):
            if await self.pending.put(album, chat, update):
                return
        else:
            await self.pending.flush_chat(chat)
        await self._receiver.store(events)


def _is_addressed(event: InboundEvent) -> bool:
    """True when the message is certainly for the bot. Parts of other albums may not be stored, so
    they stay single messages."""
    if isinstance(event, CommandInvoked):
        return True
    if not isinstance(event, MessageReceived):
        return False
    message = event.message
    quoted = message.quote is not None and message.quote.by_this_bot
    return message.place.audience is Audience.DIRECT or message.mentions_bot or quoted
