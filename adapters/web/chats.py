"""Actions of people on the page: each is shown at once and passed on to the gateway."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from adapters.web.manifest import WebSettings
from adapters.web.page_state import FileLink, FileStore, PageChat, PageChats, PageMessage
from adapters.web.parse import MAX_FILES, Envelope, parse, place_for
from adapters.web.stored_lines import ListedChat, StoredLines, unstored
from gateway.errors import BadInput, Transient
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Quote,
)
from gateway.ports import AdapterContext, EventSink
from gateway.text import Language, Text, text

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
MAX_QUOTE: Final = 4_000

CANNOT_REPEAT: Final = text("this message cannot be answered again: write it again")

Undo = Callable[[], None]


class NotNow(Transient):
    """The page cannot do something now; `text` is for its person."""

    def __init__(self, words: Text) -> None:
        super().__init__(words.english)
        self.text = words


class Chats:
    """The conversations of everybody who opens the page, and what they do in them."""

    def __init__(self, settings: WebSettings, context: AdapterContext) -> None:
        self.settings = settings
        started_ms = int(context.clock.now().timestamp() * 1000)
        self.conversations = PageChats(settings.max_people, settings.history, started_ms)
        self.files = FileStore(settings.max_files_bytes)
        self.sink: EventSink | None = None
        """Receives what people do; None while the adapter is not connected."""
        self._stored = StoredLines(
            context.own_conversations,
            context.account,
            self.conversations,
            self.files,
            settings.history,
        )
        self._deleting = frozenset(spec.name for spec in context.commands if spec.deletes)
        self._context = context
        self._streams = 0

    @property
    def voice_seconds(self) -> int:
        """The seconds of the longest voice message that is listened to; 0: none is."""
        return self._context.voice_seconds

    @property
    def assistant_name(self) -> str:
        """The assistant's name on the page."""
        return self._context.assistant_name

    async def language_of(self, person: str, told: str) -> Language:
        """Return the language in which somebody reads the page; `told` is the header
        `Accept-Language` of their browser."""
        return await self._context.language_of(
            place_for(self._context.account, person), person, told
        )

    async def act(
        self, person: str, payload: Mapping[str, object], chat: str = "", language: str = ""
    ) -> None:
        """Handle an action of the page: show it at once, pass it on, and undo it after a failure.
        `language` is that of the browser.

        Raises `BadInput` for an invalid object, `Transient` while not connected, and the errors of
        the gateway's sink.
        """
        self.require_sink()
        conversation = self.conversations.of(person, chat)
        if payload.get("type") == "regenerate":
            await self._ask_again(conversation, person, payload, chat, language)
            return
        for event in self._events(conversation, person, payload, chat, language):
            await self._pass_on(conversation, event)
            if isinstance(event, MessageEdited | MessageDeleted):
                self._settle(conversation)
            elif isinstance(event, CommandInvoked) and event.name == STOP:
                conversation.end_repeats()
            elif isinstance(event, CommandInvoked) and event.name in self._deleting:
                self._stored.drop_unstored(person, keep=event.event_id)
        self.wake_list(person)

    def _events(
        self,
        conversation: PageChat,
        person: str,
        payload: Mapping[str, object],
        chat: str,
        language: str,
    ) -> list[InboundEvent]:
        known: dict[str, object] = {"files": named_files(self.files, person, payload.get("files"))}
        if payload.get("type") == "button":
            known["label"] = pressed_label(conversation, payload)
        now = self._context.clock.now()
        envelope = Envelope(self._context.account, person, now, chat, language)
        quoted = quote_of(conversation, payload.get("reply_to"), person)
        events = parse({**payload, **known}, envelope, quoted)
        if not events:
            raise BadInput(text("this is no valid message, edit, deletion or button press"))
        return events

    async def _pass_on(self, conversation: PageChat, event: InboundEvent) -> None:
        awaited = awaited_of(conversation, event)
        take_back = show(conversation, event)
        # The gateway may be done with it before the sink returns.
        conversation.wait_for(awaited)
        try:
            await self.require_sink()(event)
        except Exception:
            take_back()
            conversation.ended(awaited)
            raise

    async def _ask_again(
        self,
        conversation: PageChat,
        person: str,
        payload: Mapping[str, object],
        chat: str,
        language: str,
    ) -> None:
        """Ask the latest question again. It stays on the page with its answer until the new answer
        is there (`Outbound.supersedes`), and for good if there is none."""
        question, again = asked_again(conversation, payload)
        now = asyncio.get_running_loop().time()
        if conversation.is_repeated(question.id, now):
            raise BadInput(text("this message is being answered again"))
        for event in self._events(conversation, person, again, chat, language):
            repeat = repeated(event, question)
            conversation.repeat(question, line_of(repeat.message), now + REPEAT_SECONDS)
            conversation.wait_for((repeat.message.id,))
            try:
                await self.require_sink()(repeat)
            except Exception:
                conversation.ended((repeat.message.id,))
                raise

    async def lines(self, person: str, chat: str) -> PageChat:
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
    def watching(self, person: str, chat: str = "") -> Iterator[PageChat]:
        """Yield the person's conversation, which stays in memory while a page is open.

        Raises `Transient` if too many pages are open.
        """
        conversation = self.conversations.of(person, chat)
        if self._streams >= MAX_STREAMS or conversation.watchers >= STREAMS_PER_PERSON:
            raise NotNow(text("too many open pages; close one and try again"))
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

    def _leave(self, conversation: PageChat, seen: int) -> None:
        """Remove the lines that are not stored, if no page showed the conversation meanwhile."""
        if self._context.own_conversations is None or conversation.watchers:
            return
        known = {line.id for line in conversation.lines() if line.version <= seen}
        self._stored.drop(conversation, [one for one in unstored(conversation) if one in known])

    def _settle(self, conversation: PageChat) -> None:
        """Let open pages look at the stored conversation until a change is applied to it."""
        conversation.settle(asyncio.get_running_loop().time() + SETTLE_SECONDS)

    def wake_list(self, person: str) -> None:
        """Let open pages of a person load the list of conversations again."""
        for conversation in self.conversations.of_person(person).values():
            conversation.list_changed()

    def require_sink(self) -> EventSink:
        """Return the sink. Raises `Transient` while the adapter is not connected."""
        if self.sink is None:
            raise NotNow(text("the web page is not connected"))
        return self.sink


