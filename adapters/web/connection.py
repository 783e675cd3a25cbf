"""`WebAdapter`: the web page as one connected account of one platform."""

import asyncio
import hashlib
from typing import Final

import structlog

from adapters.web.chats import Chats
from adapters.web.manifest import MANIFEST, MAX_BUTTONS, WebSettings, live_style
from adapters.web.page_state import (
    TYPING_SECONDS,
    FileLink,
    PageChat,
    PageMessage,
)
from adapters.web.parse import PLATFORM
from adapters.web.routes import BASE, build_routes
from db.errors import StoreUnavailable
from gateway.errors import (
    BadInput,
    Permanent,
    TenantUnknown,
    UsageError,
)
from gateway.immutable import replace
from gateway.message import (
    Attachment,
    Outbound,
    OutboundFile,
    Part,
    Place,
    Receipt,
)
from gateway.ports import AdapterContext, Capabilities, EventSink, LiveStyle, LiveView
from gateway.ports.http_routes import LocalRoute

MAX_PART: Final = 400_000
"""Characters of one rendered answer: longer than any renderer's split, a last bound."""

log = structlog.get_logger(__name__)


class WebAdapter:
    """One page, and the direct conversations of each browser that opens it."""

    def __init__(self, settings: WebSettings, context: AdapterContext) -> None:
        self.chats = Chats(settings, context)
        self._context = context
        self._closed = asyncio.Event()

    @property
    def platform(self) -> str:
        return PLATFORM

    @property
    def account(self) -> str:
        return self._context.account

    @property
    def capabilities(self) -> Capabilities:
        return MANIFEST.capabilities

    @property
    def page(self) -> str:
        """The path of the start page."""
        return f"{BASE}/"

    def routes(self) -> list[LocalRoute]:
        """The routes that the local listener serves."""
        return build_routes(self.chats)

    async def connect(self, sink: EventSink) -> None:
        """Start to accept messages."""
        self._closed.clear()
        self.chats.sink = sink

    async def wait_closed(self) -> None:
        """Return after `disconnect`."""
        await self._closed.wait()

    async def disconnect(self) -> None:
        """Stop accepting messages, and end every open stream."""
        self.chats.sink = None
        self._closed.set()
        for conversation in self.chats.conversations:
            conversation.is_typing(0.0)

    # --- called by the gateway -------------------------------------------------------------------

    async def send(self, outbound: Outbound) -> Receipt:
        """Show a part or a file on the page.

        The same key twice is one message. Raises a `DeliveryError`.
        """
        self.chats.require_sink()
        if outbound.part is None and outbound.file is None:
            raise Permanent("there is nothing to send: neither a part nor a file")
        if len(outbound.buttons) > MAX_BUTTONS:
            raise Permanent(f"the page shows at most {MAX_BUTTONS} buttons under a message")
        receipt = self._put(outbound, _line_id(outbound.key))
        await self._refresh(outbound.place)
        return receipt

    def live_style(self, place: Place) -> LiveStyle:
        """A frequent style: the page is on this machine or near it, and no platform limits the
        rate."""
        return live_style(place)

    async def show_live(self, view: LiveView) -> str:
        """Show the answer so far. Raises a `DeliveryError`."""
        self.chats.require_sink()
        line_id = view.handle or _line_id(view.key)
        if view.handle:
            self._answer(view.place, line_id)
        shown = Outbound(view.key, view.place, view.part, reply_to_id=view.reply_to_id)
        return self._put(shown, line_id, live=True).message_id

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Replace the live message by the answer. Raises a `DeliveryError`."""
        self.chats.require_sink()
        self._answer(outbound.place, outbound.replaces)
        receipt = self._put(outbound, outbound.replaces)
        await self._refresh(outbound.place)
        return receipt

    def _put(self, outbound: Outbound, line_id: str, *, live: bool = False) -> Receipt:
        now = self._context.clock.now()
        html, text = _markup(outbound.part)
        conversation = self._conversation(outbound.place)
        line = PageMessage(
            id=line_id,
            by="assistant",
            at=now,
            text=text,
            html=html,
            buttons=outbound.buttons,
            files=self._stored_file(outbound.place.channel_id, outbound.file),
            reply_to=outbound.reply_to_id or latest_command(conversation),
            live=live,
        )
        new = conversation.line(line_id) is None
        if outbound.supersedes:
            conversation.supersede(outbound.supersedes, outbound.reply_to_id)
        if outbound.reply_to_id and not live:
            conversation.end_repeats(outbound.reply_to_id)
        conversation.put(line)
        if new or not live:
            self.chats.wake_list(outbound.place.channel_id)
        return Receipt(line_id, now)

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Remove the buttons under an answer."""
        self.chats.require_sink()
        line = self._answer(outbound.place, outbound.clears)
        if line.buttons:
            self._conversation(outbound.place).put(replace(line, buttons=()))

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete an answer."""
        self.chats.require_sink()
        self._answer(place, message_id)
        self._conversation(place).remove(message_id)

    async def typing(self, place: Place, message_id: str) -> None:
        """Show "is writing" for a few seconds, or until the answer appears."""
        self.chats.require_sink()
        until = asyncio.get_running_loop().time() + TYPING_SECONDS
        self._conversation(place).is_typing(until)

    async def ended(self, place: Place, message_ids: tuple[str, ...]) -> None:
        """Wait no longer for messages that are answered, refused or dropped."""
        self._conversation(place).ended(message_ids)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return the bytes of an uploaded file."""
        owner, _, file_id = attachment.ref.partition("/")
        stored = self.chats.files.get(file_id, owner)
        if stored is None:
            raise Permanent(f"{attachment.name or 'the file'} is no longer stored")
        if len(stored.data) > limit:
            raise UsageError(f"{stored.name}: {len(stored.data)} bytes, at most {limit} are read")
        return stored.data

    # --- own ------------------------------------------------------------------------------------

    async def _refresh(self, place: Place) -> None:
        """Show what an answer has stored or deleted; the next load repeats it after a failure."""
        try:
            await self.chats.lines(place.channel_id, place.thread_id)
        except (StoreUnavailable, TenantUnknown) as problem:
            log.info("page_not_refreshed", error=type(problem).__name__)

    def _conversation(self, place: Place) -> PageChat:
        """Return the conversation, also for an answer that comes after a restart before the person
        opens the page."""
        if not place.channel_id.startswith("web-"):
            raise Permanent(f"{place.channel_id!r} is no conversation of this page")
        return self.chats.conversations.of(place.channel_id, place.thread_id)

    def _answer(self, place: Place, message_id: str) -> PageMessage:
        line = self._conversation(place).line(message_id)
        if line is None or line.by != "assistant" or line.deleted:
            raise Permanent("the message is no longer on the page")
        return line

    def _stored_file(self, owner: str, file: OutboundFile | None) -> tuple[FileLink, ...]:
        if file is None:
            return ()
        try:
            stored = self.chats.files.add(owner, file.name, file.mime, file.data)
        except BadInput as problem:
            raise Permanent(str(problem)) from problem
        return (FileLink(stored.id, stored.name, stored.mime, len(stored.data)),)


def latest_command(conversation: PageChat) -> str:
    """Return the id of the person's latest line, if that is a command: its answer has no
    `reply_to_id`."""
    questions = [line for line in conversation.lines() if line.by == "person"]
    return questions[-1].id if questions and questions[-1].command else ""


def _line_id(key: str) -> str:
    return "a-" + hashlib.sha256(key.encode()).hexdigest()[:24]


def _markup(part: Part | None) -> tuple[str, str]:
    """Return the safe HTML and the text of a part."""
    if part is None:
        return "", ""
    if not isinstance(part.payload, str):
        raise Permanent("the page takes HTML text, not blocks")
    if len(part.payload) > MAX_PART:
        raise Permanent(f"{len(part.payload)} characters of HTML; at most {MAX_PART}")
    return part.payload, part.text
