"""Parses the page's own JSON into inbound events.

The page sends one object per action:

    {"type": "message", "id": ID, "text": TEXT, "reply_to": ID, "files": [FILE, ...]}
    {"type": "edit",    "id": ID, "message_id": ID, "text": TEXT}
    {"type": "delete",  "id": ID, "message_id": ID}
    {"type": "button",  "id": ID, "message_id": ID, "value": TEXT, "label": TEXT}
    {"type": "stop",    "id": ID}

`id` is made by the browser, 8 to 64 letters, digits and dashes: a request that is sent again
keeps it, so that the gateway recognises the repetition. Everything that says *who* acts comes in
the `Envelope`, from the server's side, never from the object.
"""

import re
from datetime import datetime
from typing import Final

from msgspec import Struct

from adapters.shared.json_readers import JsonObject, clean_text, integer, number, objects
from gateway.languages.negotiation import liked_by
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    AttachmentKind,
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    Quote,
)
from gateway.people import Audience

MAX_FILES: Final = 10
MAX_BUTTON_VALUE: Final = 64
PLATFORM: Final = "web"

_CHAT: Final = re.compile(r"chat-[a-z0-9]{16}")
_ID: Final = re.compile(r"[A-Za-z0-9-]{8,64}")
_COMMAND: Final = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{0,31})(?:\s+(.*))?", re.DOTALL)
_KINDS: Final[dict[str, AttachmentKind]] = {"image": "image", "audio": "audio", "video": "video"}


class Envelope(Struct, frozen=True):
    """The server's facts of a request: the session's person, the account, the time, and the
    conversation, whose id `is_chat` has accepted. `language` is that of the browser."""

    account: str
    person_id: str
    at: datetime
    chat: str = ""
    language: str = ""

    @property
    def author(self) -> MessageAuthor:
        """The person as the author of what the page sends."""
        return MessageAuthor(self.person_id, language=self.language)

    @property
    def place(self) -> Place:
        """The place of the conversation."""
        return place_for(self.account, self.person_id, self.chat)


def place_for(account: str, person_id: str, chat: str = "") -> Place:
    """A conversation of a person: direct, in a channel named by the person's own id. The first
    conversation has no id."""
    return Place(PLATFORM, account, channel_id=person_id, audience=Audience.DIRECT, thread_id=chat)


def is_chat(chat: str) -> bool:
    """Return True for the id of a conversation, which the browser makes. It cannot be the id of a
    person or of a room in a list of the configuration."""
    return not chat or _CHAT.fullmatch(chat) is not None


def language_of(header: str) -> str:
    """Return the language of an Accept-Language header that its reader likes best, or ""."""
    return next(iter(liked_by(header)), "")


def parse(
    payload: JsonObject, envelope: Envelope, quoted: Quote | None = None
) -> list[InboundEvent]:
    """Return the events of an object of the page, none for a malformed one.

    `quoted` is the stored message of `reply_to`. Never raises.
    """
    event_id = _identifier(payload.get("id"))
    if not event_id:
        return []
    match payload.get("type"):
        case "message":
            return _message(payload, envelope, event_id, quoted)
        case "edit":
            return _edit(payload, envelope, event_id)
        case "delete":
            return _delete(payload, envelope, event_id)
        case "button":
            return _button(payload, envelope, event_id)
        case "stop":
            return [CommandInvoked(event_id, envelope.place, envelope.author, "stop")]
        case _:
            return []


def _message(
    payload: JsonObject, envelope: Envelope, event_id: str, quoted: Quote | None
) -> list[InboundEvent]:
    files = _files(payload.get("files"))
    text = _text(payload.get("text"), MAX_CONTENT)
    if not text.strip() and not files:
        return []
    message = ChatMessage(
        id=event_id,
        content=text,
        author=envelope.author,
        place=envelope.place,
        timestamp=envelope.at,
        reply_to_id=quoted.id if quoted else None,
        quote=quoted,
        attachments=files,
    )
    command = _COMMAND.fullmatch(text.strip())
    if command is None:
        return [MessageReceived(event_id, message)]
    name, arguments = command.groups(default="")
    return [
        CommandInvoked(
            event_id,
            message.place,
            message.author,
            name.lower(),
            arguments.strip(),
            message,
        )
    ]


def _edit(payload: JsonObject, envelope: Envelope, event_id: str) -> list[InboundEvent]:
    message_id = _identifier(payload.get("message_id"))
    text = _text(payload.get("text"), MAX_CONTENT)
    if not message_id or not text.strip():
        return []
    changed = ChatMessage(
        id=message_id,
        content=text,
        author=envelope.author,
        place=envelope.place,
        timestamp=envelope.at,
    )
    return [MessageEdited(event_id, changed)]


def _delete(payload: JsonObject, envelope: Envelope, event_id: str) -> list[InboundEvent]:
    message_id = _identifier(payload.get("message_id"))
    if not message_id:
        return []
    return [MessageDeleted(event_id, envelope.place, (message_id,))]


def _button(payload: JsonObject, envelope: Envelope, event_id: str) -> list[InboundEvent]:
    message_id = _identifier(payload.get("message_id"))
    value = _text(payload.get("value"), MAX_BUTTON_VALUE)
    if not message_id or not value:
        return []
    return [
        ButtonPressed(
            event_id,
            envelope.place,
            envelope.author,
            value,
            _text(payload.get("label"), 200),
            message_id,
        )
    ]


def _identifier(value: object) -> str:
    """`value` when it is a well-formed id, otherwise the empty string."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def _text(value: object, limit: int) -> str:
    """`value` when it is a text of at most `limit` characters, otherwise the empty string.

    A longer text is refused, not cut. See `clean_text`.
    """
    if not isinstance(value, str) or len(value) > limit:
        return ""
    return clean_text(value)


def _files(value: object) -> tuple[Attachment, ...]:
    return tuple(file for item in objects(value, MAX_FILES) if (file := _file(item)))


def _file(item: JsonObject) -> Attachment | None:
    ref, mime, size = (
        _text(item.get("ref"), 128),
        _text(item.get("mime"), 100),
        integer(item, "size"),
    )
    if not ref:
        return None
    recorded = number(item, "recorded")
    return Attachment(
        kind=_KINDS.get(mime.partition("/")[0], "document"),
        ref=ref,
        name=_text(item.get("name"), 200),
        mime=mime,
        size=size if size is not None and size >= 0 else None,
        voice=recorded is not None and mime.startswith("audio/"),
        seconds=recorded,
    )
