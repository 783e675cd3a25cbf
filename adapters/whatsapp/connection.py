"""One WhatsApp business number as a platform adapter."""

import asyncio
import re
from collections.abc import Awaitable
from datetime import UTC
from typing import Final, TypeVar

from adapters.whatsapp import compose, doctor
from adapters.whatsapp.client import GraphClient, GraphRefused, message_id_of, refusal
from adapters.whatsapp.errors import TOKEN_CODES, WINDOW_CODE, WRONG_ID_SUBCODE, outcome_of
from adapters.whatsapp.identity import Identities
from adapters.whatsapp.manifest import MANIFEST, WhatsAppSettings
from adapters.whatsapp.parse import PLATFORM
from adapters.whatsapp.service_window import ServiceWindows
from adapters.whatsapp.webhook import Webhook
from gateway.errors import (
    BadInput,
    DeliveryError,
    Permanent,
    StartError,
    Transient,
    WindowClosed,
)
from gateway.message import Attachment, Outbound, OutboundFile, Place, Receipt
from gateway.ports import AdapterContext, Capabilities, Check, EventSink

PATH: Final = "/webhook/whatsapp"

_MEDIA_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,128}")
_T = TypeVar("_T")


class WhatsAppAdapter:
    """Receives over a webhook at `path`, sends over the Graph API.

    The account "main" listens at /webhook/whatsapp, any other at /webhook/whatsapp/<account>.
    Implements PlatformAdapter, CanType, CanMarkRead, CanReact, CanFetchFiles and CanDiagnose.
    """

    def __init__(self, settings: WhatsAppSettings, context: AdapterContext) -> None:
        self._settings = settings
        self._context = context
        self._graph = GraphClient(settings)
        self._identities = Identities(context.state)
        self._windows = ServiceWindows(context.state, context.clock)
        self._connected = False
        self._closed = asyncio.Event()
        self._death: StartError | None = None

    @property
    def platform(self) -> str:
        """Always "whatsapp"."""
        return PLATFORM

    @property
    def account(self) -> str:
        """The account's name in the configuration."""
        return self._context.account

    @property
    def capabilities(self) -> Capabilities:
        """What the manifest declares."""
        return MANIFEST.capabilities

    @property
    def path(self) -> str:
        """The path to enter at Meta, behind the public address."""
        return PATH if self.account == "main" else f"{PATH}/{self.account}"

    # --- life -----------------------------------------------------------------------------------

    async def connect(self, sink: EventSink) -> None:
        """Check token and number at Meta, then serve the webhook. Raises `StartError`."""
        if self._connected:
            return
        if absent := self._settings.absent():
            names = ", ".join(f"platforms.whatsapp.{name}" for name in absent)
            raise StartError(
                f"WhatsApp: {names} missing.",
                "See docs/platforms/whatsapp.md for where Meta shows each.",
                permanent=True,
            )
        try:
            await self._graph.number()
        except GraphRefused as error:
            await self._graph.close()
            raise _start_error(error) from error
        except DeliveryError as error:
            await self._graph.close()
            raise StartError(f"{error}.", "Check the network and base_url.") from error
        webhook = Webhook(self._settings, self._context, self._identities, self._windows, sink)
        self._context.webhooks.add(self.path, webhook, proof="X-Hub-Signature-256")
        self._closed.clear()
        self._death = None
        self._connected = True

    async def wait_closed(self) -> None:
        """Return after `disconnect`; raise `StartError` when Meta no longer takes the token."""
        await self._closed.wait()
        if self._death is not None:
            raise self._death

    async def disconnect(self) -> None:
        """Stop serving the webhook, close every connection."""
        if self._connected:
            self._context.webhooks.remove(self.path)
            self._connected = False
        await self._graph.close()
        self._closed.set()

    # --- sending --------------------------------------------------------------------------------

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file, once. Raises a `DeliveryError`.

        Outside the 24-hour window a text goes out as the configured template; anything else, and
        everything without a template, raises `WindowClosed`.
        """
        self._require_connection()
        key = outbound.place.channel_id
        address = await self._identities.address(key)
        if await self._windows.open_for(key):
            body = await self._free_form(outbound)
        else:
            body = self._as_template(outbound)
        head = compose.message_to(address, outbound.reply_to_id)
        try:
            answer = await self._asked(self._graph.post_message({**head, **body}))
        except WindowClosed:
            await self._windows.refused(key, self._context.clock.now())
            raise
        return Receipt(message_id_of(answer), self._context.clock.now().astimezone(UTC))

    async def _free_form(self, outbound: Outbound) -> compose.Body:
        text = compose.text_body(outbound.part) if outbound.part is not None else ""
        if outbound.file is not None:
            return await self._file(outbound.file, text)
        if outbound.buttons:
            return compose.choice_message(text, outbound.buttons)
        if not text.strip():
            raise Permanent("WhatsApp: there is nothing to send")
        return compose.text_message(text)

    async def _file(self, file: OutboundFile, caption: str) -> compose.Body:
        kind, mime = compose.upload_type(file)
        media_id = await self._asked(self._graph.upload(file.name or "file", mime, file.data))
        return compose.media_message(kind, media_id, file.name, caption)

    def _as_template(self, outbound: Outbound) -> compose.Body:
        template = self._settings.template
        if template is None or outbound.part is None or outbound.file or outbound.buttons:
            raise WindowClosed(
                "WhatsApp: more than 24 hours since the person wrote; only a template with a text "
                "may be sent (platforms.whatsapp.template)"
            )
        text, now = compose.text_body(outbound.part), self._context.clock.now().astimezone(UTC)
        return compose.template_message(text, template, self._context.assistant_name, now)

    # --- optional abilities ---------------------------------------------------------------------

    async def typing(self, place: Place, message_id: str) -> None:
        """Show typing for up to 25 seconds; WhatsApp marks the message read in the same call."""
        await self._mark(message_id, {"typing_indicator": {"type": "text"}})

    async def mark_read(self, place: Place, message_id: str) -> None:
        """Show two blue ticks."""
        await self._mark(message_id, {})

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction. Raises a `DeliveryError`."""
        await self._reaction(place, message_id, emoji)

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Take our reaction back; a business has one under a message at most. Raises a
        `DeliveryError`."""
        await self._reaction(place, message_id, "")

    async def _reaction(self, place: Place, message_id: str, emoji: str) -> None:
        self._require_connection()
        address = await self._identities.address(place.channel_id)
        reaction = {"type": "reaction", "reaction": {"message_id": message_id, "emoji": emoji}}
        await self._asked(self._graph.post_message({**compose.message_to(address), **reaction}))

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of a file a person sent, at most `limit`. Raises `BadInput`, a
        `DeliveryError`.
        """
        self._require_connection()
        if not _MEDIA_ID.fullmatch(attachment.ref):
            raise BadInput("WhatsApp: this is not a media id")
        return await self._asked(self._graph.download(attachment.ref, limit))

    async def diagnose(self) -> list[Check]:
        """Ask Meta whether the credentials are right. Never raises."""
        graph = GraphClient(self._settings)
        try:
            return await doctor.diagnose(self._settings, graph)
        finally:
            await graph.close()

    def _require_connection(self) -> None:
        if not self._connected:
            raise Transient("WhatsApp is not connected")

    async def _mark(self, message_id: str, more: compose.Body) -> None:
        self._require_connection()
        if message_id:
            body = {"messaging_product": "whatsapp", "status": "read", "message_id": message_id}
            await self._asked(self._graph.post_message({**body, **more}))

    async def _asked(self, request: Awaitable[_T]) -> _T:
        """The answer to a request, refusals as typed errors; a dead token ends the connection."""
        try:
            return await request
        except GraphRefused as error:
            if error.failure.code in TOKEN_CODES:
                self._death = _start_error(error)
                self._closed.set()
            raise refusal(error) from error


def _start_error(error: GraphRefused) -> StartError:
    failure = error.failure
    if failure.code in TOKEN_CODES:
        return StartError(f"{failure}.", doctor.HOW_TO_AUTHENTICATE, permanent=True)
    if failure.code == 100 and failure.subcode == WRONG_ID_SUBCODE:
        problem = "WhatsApp: platforms.whatsapp.phone_number_id names no phone number."
        return StartError(problem, doctor.WHICH_ID, permanent=True)
    permanent = outcome_of(failure) == "permanent" and failure.code != WINDOW_CODE
    return StartError(f"{failure}.", "Run `parley doctor` for details.", permanent=permanent)
