"""The state of the page, in memory and bounded: the lines of each conversation, and all files.

`adapters.web.stored_lines` adds the messages that the gateway stored, and removes those that are no
longer stored.
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Final, Literal

from msgspec import Struct

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.latest import Latest
from gateway.message import Button
from gateway.ports.conversations import MessageName
from gateway.text import text, verbatim

TYPING_SECONDS: Final = 8.0
"""Seconds for which "is writing" stays without being renewed or followed by an answer."""
MAX_REPEATS: Final = 10
MAX_AWAITED: Final = 1_000
MAX_LEFT_OUT: Final = 8_000
"""Names of stored messages that a conversation does not show: four times the largest history."""


class FileLink(Struct, frozen=True):
    """A file below a message; `FileStore` keeps its bytes under `id`."""

    id: str
    name: str
    mime: str
    size: int


class PageMessage(Struct, frozen=True):
    """One message on the page.

    People's messages have `text` only. The assistant's have `html`, made safe by the renderer.
    `version` is given by the conversation: of two lines, the one with the larger changed later.
    `live`: the answer is still being written. `command`: the line is a command, which is not
    stored. `stored`: the gateway stored the line.
    """

    id: str
    by: Literal["person", "assistant"]
    at: datetime
    text: str
    html: str = ""
    buttons: tuple[Button, ...] = ()
    files: tuple[FileLink, ...] = ()
    reply_to: str = ""
    edited: bool = False
    deleted: bool = False
    live: bool = False
    command: bool = False
    stored: bool = False
    version: int = 0

    @property
    def name(self) -> MessageName:
        """The name of the line in stored conversations, if it is stored."""
        if self.by == "person":
            return MessageName(self.id, "person")
        return MessageName(self.reply_to, "assistant")


class Repeat(Struct, frozen=True):
    """A question that is asked again by another line, which is not shown before its answer."""

    question_id: str
    line: PageMessage
    until: float


@dataclass(slots=True)
class PageChat:
    """The lines of one conversation, at most `limit`; the oldest are dropped first.

    `versions` only increases, also over restarts, so that an open page finds later changes. With a
    new `epoch`, a page has to load all lines again. `left_out` are stored messages that are not
    shown: they are too old, or were replaced. `awaited` are messages that are not answered, refused
    or dropped yet.
    """

    limit: int
    versions: Iterator[int] = field(default_factory=lambda: count(1))
    version: int = 0
    epoch: int = 0
    left_out: frozenset[MessageName] = frozenset()
    unsettled_until: float = 0.0
    list_version: int = 0
    typing_until: float = 0.0
    awaited: dict[str, None] = field(default_factory=dict)
    watchers: int = 0
    _lines: dict[str, PageMessage] = field(default_factory=dict)
    _repeats: Latest[str, Repeat] = field(default_factory=lambda: Latest(MAX_REPEATS))
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.epoch = next(self.versions)

    def put(self, line: PageMessage) -> PageMessage:
        """Add a line, or replace the one with its id; wake all waiting streams."""
        self.version = next(self.versions)
        stamped = replace(line, version=self.version)
        self._lines[line.id] = stamped
        while len(self._lines) > self.limit:
            del self._lines[next(iter(self._lines))]
        if line.by == "assistant":
            self.typing_until = 0.0
        if line.by == "assistant" and not line.live:
            self.awaited.pop(line.reply_to, None)
        self._wake()
        return stamped

    def line(self, line_id: str) -> PageMessage | None:
        """Return the line with this id, None if it is no longer stored."""
        return self._lines.get(line_id)

    def remove(self, line_id: str) -> None:
        """Mark a line as deleted, so that open pages remove it."""
        if line := self._lines.get(line_id):
            self.put(replace(line, text="", html="", buttons=(), files=(), deleted=True))

    def forget(self, line_id: str) -> None:
        """Remove a line that was not accepted."""
        self._lines.pop(line_id, None)

    def drop(self, ids: Collection[str]) -> list[PageMessage]:
        """Remove lines from all pages without a mark, and return them."""
        dropped = [line for line_id in ids if (line := self._lines.pop(line_id, None))]
        if dropped:
            self._load_again()
        return dropped

    def repeat(self, question: PageMessage, again: PageMessage, until: float) -> None:
        """Note that a question is asked again. The line `again` takes its place when it is
        answered; until then, at most to `until`, it is not asked once more."""
        self._repeats[again.id] = Repeat(question.id, again, until)

    def is_repeated(self, question_id: str, now: float) -> bool:
        """Return True while a question is being answered again."""
        return any(
            one.question_id == question_id and one.until > now for one in self._repeats.values()
        )

    def end_repeats(self, repeat_id: str = "") -> None:
        """Allow to ask again: the line `repeat_id` has its answer, or everything was stopped."""
        for again, one in self._repeats.items():
            if repeat_id in {"", again}:
                self._repeats[again] = replace(one, until=0.0)

    def supersede(self, question_id: str, repeat_id: str) -> None:
        """Replace a question, with its answers, by the line `repeat_id`, whose own answers stay. A
        line of the assistant between the two without a button belongs to the question, for example
        that it stopped."""
        earlier = {key for key, one in self._repeats.items() if one.question_id == question_id}
        gone = ({question_id} | earlier) - {repeat_id}
        known = self._repeats.pop(repeat_id, None)
        question, lines = self._lines.get(question_id), {}
        for line in self._lines.values():
            if line.id == question_id and known is not None:
                lines[repeat_id] = replace(known.line, version=next(self.versions))
            elif line.id != question_id and not (
                (line.by == "assistant" and line.reply_to in gone)
                or (question and known and _written_between(question, line, known.line))
            ):
                lines[line.id] = line
        self._lines = lines
        self.left_out |= {MessageName(question_id, "person"), MessageName(question_id, "assistant")}
        self._load_again()

    def merge(self, names: Collection[MessageName], messages: Iterable[PageMessage]) -> None:
        """Note which lines are stored, and insert the stored `messages` by their time. A line that
        is shown stays as it is: it may have buttons, or a text that is not stored."""
        for line in list(self._lines.values()):
            if line.name in names and not (line.stored or line.deleted or line.live):
                self._lines[line.id] = replace(line, stored=True)
        shown = {line.name for line in self._lines.values()}
        missing = [line for line in messages if line.name not in shown | self.left_out]
        if missing:
            lines = sorted([*missing, *self._lines.values()], key=lambda line: line.at)
            self._lines = {line.id: line for line in lines[-self.limit :]}
            self._load_again()
        self.left_out |= frozenset(names) - {line.name for line in self._lines.values()}
        self.left_out = frozenset(sorted(self.left_out)[-MAX_LEFT_OUT:])

    def lacks(self, names: Iterable[MessageName]) -> bool:
        """Return True if one of these stored messages is neither shown nor left out."""
        shown = {line.name for line in self._lines.values()} | self.left_out
        return not shown.issuperset(names)

    def _load_again(self) -> None:
        self.epoch = self.version = next(self.versions)
        self._wake()

    def lines(self) -> list[PageMessage]:
        """All lines, oldest first."""
        return list(self._lines.values())

    def since(self, version: int) -> list[PageMessage]:
        """The lines that changed after `version`, in the order of their changes."""
        return sorted(
            (line for line in self._lines.values() if line.version > version),
            key=lambda line: line.version,
        )

    def is_writing(self, now: float) -> bool:
        """Return True while somebody waits for a message, or "is writing" is shown until later."""
        return bool(self.awaited) or self.typing_until > now

    def wait_for(self, message_ids: Iterable[str]) -> None:
        """Show "is writing" until `ended` names these messages; the oldest of too many are left."""
        self.awaited.update(dict.fromkeys(message_ids))
        while len(self.awaited) > MAX_AWAITED:
            del self.awaited[next(iter(self.awaited))]
        self._wake()

    def ended(self, message_ids: Collection[str]) -> None:
        """Wait no longer for these messages, and allow to ask them again."""
        for message_id in message_ids:
            self.awaited.pop(message_id, None)
            if message_id in self._repeats:
                self.end_repeats(message_id)
        if message_ids:
            self.typing_until = 0.0
            self._wake()

    def is_typing(self, until: float) -> None:
        """Show "is writing" until so many seconds of the loop's time."""
        self.typing_until = until
        self._wake()

    def settle(self, until: float) -> None:
        """Expect a change of the stored conversation until this time of the loop."""
        self.unsettled_until = until
        self._wake()

    def list_changed(self) -> None:
        """Tell open pages that the list of conversations may have changed."""
        self.list_version += 1
        self._wake()

    @property
    def next_change(self) -> asyncio.Event:
        """Is set by the next change."""
        return self._changed

    async def changed(self, timeout: float, change: asyncio.Event | None = None) -> bool:
        """True when something changed within `timeout` seconds, or since `next_change` gave
        `change`."""
        try:
            async with asyncio.timeout(timeout):
                await (change or self._changed).wait()
        except TimeoutError:
            return False
        return True

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class PageChats:
    """All conversations in memory; beyond `max_people` the one without activity for longest is
    dropped.

    A conversation with an open page stays; the adapter limits the number of open pages.
    """

    def __init__(self, max_people: int, history: int, first_version: int = 1) -> None:
        self._max_people = max_people
        self._history = history
        self._versions = count(first_version)
        self._by_key: OrderedDict[tuple[str, str], PageChat] = OrderedDict()

    def of(self, person_id: str, chat: str = "") -> PageChat:
        """Return this conversation of this person; creates a missing one."""
        key = (person_id, chat)
        conversation = self._by_key.get(key)
        if conversation is None:
            conversation = PageChat(self._history, self._versions)
            self._by_key[key] = conversation
            self._make_room(key)
        self._by_key.move_to_end(key)
        return conversation

    def of_person(self, person_id: str) -> dict[str, PageChat]:
        """Return the person's conversations in memory, by their ids."""
        return {chat: kept for (person, chat), kept in self._by_key.items() if person == person_id}

    def __iter__(self) -> Iterator[PageChat]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)

    def _make_room(self, newest: tuple[str, str]) -> None:
        excess = len(self._by_key) - self._max_people
        idle = [key for key, kept in self._by_key.items() if not kept.watchers and key != newest]
        for key in idle[: max(0, excess)]:
            del self._by_key[key]


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file and its owner, who alone can download it."""

    id: str
    owner: str
    name: str
    mime: str
    data: bytes = field(repr=False)
    recorded: float | None = None
    """The seconds that the page recorded with the microphone; None for any other file."""


class FileStore:
    """Files by id, at most `max_bytes` in total; the oldest are dropped first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._files: OrderedDict[str, PageFile] = OrderedDict()

    def add(
        self, owner: str, name: str, mime: str, data: bytes, recorded: float | None = None
    ) -> PageFile:
        """Keep a file under a new, unguessable id. Raises `BadInput` when it can never fit."""
        if len(data) > self._max_bytes:
            raise BadInput(
                text(
                    "{name}: {size} bytes, at most {most} can be stored",
                    name=verbatim(name),
                    size=len(data),
                    most=self._max_bytes,
                )
            )
        stored = PageFile(secrets.token_urlsafe(16), owner, name, mime, data, recorded)
        self._files[stored.id] = stored
        self._bytes += len(data)
        while self._bytes > self._max_bytes:
            _, oldest = self._files.popitem(last=False)
            self._bytes -= len(oldest.data)
        return stored

    def get(self, file_id: str, owner: str) -> PageFile | None:
        """The file, when it is still kept and belongs to `owner`."""
        stored = self._files.get(file_id)
        return stored if stored is not None and stored.owner == owner else None

    def remove(self, links: Iterable[FileLink]) -> None:
        """Delete the files below removed lines."""
        for link in links:
            if stored := self._files.pop(link.id, None):
                self._bytes -= len(stored.data)


def _written_between(question: PageMessage, line: PageMessage, again: PageMessage) -> bool:
    """Return True for a line of the assistant that answers no message and has no button."""
    of_no_message = line.by == "assistant" and not line.reply_to and not line.buttons
    return of_no_message and question.at <= line.at <= again.at
