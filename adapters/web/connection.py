"""`WebAdapter`: the web page as one connected account of one platform."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import structlog

from adapters.web.actions import (
    asked_again,
    line_of,
    named_files,
    pressed_label,
    quote_of,
    repeated,
    show,
)
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
from adapters.web.stored_lines import ListedChat, StoredLines, unstored
from db.errors import StoreUnavailable
from gateway.errors import BadInput, Permanent, TenantUnknown, Transient
from gateway.immutable import replace
from gateway.message import (
    Attachment,
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
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

STREAMS_PER_PERSON: Final = 4
MAX_STREAMS: Final = 128
"""The limit for all people: half of the connections of the local listener."""
UNSTORED_SECONDS: Final = 600.0
"""Seconds after the last page of a conversation was closed, after which its lines that are not
stored are removed."""
REPEAT_SECONDS: Final = 120.0
"""The longest time for which a question that is being answered again cannot be asked once more."""
SETTLE_SECONDS: Final = 5.0
"""Seconds within which the gateway has applied an edit or a deletion to the stored conversation."""


STOP: Final = "stop"

log = structlog.get_logger(__name__)


class WebAdapter:
    """One page, and the direct conversations of each browser that opens it."""

    def __init__(self, settings: WebSettings, context: AdapterContext) -> None:
        self.settings = settings
        started_ms = int(context.clock.now().timestamp() * 1000)
        self.conversations = Conversations(settings.max_people, settings.history, started_ms)
        self.files = FileStore(settings.max_files_bytes)
        self._stored = StoredLines(
            context.own_conversations,
            context.account,
            self.conversations,
            self.files,
            settings.history,
        )
        self._deleting = frozenset(spec.name for spec in context.commands if spec.deletes)
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
        receipt = self._put(outbound, _line_id(outbound.key))
        await self._refresh(outbound.place)
        return receipt

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
        return self._put(shown, line_id, live=True).message_id

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Replace the live message by the answer. Raises a `DeliveryError`."""
        self._require_sink()
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
            self._wake_list(outbound.place.channel_id)
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
            raise Permanent(f"{attachment.name or 'the file'} is no longer stored")
        if len(stored.data) > limit:
            raise BadInput(f"{stored.name}: {len(stored.data)} bytes, at most {limit} are read")
        return stored.data

    # --- called by the page ----------------------------------------------------------------------

    async def act(self, person: str, payload: Mapping[str, object], chat: str = "") -> None:
        """Handle an action of the page: show it at once, pass it on, and undo it after a failure.

        Raises `BadInput` for an invalid object, `Transient` while not connected, and the errors of
        the gateway's sink.
        """
        self._require_sink()
        conversation = self.conversations.of(person, chat)
        if payload.get("type") == "regenerate":
            await self._ask_again(conversation, person, payload, chat)
            return
        for event in self._events(conversation, person, payload, chat):
            await self._pass_on(conversation, event)
            if isinstance(event, MessageEdited | MessageDeleted):
                self._settle(conversation)
            elif isinstance(event, CommandInvoked) and event.name == STOP:
                conversation.end_repeats()
            elif isinstance(event, CommandInvoked) and event.name in self._deleting:
                self._stored.drop_unstored(person, keep=event.event_id)
        self._wake_list(person)

    def _events(
        self, conversation: Conversation, person: str, payload: Mapping[str, object], chat: str
    ) -> list[InboundEvent]:
        known: dict[str, object] = {"files": named_files(self.files, person, payload.get("files"))}
        if payload.get("type") == "button":
            known["label"] = pressed_label(conversation, payload)
        envelope = Envelope(self.account, person, self._context.clock.now(), chat)
        quoted = quote_of(conversation, payload.get("reply_to"), person)
        events = parse({**payload, **known}, envelope, quoted)
        if not events:
            raise BadInput("this is no valid message, edit, deletion or button press")
        return events

    async def _pass_on(self, conversation: Conversation, event: InboundEvent) -> None:
        take_back = show(conversation, event)
        try:
            await self._require_sink()(event)
        except Exception:
            take_back()
            raise

    async def _ask_again(
        self, conversation: Conversation, person: str, payload: Mapping[str, object], chat: str
    ) -> None:
        """Ask the latest question again. It stays on the page with its answer until the new answer
        is there (`Outbound.supersedes`), and for good if there is none."""
        question, again = asked_again(conversation, payload)
        now = asyncio.get_running_loop().time()
        if conversation.is_repeated(question.id, now):
            raise BadInput("this message is being answered again")
        for event in self._events(conversation, person, again, chat):
            repeat = repeated(event, question)
            conversation.repeat(question, line_of(repeat.message), now + REPEAT_SECONDS)
            try:
                await self._require_sink()(repeat)
            except Exception:
                conversation.end_repeats(repeat.message.id)
                raise

    async def lines(self, person: str, chat: str) -> Conversation:
        """Return a conversation with all its lines, those of earlier runs of the program included.

        Raises `StoreUnavailable` and `TenantUnknown`.
        """
        conversation = self.conversations.of(person, chat)
        await self._stored.sync(conversation, person, chat)
        return conversation

    async def listed(self, person: str) -> list[ListedChat]:
        """Return the person's conversations, newest first. Raises `StoreUnavailable` and
        `TenantUnknown`."""
        return await self._stored.listed(person)

    @contextmanager
    def watching(self, person: str, chat: str = "") -> Iterator[Conversation]:
        """Yield the person's conversation, which stays in memory while a page is open.

        Raises `Transient` if too many pages are open.
        """
        conversation = self.conversations.of(person, chat)
        if self._streams >= MAX_STREAMS or conversation.watchers >= STREAMS_PER_PERSON:
            raise Transient("too many open pages; close one and try again")
        self._streams += 1
        conversation.watchers += 1
        try:
            yield conversation
        finally:
            self._streams -= 1
            conversation.watchers -= 1
            seen = conversation.version
            loop = asyncio.get_running_loop()
            loop.call_later(UNSTORED_SECONDS, self._leave, conversation, seen)

    def _leave(self, conversation: Conversation, seen: int) -> None:
        """Remove the lines that are not stored, if no page showed the conversation meanwhile."""
        if self._context.own_conversations is None or conversation.watchers:
            return
        known = {line.id for line in conversation.lines() if line.version <= seen}
        self._stored.drop(conversation, [one for one in unstored(conversation) if one in known])

    # --- own ------------------------------------------------------------------------------------

    def _settle(self, conversation: Conversation) -> None:
        """Let open pages look at the stored conversation until a change is applied to it."""
        conversation.settle(asyncio.get_running_loop().time() + SETTLE_SECONDS)

    def _wake_list(self, person: str) -> None:
        for conversation in self.conversations.of_person(person).values():
            conversation.list_changed()

    async def _refresh(self, place: Place) -> None:
        """Show what an answer has stored or deleted; the next load repeats it after a failure."""
        try:
            await self.lines(place.channel_id, place.thread_id)
        except (StoreUnavailable, TenantUnknown) as problem:
            log.info("page_not_refreshed", error=type(problem).__name__)

    def _require_sink(self) -> EventSink:
        if self._sink is None:
            raise Transient("the web page is not connected")
        return self._sink

    def _conversation(self, place: Place) -> Conversation:
        """Return the conversation, also for an answer that comes after a restart before the person
        opens the page."""
        if not place.channel_id.startswith("web-"):
            raise Permanent(f"{place.channel_id!r} is no conversation of this page")
        return self.conversations.of(place.channel_id, place.thread_id)

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


def latest_command(conversation: Conversation) -> str:
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
