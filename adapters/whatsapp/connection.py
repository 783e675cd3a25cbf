"""One WhatsApp business number: receives over a webhook, sends over the Graph API."""

import asyncio
import re
from collections.abc import Awaitable
from datetime import UTC
from typing import Final, TypeVar

import structlog

from adapters.shared.connection import AccountAdapter
from adapters.shared.http import file_name
from adapters.whatsapp import doctor, send
from adapters.whatsapp.client import GraphClient, message_id_of
from adapters.whatsapp.errors import (
    CHECK_NETWORK,
    TOKEN_CODES,
    GraphRefused,
    delivery_error,
    start_error,
)
from adapters.whatsapp.identity import Identities
from adapters.whatsapp.manifest import MANIFEST, WhatsAppSettings
from adapters.whatsapp.send import Body
from adapters.whatsapp.service_window import MARGIN, ServiceWindows
from adapters.whatsapp.webhook import Webhook
from gateway.errors import (
    DeliveryError,
    StartError,
    TemplateRefused,
    Transient,
    UsageError,
    WindowClosed,
)
from gateway.message import Attachment, Outbound, Place, Receipt
from gateway.ports import AdapterContext, Check, EventSink, PlatformReach

log = structlog.get_logger(__name__)
_MEDIA_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,128}")
_T = TypeVar("_T")


class WhatsAppAdapter(AccountAdapter[WhatsAppSettings]):
    """One business number. The account "main" listens at /webhook/whatsapp."""

    manifest = MANIFEST
    _connected = False

    def __init__(self, settings: WhatsAppSettings, context: AdapterContext) -> None:
        super().__init__(settings, context)
        self._graph = GraphClient(settings)
        self._identities = Identities(context.state)
        self._windows = ServiceWindows(context.state, context.clock)

    async def _open(self, sink: EventSink) -> None:
        try:
            await self._graph.number()
        except GraphRefused as error:
            raise start_error(error.failure) from error
        except DeliveryError as error:
            raise StartError(error.said, CHECK_NETWORK) from error
        webhook = Webhook(self._settings, self._context, self._identities, self._windows, sink)
        self._context.webhooks.add(self.webhook_path, webhook, proof="X-Hub-Signature-256")
        self._connected = True

    async def _close(self) -> None:
        if self._connected:
            self._context.webhooks.remove(self.webhook_path)
            self._connected = False
        await self._graph.close()

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file, once. Raises a `DeliveryError`.

        Outside the 24-hour window a text is sent as the configured template. Everything else, and
        everything without a template, raises `WindowClosed`. Where the window is unknown, Meta
        decides about an answer to a message.
        """
        self._require_connection()
        key = outbound.place.channel_id
        address, is_open = await asyncio.gather(  # in one transaction
            self._identities.address(key), self._windows.is_open_for(key)
        )
        now = self._context.clock.now().astimezone(UTC)
        head = send.message_to(address, outbound.reply_to_id)
        unknown = is_open is None and bool(outbound.reply_to_id)
        try:
            if not (is_open or unknown):
                return await self._send_template(head, outbound)
            body = await self._free_form(outbound)
            answer = await self._checked(self._graph.post_message({**head, **body}))
        except WindowClosed:
            await self._windows.close(key, now)
            if not unknown:
                raise
            return await self._send_template(head, outbound)
        return Receipt(message_id_of(answer), self._context.clock.now().astimezone(UTC))

    async def _send_template(self, head: Body, outbound: Outbound) -> Receipt:
        """Send a text as the configured template. Raises a `DeliveryError`."""
        now = self._context.clock.now().astimezone(UTC)
        template, name = self._settings.template, self._context.assistant_name
        body = send.as_template(outbound, template, name, now)
        try:
            answer = await self._checked(self._graph.post_message({**head, **body}))
        except TemplateRefused as error:
            await self._windows.note_refused_template()
            self._context.count("template_refused")
            log.error("template_refused", account=self._context.account, error=str(error))
            raise
        return Receipt(message_id_of(answer), self._context.clock.now().astimezone(UTC))

    async def reach(self, place: Place) -> PlatformReach:
        """Anything within 24 hours of the person's message, less a margin; otherwise the template,
        unless Meta refused it in the last hour. An unknown window counts as closed: Meta would take
        the message and report later that it does not deliver it."""
        refused = await self._windows.refused(place.channel_id)
        if await self._windows.is_open_for(place.channel_id, MARGIN):
            return PlatformReach("open", refused=refused)
        template = self._settings.template
        if template is None or await self._windows.template_refused():
            return PlatformReach("closed", refused=refused)
        return PlatformReach("template", template.max_chars, refused)

    async def _free_form(self, outbound: Outbound) -> Body:
        file = outbound.file
        if file is None:
            if not outbound.buttons:
                return send.free_form(outbound)
            reader = outbound.place.channel_id
            language = await self._context.language_of(outbound.place, reader, "")
            return send.free_form(outbound, language)
        kind, mime = send.upload_type(file)
        upload = self._graph.upload(file_name(file.name), mime, file.data)
        media_id = await self._checked(upload, repeatable=True)
        caption = send.text_body(outbound.part) if outbound.part is not None else ""
        voice = file.voice is not None
        return send.media_message(kind, media_id, file.name, caption, voice=voice)

    async def typing(self, place: Place, message_id: str) -> None:
        """Show the typing indicator for up to 25 seconds; the same request marks the message as
        read. Raises a `DeliveryError`."""
        await self._mark_read(message_id, {"typing_indicator": {"type": "text"}})

    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show two blue ticks. Raises a `DeliveryError`."""
        await self._mark_read(message_id, {})

    async def _mark_read(self, message_id: str, extra: Body) -> None:
        self._require_connection()
        if message_id:
            body = {"messaging_product": "whatsapp", "status": "read", "message_id": message_id}
            await self._checked(self._graph.post_message({**body, **extra}))

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction. Raises a `DeliveryError`."""
        self._require_connection()
        address = await self._identities.address(place.channel_id)
        reaction = {"type": "reaction", "reaction": {"message_id": message_id, "emoji": emoji}}
        await self._checked(self._graph.post_message({**send.message_to(address), **reaction}))

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Remove the bot's reaction; a business has at most one on a message. Raises a
        `DeliveryError`."""
        await self.react(place, message_id, "")

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of a received file, at most `limit`. Raises `BadInput` and `DeliveryError`."""
        self._require_connection()
        if not _MEDIA_ID.fullmatch(attachment.ref):
            raise UsageError("WhatsApp: this is not a media id")
        return await self._checked(self._graph.download(attachment.ref, limit), repeatable=True)

    async def diagnose(self) -> list[Check]:
        """The checks of `parley doctor`. Never raises."""
        graph = GraphClient(self._settings)
        try:
            return await doctor.diagnose(self._settings, graph)
        finally:
            await graph.close()

    def _require_connection(self) -> None:
        if not self._connected:
            raise Transient("WhatsApp is not connected")

    async def _checked(self, request: Awaitable[_T], *, repeatable: bool = False) -> _T:
        """The answer to a request, with a refusal as a typed error. A refused token ends the
        connection. `repeatable`: a second request does no harm."""
        try:
            return await request
        except GraphRefused as error:
            if error.failure.code in TOKEN_CODES:
                self._end(start_error(error.failure))
            raise delivery_error(error.failure, repeatable=repeatable) from error
