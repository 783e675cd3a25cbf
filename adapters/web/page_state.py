"""The state of the page, in memory and bounded: each person's latest messages, and all files.

A page that is loaded again gets it back. After a restart of the program the page begins empty; the
assistant's own memory is in the gateway's stores.
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Final, Literal

from gateway.errors import BadInput
from gateway.message import Button

TYPING_SECONDS: Final = 8.0
"""Seconds for which "is writing" stays without being renewed or followed by an answer."""


@dataclass(frozen=True, slots=True)
class FileLink:
    """A file below a message; `FileStore` keeps its bytes under `id`."""

    id: str
    name: str
    mime: str
    size: int


@dataclass(frozen=True, slots=True)
class PageMessage:
    """One message on the page.

    People's messages have `text` only. The assistant's have `html`, made safe by the renderer.
    `version` is given by the conversation: of two lines, the one with the larger changed later.
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
    version: int = 0


@dataclass(slots=True)
class Conversation:
    """The lines of one person, at most `limit`; the oldest are dropped first.

    `versions` only increases, also over restarts, so that an open page finds later changes.
    """

    limit: int
    versions: Iterator[int] = field(default_factory=lambda: count(1))
    version: int = 0
    typing_until: float = 0.0
    watchers: int = 0
    _lines: dict[str, PageMessage] = field(default_factory=dict)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, line: PageMessage) -> PageMessage:
        """Add a line, or replace the one with its id; wake all waiting streams."""
        self.version = next(self.versions)
        stamped = replace(line, version=self.version)
        self._lines[line.id] = stamped
        while len(self._lines) > self.limit:
            del self._lines[next(iter(self._lines))]
        if line.by == "assistant":
            self.typing_until = 0.0
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

    def lines(self) -> list[PageMessage]:
        """All lines, oldest first."""
        return list(self._lines.values())

    def since(self, version: int) -> list[PageMessage]:
        """The lines that changed after `version`, in the order of their changes."""
        return sorted(
            (line for line in self._lines.values() if line.version > version),
            key=lambda line: line.version,
        )

    def is_typing(self, until: float) -> None:
        """Show "is writing" until so many seconds of the loop's time."""
        self.typing_until = until
        self._wake()

    async def changed(self, timeout: float) -> bool:
        """True when something changed within `timeout` seconds."""
        event = self._changed
        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            return False
        return True

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Conversations:
    """All conversations; beyond `max_people` the one without activity for longest is dropped.

    A conversation with an open page stays; the adapter limits the number of open pages.
    """

    def __init__(self, max_people: int, history: int, first_version: int = 1) -> None:
        self._max_people = max_people
        self._history = history
        self._versions = count(first_version)
        self._by_person: OrderedDict[str, Conversation] = OrderedDict()

    def of(self, person_id: str) -> Conversation:
        """Return the conversation of this person; creates a missing one."""
        conversation = self._by_person.get(person_id)
        if conversation is None:
            conversation = Conversation(self._history, self._versions)
            self._by_person[person_id] = conversation
            self._make_room(person_id)
        self._by_person.move_to_end(person_id)
        return conversation

    def __iter__(self) -> Iterator[Conversation]:
        return iter(self._by_person.values())

    def __len__(self) -> int:
        return len(self._by_person)

    def _make_room(self, newest: str) -> None:
        excess = len(self._by_person) - self._max_people
        idle = [key for key, kept in self._by_person.items() if not kept.watchers and key != newest]
        for key in idle[: max(0, excess)]:
            del self._by_person[key]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file and its owner, who alone can download it."""

    id: str
    owner: str
    name: str
    mime: str
    data: bytes = field(repr=False)


class FileStore:
    """Files by id, at most `max_bytes` in total; the oldest are dropped first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._files: OrderedDict[str, StoredFile] = OrderedDict()

    def add(self, owner: str, name: str, mime: str, data: bytes) -> StoredFile:
        """Keep a file under a new, unguessable id. Raises `BadInput` when it can never fit."""
        if len(data) > self._max_bytes:
            raise BadInput(f"{name}: {len(data)} bytes, at most {self._max_bytes} can be kept")
        stored = StoredFile(secrets.token_urlsafe(16), owner, name, mime, data)
        self._files[stored.id] = stored
        self._bytes += len(data)
        while self._bytes > self._max_bytes:
            _, oldest = self._files.popitem(last=False)
            self._bytes -= len(oldest.data)
        return stored

    def get(self, file_id: str, owner: str) -> StoredFile | None:
        """The file, when it is still kept and belongs to `owner`."""
        stored = self._files.get(file_id)
        return stored if stored is not None and stored.owner == owner else None