def named_files(files: FileStore, person: str, ids: object) -> list[dict[str, object]]:
    """Return the uploaded files that a message names by id, for `parse`.

    Raises `BadInput` for too many, and for a file that is missing or not this person's.
    """
    if ids is None:
        return []
    if not isinstance(ids, list) or len(ids) > MAX_FILES:
        raise BadInput(text("`files` is a list of at most {count} ids", count=MAX_FILES))
    named: list[dict[str, object]] = []
    for file_id in ids:
        stored = files.get(file_id, person) if isinstance(file_id, str) else None
        if stored is None:
            raise BadInput(text("a file is no longer stored: attach it again"))
        named.append(
            {
                "ref": f"{person}/{stored.id}",
                "name": stored.name,
                "mime": stored.mime,
                "size": len(stored.data),
                "recorded": stored.recorded,
            }
        )
    return named


def quote_of(conversation: PageChat, line_id: object, person: str) -> Quote | None:
    """Return the line that a message answers, None if it is no longer stored."""
    line = conversation.line(line_id) if isinstance(line_id, str) else None
    if line is None or line.deleted:
        return None
    ours = line.by == "assistant"
    return Quote(line.id, line.text[:MAX_QUOTE], author_id="" if ours else person, by_this_bot=ours)


def pressed_label(conversation: PageChat, payload: Mapping[str, object]) -> str:
    """Return the label of the pressed button.

    Raises `BadInput` if the conversation has no such button: values come from us, never from the
    page.
    """
    message_id = payload.get("message_id")
    line = conversation.line(message_id) if isinstance(message_id, str) else None
    for button in line.buttons if line else ():
        if button.value == payload.get("value"):
            return button.label
    raise BadInput(text("this button no longer exists"))


def asked_again(
    conversation: PageChat, payload: Mapping[str, object]
) -> tuple[PageMessage, dict[str, object]]:
    """Return the question that is to be answered again, and the object of the message that asks it.

    Raises `BadInput` for anything but the latest question of the conversation.
    """
    questions = [one for one in conversation.lines() if one.by == "person" and not one.deleted]
    line = questions[-1] if questions else None
    if line is None or line.id != payload.get("message_id"):
        raise BadInput(text("only the latest message can be answered again"))
    if line.command or not (line.text.strip() or line.files):
        raise BadInput(CANNOT_REPEAT)
    again: dict[str, object] = {"id": payload.get("id"), "type": "message", "text": line.text}
    return line, again | {"files": [file.id for file in line.files], "reply_to": line.reply_to}


def repeated(event: InboundEvent, question: PageMessage) -> MessageReceived:
    """Return the message that asks a question again, and replaces it. Raises `BadInput` for a text
    that is no question."""
    if not isinstance(event, MessageReceived):
        raise BadInput(CANNOT_REPEAT)
    return replace(event, message=replace(event.message, replaces=question.id))


def show(conversation: PageChat, event: InboundEvent) -> Undo:
    """Show the event on the page and return a function that undoes it.

    Raises `BadInput` for a change of a line that is not the person's own.
    """
    match event:
        case MessageReceived(message=message):
            return _show_message(conversation, message)
        case CommandInvoked(message=ChatMessage() as message):
            return _show_message(conversation, message, command=True)
        case MessageEdited(message=message):
            line = _own(conversation, message.id)
            conversation.put(replace(line, text=message.content, edited=True))
        case MessageDeleted(message_ids=(message_id, *_)):
            line = _own(conversation, message_id)
            conversation.remove(message_id)
        case ButtonPressed() | _:
            return lambda: None

    def put_back() -> None:
        conversation.put(line)

    return put_back


def _show_message(conversation: PageChat, message: ChatMessage, *, command: bool = False) -> Undo:
    if conversation.line(message.id) is not None:
        return lambda: None  # the browser sent it again: it is shown already
    conversation.put(line_of(message, command=command))
    return lambda: conversation.forget(message.id)


def awaited_of(conversation: PageChat, event: InboundEvent) -> tuple[str, ...]:
    """Return the message that somebody now waits for; none for one that was sent before."""
    message = event.message if isinstance(event, MessageReceived | CommandInvoked) else None
    return (message.id,) if message and conversation.line(message.id) is None else ()


def line_of(message: ChatMessage, *, command: bool = False) -> PageMessage:
    """Return the line of a person's message."""
    return PageMessage(
        id=message.id,
        by="person",
        at=message.timestamp,
        text=message.content,
        files=tuple(
            FileLink(item.ref.partition("/")[2], item.name, item.mime, item.size or 0)
            for item in message.attachments
        ),
        reply_to=message.reply_to_id or "",
        command=command,
    )


def _own(conversation: PageChat, line_id: str) -> PageMessage:
    line = conversation.line(line_id)
    if line is None or line.by != "person" or line.deleted:
        raise BadInput(text("you can change only your own messages"))
    return line
