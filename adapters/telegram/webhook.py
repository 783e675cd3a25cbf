"""Updates by webhook: checked, stored, and only then answered."""

import json
from collections.abc import Mapping
from typing import Final

import structlog

from adapters.shared.signatures import verify_telegram
from adapters.telegram.albums import album_of, merged
from adapters.telegram.json_readers import mapping
from adapters.telegram.pending_updates import PendingUpdates
from adapters.telegram.polling import ordering_key
from adapters.telegram.receive import Receiver
from gateway.errors import StoreUnavailable
from gateway.message import CommandInvoked, InboundEvent, MessageReceived
from gateway.people import Audience
from gateway.ports import AdapterState, Clock, WebhookRequest, WebhookResponse

log = structlog.get_logger(__name__)

PATH: Final = "/webhook/telegram"
SECRET_HEADER: Final = "x-telegram-bot-api-secret-token"  # noqa: S105 - the header's name
MAX_BODY: Final = 4 * 1024 * 1024


def path_for(account: str) -> str:
    """The path of an account: the main one has the short path."""
    return PATH if account == "main" else f"{PATH}/{account}"


class WebhookReceiver:
    """Takes Telegram's requests for one account."""

    def __init__(self, intake: Receiver, secret: str, state: AdapterState, clock: Clock) -> None:
        self._intake = intake
        self._secret = secret
        self.pending_updates = PendingUpdates(state, clock, intake.account, self._store_album)

    async def handle(self, request: WebhookRequest) -> WebhookResponse:
        """200 when stored, 401 without our secret, 503 when the store did not take it."""
        if not verify_telegram(request.headers.get(SECRET_HEADER, ""), self._secret):
            return WebhookResponse(401, "wrong secret token")
        if request.method != "POST":
            return WebhookResponse(405, "Telegram posts its updates")
        if len(request.body) > MAX_BODY:
            return WebhookResponse(413, "larger than any update")
        try:
            decoded = json.loads(request.body)
        except (ValueError, RecursionError):
            return WebhookResponse(400, "not JSON")
        try:
            await self._take(mapping(decoded))
        except StoreUnavailable:
            return WebhookResponse(503, "not stored; send it again")
        except Exception:
            log.exception("update_not_handled", platform="telegram")
            return WebhookResponse(503, "not handled; send it again")
        return WebhookResponse(200)

    async def _take(self, update: Mapping[str, object]) -> None:
        events = self._intake.read(update)
        album, lane = album_of(update), ordering_key(update)
        if album and (
            self.pending_updates.holds(album) or any(_is_addressed(one) for one in events)
        ):
            if await self.pending_updates.put(album, lane, update):
                return
        else:
            await self.pending_updates.flush_chat(lane)
        await self._intake.store(events)

    async def _store_album(self, updates: list[Mapping[str, object]]) -> None:
        events = [event for update in updates for event in self._intake.read(update)]
        await self._intake.store(merged(events))


def _is_addressed(event: InboundEvent) -> bool:
    """True when the message is surely for the bot; other albums are not stored, thus not merged."""
    if isinstance(event, CommandInvoked):
        return True
    if not isinstance(event, MessageReceived):
        return False
    message = event.message
    quoted = message.quote is not None and message.quote.by_this_bot
    return message.place.audience is Audience.DIRECT or message.mentions_bot or quoted
