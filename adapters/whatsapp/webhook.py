"""Meta's requests: the handshake, and signed deliveries, stored before they are answered."""

import asyncio
import hashlib
import hmac
import json
from typing import Final

import structlog

from adapters.shared.receive_queue import ReceiveQueue
from adapters.shared.signatures import verify_whatsapp
from adapters.whatsapp.errors import OUTCOMES
from adapters.whatsapp.identity import ChangeEffect, Identities, under_key
from adapters.whatsapp.manifest import WhatsAppSettings
from adapters.whatsapp.messages import WhatsAppExtras
from adapters.whatsapp.parse import IdentityChange, ParsedPayload, ReceivedEvent, Status, read
from adapters.whatsapp.service_window import ServiceWindows, is_open
from db.errors import StoreUnavailable
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    MessageReceived,
)
from gateway.ports import AdapterContext, EventSink, WebhookRequest, WebhookResponse
from gateway.ports.adapter import packed, unpacked
from gateway.ports.identities import note_conflict

MAX_CHALLENGE: Final = 200
"""Characters of Meta's hub.challenge, which has about ten."""

log = structlog.get_logger(__name__)


class Webhook:
    """Answers one account's callback URL."""

    def __init__(
        self,
        settings: WhatsAppSettings,
        context: AdapterContext,
        identities: Identities,
        windows: ServiceWindows,
        sink: EventSink,
    ) -> None:
        self._settings = settings
        self._context = context
        self._identities = identities
        self._windows = windows
        self._sink = sink
        self._queue = ReceiveQueue("whatsapp", context, sink)

    async def __call__(self, request: WebhookRequest) -> WebhookResponse:
        """200 once everything is stored, 401 for a wrong signature, 503 when the store is
        unavailable: Meta then repeats the request."""
        if request.method == "GET":
            return self._handshake(request)
        signature = request.headers.get("x-hub-signature-256", "")
        secret = self._settings.app_secret.get_secret_value()
        if not verify_whatsapp(request.body, signature, secret):
            self._context.count("refused", "signature")
            return WebhookResponse(401)
        try:
            payload = json.loads(request.body)
        except (ValueError, RecursionError):
            self._context.count("refused", "json")
            return WebhookResponse(400)
        number, account = self._settings.phone_number_id, self._context.account
        delivery_id = hashlib.blake2b(request.body, digest_size=16).hexdigest()
        parsed = self._queue.parse(delivery_id, lambda: read(payload, number, account))
        try:
            if parsed is not None:
                await self._store(parsed)
        except StoreUnavailable:
            self._context.count("unstored")
            return WebhookResponse(503)
        return WebhookResponse(200)

    def _handshake(self, request: WebhookRequest) -> WebhookResponse:
        expected = self._settings.verify_token.get_secret_value().encode()
        given = request.query.get("hub.verify_token", "").encode("utf-8", "replace")
        challenge = request.query.get("hub.challenge", "")
        valid = (
            bool(expected)
            and request.query.get("hub.mode") == "subscribe"
            and hmac.compare_digest(given, expected)
        )
        if not valid or not 0 < len(challenge) <= MAX_CHALLENGE:
            self._context.count("refused", "handshake")
            return WebhookResponse(403)
        return WebhookResponse(200, challenge)

    async def _store(self, parsed: ParsedPayload) -> None:
        for kind in parsed.ignored:
            self._context.count("ignored", kind)
        for code in parsed.errors:
            self._context.count("platform_error", str(code))
            log.warning("platform_error", platform="whatsapp", code=code)
        for change in parsed.identity_changes:
            await self._change(change)
        # One by one, and none after a failure: a person's messages keep their order.
        for received in parsed.events:
            async with self._queue.turn(received.who.key):
                await self._store_event(received)
        for status in parsed.statuses:
            await self._note_status(status)

    async def _change(self, change: IdentityChange) -> None:
        """Apply a change of a person's ids; operators see one that would mix two people."""
        done = await self._identities.change(change)
        if done is ChangeEffect.UNCERTAIN:
            self._context.count("ignored", "unsure_move")
            log.warning("identity_change_ignored", platform="whatsapp")
        if done is not ChangeEffect.CONFLICT:
            return
        self._context.count("identity_conflict")
        await note_conflict(self._context.state, self._context.clock.now())
        log.warning(
            "identity_conflict",
            platform="whatsapp",
            account=self._context.account,
            before=[change.before.user_id, change.before.phone],
            after=[change.after.user_id, change.after.phone],
            hint="two people claim one number or id; nothing of them was joined",
        )

    async def _store_event(self, received: ReceivedEvent) -> None:
        key = await self._identities.key(received.who)
        storing = self._identities.store_ids(key, received.who)
        if isinstance(received.event, MessageReceived | CommandInvoked | ButtonPressed):
            # In the same transactions: while Meta waits for an answer, each one counts.
            known, _ = await asyncio.gather(storing, self._windows.open(key, received.at))
        else:
            known = await storing
        event = under_key(received.event, key, received.who, known)
        if not is_open(received.at, self._context.clock.now()):
            event = _outside_window(event)
        await self._sink(event)

    async def _note_status(self, status: Status) -> None:
        """Count a failure; note a closed window, a refused template, and the message that waits for
        its person then. Statuses are no events."""
        if status.status != "failed":
            return
        for code in status.codes or (0,):
            self._context.count("delivery_failed", str(code))
        log.warning(
            "not_delivered",
            platform="whatsapp",
            message=status.message_id,
            codes=list(status.codes),
        )
        outcomes = {OUTCOMES.get(code) for code in status.codes} & {"window", "template"}
        if not outcomes or not status.recipient.key:
            return
        key = await self._identities.known_key(status.recipient)
        if "window" in outcomes:
            await self._windows.close(key, status.at or self._context.clock.now())
        if "template" in outcomes:
            await self._windows.note_refused_template()
        async with self._queue.turn(f"refused {key}"):
            await self._windows.note_refused(key, status.message_id)


def _outside_window(event: InboundEvent) -> InboundEvent:
    """The same event, marked as too old for a free-form answer."""
    if isinstance(event, MessageReceived | CommandInvoked) and event.message is not None:
        extras = replace(unpacked(WhatsAppExtras, event.message.extras), window_open=False)
        return replace(event, message=replace(event.message, extras=packed(extras)))
    return event
