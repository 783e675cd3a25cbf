"""`WebAdapter`: the local page as one connected account of one platform."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from adapters.web.actions import named_files, pressed_label, quote_of, show
from adapters.web.manifest import MANIFEST, MAX_BUTTONS, WebSettings, live_style
from adapters.web.page_state import (
    TYPING_SECONDS,
    Conversation,
    Conversations,
    FileLink,
    FileStore,
    PageMessage,
)
from adapters.web.parse import PLATFORM, Envelope, parse
from adapters.web.routes import BASE, build_routes
from gateway.errors import BadInput, Permanent, Transient
from gateway.message import Attachment, Outbound, OutboundFile, Part, Place, Receipt
from gateway.ports import AdapterContext, Capabilities, EventSink, LiveStyle, LiveView
from gateway.ports.http_routes import LocalRoute

MAX_PART: Final = 400_000
"""Characters of one rendered answer: longer than any renderer's split, a last bound."""

STREAMS_PER_PERSON: Final = 4
MAX_STREAMS: Final = 128
"""The limit for all people: half of the connections of the local listener."""


class WebAdapter:
    """One page, one direct conversation for each browser that opens it."""

    def __init__(self, settings: WebSettings, context: AdapterContext) -> None:
        self.settings = settings
        started_ms = int(context.clock.now().timestamp() * 1000)
        self.conversations = Conversations(settings.max_people, settings.history, started_ms)
        self.files = FileStore(settings.max_files_bytes)
        self._context = context
        self._sink: EventSink | None = None
        self._closed = asyncio.Event()
        self._streams = 0

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
    def assistant_name(self) -> str:
        """The assistant's name on the page."""
        return self._context.assistant_name

    @property
    def connected(self) -> bool:
        """True between `connect` and `disconnect`."""
        return self._sink is not None

    @property
    def page(self) -> str:
        """The path of the start page."""
        return f"{BASE}/"

    def routes(self) -> list[LocalRoute]:
        """The routes that the local listener serves."""
        return build_routes(self)

    async def connect(self, sink: EventSink) -> None:
        """Start to accept messages."""
        self._closed.clear()
        self._sink = sink

    async def wait_closed(self) -> None:
        """Return after `disconnect`."""
        await self._closed.wait()

    async def disconnect(self) -> None:
        """Stop accepting messages, and end every open stream."""
        self._sink = None
        self._closed.set()
        for conversation in self.conversations:
            conversation.is_typing(0.0)

    # --- called by the gateway -------------------------------------------------------------------

    async def send(self, outbound: Outbound) -> Receipt:
        """Show a part or a file on the page.

        The same key twice is one message. Raises a `DeliveryError`.
        """
        self._require_sink()
        if outbound.part is None and outbound.file is None:
            raise Permanent("there is nothing to send: neither a part nor a file")
        if len(outbound.buttons) > MAX_BUTTONS:
            raise Permanent(f"the page shows at most {MAX_BUTTONS} buttons under a message")
        return self._put(outbound, _line_id(outbound.key))

    def live_style(self, place: Place) -> LiveStyle:
        """A frequent style: the page is on this machine or near it, and no platform limits the
        rate."""
        return live_style(place)

    async def show_live(self, view: LiveView) -> str:
        """Show the answer so far. Raises a `DeliveryError`."""
        self._require_sink()
        line_id = view.handle or _line_id(view.key)
        if view.handle:
            self._answer(view.place, line_id)
        shown = Outbound(view.key, view.place, view.part, reply_to_id=view.reply_to_id)
        return self._put(shown, line_id).message_id

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Replace the live message by the answer. Raises a `DeliveryError`."""
        self._require_sink()
        self._answer(outbound.place, outbound.replaces)
        return self._put(outbound, outbound.replaces)

    def _put(self, outbound: Outbound, line_id: str) -> Receipt:
        now = self._context.clock.now()
        html, text = _markup(outbound.part)
        line = PageMessage(
            id=line_id,
            by="assistant",
            at=now,
            text=text,
            html=html,
            buttons=outbound.buttons,
            files=self._stored_file(outbound.place.channel_id, outbound.file),
            reply_to=outbound.reply_to_id,
        )
        self._conversation(outbound.place).put(line)
        return Receipt(line_id, now)

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Remove the buttons under an answer."""
        self._require_sink()
        line = self._answer(outbound.place, outbound.clears)
        if line.buttons:
            self._conversation(outbound.place).put(replace(line, buttons=()))

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete an answer."""
        self._require_sink()
        self._answer(place, message_id)
        self._conversation(place).remove(message_id)

    async def typing(self, place: Place, message_id: str) -> None:
        """Show "is writing" for a few seconds, or until the answer appears."""
        self._require_sink()
        until = asyncio.get_running_loop().time() + TYPING_SECONDS
        self._conversation(place).is_typing(until)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return the bytes of an uploaded file."""
        owner, _, file_id = attachment.ref.partition("/")
        stored = self.files.get(file_id, owner)
        if stored is None:
            raise Permanent(f"{attachment.name or 'the file'} is no longer kept")
        if len(stored.data) > limit:
            raise BadInput(f"{stored.name}: {len(stored.data)} bytes, at most {limit} are read")
        return stored.data

    # --- called by the page ----------------------------------------------------------------------

    async def act(self, person: str, payload: Mapping[str, object]) -> None:
        """Handle an action of the page: show it at once, pass it on, and undo it after a failure.

        Raises `BadInput` for an invalid object, `Transient` while not connected, and the errors of
        the gateway's sink.
        """
        sink = self._require_sink()
        conversation = self.conversations.of(person)
        known: dict[str, object] = {"files": named_files(self.files, person, payload.get("files"))}
        if payload.get("type") == "button":
            known["label"] = pressed_label(conversation, payload)
        envelope = Envelope(self.account, person, self._context.clock.now())
        quoted = quote_of(conversation, payload.get("reply_to"), person)
        events = parse({**payload, **known}, envelope, quoted)
        if not events:
            raise BadInput("not a message, edit, deletion or button that can be used")
        for event in events:
            take_back = show(conversation, event)
            try:
                await sink(event)
            except Exception:
                take_back()
                raise

    @contextmanager
    def watching(self, person: str) -> Iterator[Conversation]:
        """Yield the person's conversation, which stays in memory while a page is open.

        Raises `Transient` if too many pages are open.
        """
        conversation = self.conversations.of(person)
        if self._streams >= MAX_STREAMS or conversation.watchers >= STREAMS_PER_PERSON:
            raise Transient("too many open pages; close one and try again")
        self._streams += 1
        conversation.watchers += 1
        try:
            yield conversation
        finally:
            self._streams -= 1
            conversation.watchers -= 1

    # --- own ------------------------------------------------------------------------------------

    def _require_sink(self) -> EventSink:
        if self._sink is None:
            raise Transient("the web page is not connected")
        return self._sink

    def _conversation(self, place: Place) -> Conversation:
        """Return the conversation, also for an answer that comes after a restart before the person
        opens the page."""
        if not place.channel_id.startswith("web-"):
            raise Permanent(f"{place.channel_id!r} is no conversation of this page")
        return self.conversations.of(place.channel_id)

    def _answer(self, place: Place, message_id: str) -> PageMessage:
        line = self._conversation(place).line(message_id)
        if line is None or line.by != "assistant" or line.deleted:
            raise Permanent("the message is no longer on the page")
        return line

    def _stored_file(self, owner: str, file: OutboundFile | None) -> tuple[FileLink, ...]:
        if file is None:
            return ()
        try:
            stored = self.files.add(owner, file.name, file.mime, file.data)
        except BadInput as problem:
            raise Permanent(str(problem)) from problem
        return (FileLink(stored.id, stored.name, stored.mime, len(stored.data)),)


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
