"""Chats, messages and files as Telegram's server keeps them, for one bot."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from simulators.base import ShownButton, SimFile, SimPerson
from simulators.telegram.entities import Entity

MAX_MESSAGES: Final = 500_000
"""Messages kept; a simulator that outlives this forgets nothing silently, it stops."""


@dataclass(slots=True)
class Chat:
    """A chat, named as in the Bot API; `topics` maps a topic's id to its title, `closed` are those
    in which the bot may not write. `gone` are people who left, or were removed: everybody else is
    in it. `upgraded_to` is the id of the supergroup that this group became."""

    id: int
    type: str
    title: str = ""
    username: str = ""
    is_forum: bool = False
    is_direct_messages: bool = False
    topics: dict[int, str] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    upgraded_to: int = 0
    gone: dict[int, str] = field(default_factory=dict)
    description: str = ""
    administrators: set[int] = field(default_factory=set)
    messages: list["Posted"] = field(default_factory=list)

    @property
    def is_group(self) -> bool:
        """True for groups and supergroups."""
        return self.type in ("group", "supergroup")

    def as_json(self) -> dict[str, object]:
        """As in the Bot API."""
        body: dict[str, object] = {"id": self.id, "type": self.type}
        if self.type == "private":
            body["first_name"] = self.title
        else:
            body["title"] = self.title
        if self.username:
            body["username"] = self.username
        if self.is_forum:
            body["is_forum"] = True
        if self.is_direct_messages:
            body["is_direct_messages"] = True
        return body


@dataclass(slots=True)
class Posted:
    """A message that stands in a chat."""

    id: int
    chat: Chat
    author: dict[str, object]
    date: int
    thread_id: int = 0
    text: str = ""
    entities: tuple[Entity, ...] = ()
    files: tuple[SimFile, ...] = ()
    media: dict[str, object] = field(default_factory=dict)
    buttons: tuple[ShownButton, ...] = ()
    keyboard: dict[str, object] | None = None
    reply_to: "Posted | None" = None
    quote: str = ""
    payload: dict[str, object] = field(default_factory=dict)
    by_bot: bool = False
    via_bot: dict[str, object] | None = None
    forward_origin: dict[str, object] | None = None
    edited: bool = False
    deleted: bool = False
    service: bool = False

    def as_json(self, me: dict[str, object], *, nested: bool = False) -> dict[str, object]:
        """As in the Bot API; `nested` leaves the message replied to out."""
        body: dict[str, object] = {
            "message_id": self.id,
            "from": self.author,
            "chat": self.chat.as_json(),
            "date": self.date,
        }
        if self.thread_id and self.chat.is_direct_messages:
            body["direct_messages_topic"] = {"topic_id": self.thread_id}
        elif self.thread_id:
            body["message_thread_id"] = self.thread_id
            body["is_topic_message"] = True
        body.update(self.media)
        if self.text:
            has_media = bool(self.files)
            body["caption" if has_media else "text"] = self.text
            if self.entities:
                listed = [one.as_json() for one in self.entities]
                body["caption_entities" if has_media else "entities"] = listed
        if self.keyboard is not None:
            body["reply_markup"] = self.keyboard
        if self.via_bot is not None:
            body["via_bot"] = self.via_bot
        if self.forward_origin is not None:
            body["forward_origin"] = self.forward_origin
        if self.edited:
            body["edit_date"] = int(time.time())
        if self.reply_to is not None and not nested:
            body["reply_to_message"] = self.reply_to.as_json(me, nested=True)
            if self.quote:
                body["quote"] = {"text": self.quote, "position": 0, "is_manual": True}
        return body


FIRST_MESSAGE: Final = 101
"""A topic is named after a message, and 1 is the general one."""


class World:
    """Everything that exists on this Telegram."""

    def __init__(
        self,
        bot_id: int,
        bot_name: str,
        username: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock` gives the Unix seconds at which people and the bot write."""
        self.clock = clock
        self.me: dict[str, object] = {
            "id": bot_id,
            "is_bot": True,
            "first_name": bot_name,
            "username": username,
        }
        self.bot_id = bot_id
        self.username = username
        self.chats: dict[int, Chat] = {}
        self.people: dict[str, SimPerson] = {}
        self.languages: dict[str, str] = {}
        """The languages of people's apps, by id."""
        self.files: dict[str, SimFile] = {}
        self.portraits: dict[str, SimFile] = {}
        """The pictures of people, by id."""
        self.messages: dict[int, Posted] = {}
        self._rooms: dict[str, Chat] = {}
        self._message_ids = count(FIRST_MESSAGE)
        self._person_ids = count(5_000_001)
        self._room_ids = count(1_000_000_001)
        self._file_ids = count(1)

    def person(self, name: str) -> SimPerson:
        """The person of that name, made on first use."""
        person = self.people.get(name)
        if person is None:
            person = SimPerson(str(next(self._person_ids)), name)
            self.people[name] = person
        return person

    def private_chat(self, person: SimPerson) -> Chat:
        """The chat between this person and the bot."""
        identity = int(person.id)
        chat = self.chats.get(identity)
        if chat is None:
            chat = self.chats[identity] = Chat(identity, "private", person.name)
        return chat

    def group(self, title: str, *, public: bool) -> Chat:
        """The supergroup of that title; a public one has a username."""
        chat = self._rooms.get(title)
        if chat is None:
            number = next(self._room_ids)
            username = f"room{number}" if public else ""
            chat = Chat(-1_000_000_000_000 - number, "supergroup", title, username)
            self._rooms[title] = self.chats[chat.id] = chat
        return chat

    def upgrade(self, group: Chat) -> Chat:
        """The supergroup that a group becomes, with its title and without its messages."""
        group.type = "group"
        title = f"{group.title} (supergroup)"
        supergroup = self.group(title, public=False)
        supergroup.title, group.upgraded_to = group.title, supergroup.id
        return supergroup

    def direct_messages(self, title: str, person: SimPerson) -> Chat:
        """The direct messages of the channel of that title, with a topic for this person."""
        chat = self._rooms.get(f"{title} messages")
        if chat is None:
            number = next(self._room_ids)
            chat = Chat(-1_000_000_000_000 - number, "supergroup", title)
            chat.is_direct_messages = True
            self._rooms[f"{title} messages"] = self.chats[chat.id] = chat
        chat.topics[int(person.id)] = person.name
        return chat

    def user(self, person: SimPerson) -> dict[str, object]:
        """A person as in the Bot API."""
        handle = "".join(c for c in person.name if c.isascii() and c.isalnum()).lower()
        body: dict[str, object] = {
            "id": int(person.id),
            "is_bot": person.is_bot,
            "first_name": person.name,
        }
        if handle and handle[0].isalpha():
            body["username"] = handle
        if person.id in self.languages:
            body["language_code"] = self.languages[person.id]
        return body

    def keep_file(self, file: SimFile) -> str:
        """Store a file; returns its file id."""
        file_id = f"file-{next(self._file_ids)}"
        self.files[file_id] = file
        return file_id

    def post(self, message: Posted) -> Posted:
        """Put a message into its chat."""
        if len(self.messages) >= MAX_MESSAGES:
            raise OverflowError(f"this simulator keeps {MAX_MESSAGES} messages")
        message.chat.messages.append(message)
        self.messages[message.id] = message
        return message

    def number_messages_from(self, first: int) -> None:
        """Give the next message this id, as on a platform that has been in use."""
        self._message_ids = count(first)

    def next_message_id(self) -> int:
        """A fresh message id."""
        return next(self._message_ids)

    def sizes_of(self, picture: SimFile, widths: tuple[int, ...]) -> list[dict[str, object]]:
        """A picture in several sizes, each a file of its own, as an array of `PhotoSize`."""
        return [
            {
                "file_id": (file_id := self.keep_file(picture)),
                "file_unique_id": f"u{file_id}",
                "file_size": len(picture.data),
                "width": width,
                "height": width,
            }
            for width in widths
        ]

    def media_of(self, file: SimFile) -> dict[str, object]:
        """The part of a message that describes a file, as the app sends it."""
        file_id = self.keep_file(file)
        described: dict[str, object] = {
            "file_id": file_id,
            "file_unique_id": f"u{file_id}",
            "file_size": len(file.data),
        }
        if file.mime in ("image/png", "image/jpeg", "image/webp"):
            small = {**described, "width": 90, "height": 90, "file_size": min(1000, len(file.data))}
            return {"photo": [small, {**described, "width": 800, "height": 800}]}
        described["file_name"] = file.name
        described["mime_type"] = file.mime
        if file.mime == "audio/ogg":
            return {"voice": {**described, "duration": 3}}
        if file.mime.startswith("audio/"):
            return {"audio": {**described, "duration": 3}}
        if file.mime.startswith("video/"):
            return {"video": {**described, "duration": 3, "width": 320, "height": 240}}
        return {"document": described}
