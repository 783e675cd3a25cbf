"""Incoming and outgoing messages as frozen values: no I/O, no platform library, no database.

Raw payloads are parsed into these once, in `adapters/<platform>/parse.py`; no other code uses a raw
dictionary.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Final, Literal, TypeAlias

from msgspec import Struct

from gateway.authorship import Material
from gateway.immutable import replace
from gateway.people import Audience, KnownIds, PersonId
from gateway.text import Language, Text, Unconverted
from safety.unicode import safe_unicode

MAX_CONTENT = 40_000
"""Characters of one message that are kept: Slack's limit. Discord's and Telegram's are lower;
WhatsApp's app sends up to 65,536."""


def utf16_units(text: str) -> int:
    """Return the length in UTF-16 code units, in which clients count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class TextCut(Struct, frozen=True):
    """Where the clients of a platform cut a long text into several messages."""

    limits: tuple[int, ...]
    """The lengths at which they cut, in UTF-16 code units."""
    shortest: float = 1.0
    """The shortest piece before another one, as a part of the limit: 0 to 1."""


AttachmentKind: TypeAlias = Literal["image", "audio", "video", "document", "sticker", "other"]
KIND_WORDS: Final[dict[AttachmentKind, str]] = {
    "image": "picture",
    "audio": "audio",
    "video": "video",
    "document": "file",
    "sticker": "sticker",
    "other": "file",
}
MAX_LANGUAGE: Final = 35
"""Characters of a language tag: the length that BCP 47 asks programs to hold."""
MAX_LABEL: Final = 100
"""Characters of a file's name that are shown."""
MAX_LABELS: Final = 10
"""Files of one message that are named."""
_NOT_IN_LABELS: Final = re.compile(r"[\x00-\x1f\x7f`]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in which messages are written, and its readers."""

    platform: str
    """The platform's name, in lower case."""
    account: str
    """The account of this bot on the platform: "main", or its name in the configuration."""
    channel_id: str
    """The platform's id of the conversation or channel."""
    audience: Audience
    """The readers: one person, the members of a room, or everybody."""
    workspace_id: str = ""
    """Discord's guild or Slack's team; empty if there is none."""
    thread_id: str = ""
    """The id of the thread, unique to it; empty outside a thread."""
    closed_thread: bool = False
    """True if a thread has fewer readers than its channel, as Discord's private threads."""
    outsiders: bool = False
    """True if people without access to any project read the place: a Slack channel that is shared
    with another company, a topic of a Telegram channel's direct messages."""
    present_channel_id: str = field(default="", compare=False)
    """The channel's id at a platform that gave it another one, where `channel_id` stays the first;
    empty if it has only one."""

    @property
    def channel_ids(self) -> tuple[str, ...]:
        """The ids by which settings can name the channel."""
        present = self.present_channel_id
        return (self.channel_id, present) if present else (self.channel_id,)

    def identity(self, author: "MessageAuthor") -> PersonId:
        """Return the identity of an author who writes here."""
        return PersonId(self.platform, self.account, author.id)


@dataclass(frozen=True, slots=True)
class MessageAuthor:
    """The author of a message."""

    id: str
    """The platform's immutable id of the author."""
    name: str = ""
    """The display name, which nobody has verified; empty if unknown."""
    is_bot: bool = False
    """True for a bot or an app."""
    aliases: tuple[str, ...] = ()
    """Further immutable ids, such as a WhatsApp phone number beside the BSUID."""
    former: tuple[str, ...] = ()
    """Earlier ids of the person, which only count against them."""
    is_chat: bool = False
    """True for a chat in its own name, a channel or an anonymous administrator, whose human is
    unknown (Telegram's `sender_chat`)."""
    outside: bool = False
    """True for an author who is not a full member of the message's workspace: from another
    company's Slack team, a guest, a webhook, a channel in its own name."""
    language: str = field(default="", compare=False)
    """The language of their app as the platform tells it, a tag of BCP 47 such as "de-AT"; empty if
    it tells none."""

    @property
    def known(self) -> KnownIds:
        """The further ids, for access lists."""
        return KnownIds(self.aliases, self.former)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a message, not yet fetched."""

    kind: AttachmentKind
    """The kind, which decides how it is named and read."""
    ref: str
    """The adapter's reference to the file: a URL, a file id, a media id."""
    name: str = ""
    """The file's name as its sender gave it; empty if there is none."""
    mime: str = ""
    """The media type as the platform gives it, not verified; empty if unknown."""
    size: int | None = None
    """The size in bytes; None if unknown."""
    pasted: bool = False
    """True if the client made the file of a long text that its author pasted."""

    @property
    def label(self) -> str:
        """Kind and name in one line without hidden characters: "picture: menu.png"."""
        kind = KIND_WORDS[self.kind]
        name = " ".join(safe_unicode(_NOT_IN_LABELS.sub(" ", self.name[:1_000])).split())
        name = name[:MAX_LABEL].rstrip()
        return f"{kind}: {name}" if name and name.casefold() != kind else kind


def labels_of(files: Sequence[Attachment]) -> str:
    """Return the labels of files, one a line; further ones are counted."""
    lines = [file.label for file in files[:MAX_LABELS]]
    if len(files) > MAX_LABELS:
        lines.append(f"and {len(files) - MAX_LABELS} more")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Quote:
    """The message that this one replies to, as far as the platform provides it. Where it provides
    the id alone, a turn completes it from the stored conversation."""

    id: str
    """The platform's id of the message."""
    text: str = ""
    """The text of the message; empty if unknown."""
    author_id: str = ""
    """The platform's id of its author; empty if unknown."""
    author_name: str = ""
    """The display name of its author; empty if unknown."""
    by_this_bot: bool = False
    """True for a message of this assistant."""
    attachments: tuple[Attachment, ...] = ()
    """The files of the message, not yet fetched."""

    @property
    def is_empty(self) -> bool:
        """True if nothing is known of the content."""
        return not (self.text.strip() or self.attachments)


@dataclass(frozen=True, slots=True)
class Extras:
    """The facts of a message that only its platform has, as JSON; its adapter has the type."""

    values: dict[str, object]
    """The facts by name, in the form of JSON."""
    details: str = ""
    """The same in a few words without a person's text, for the trace of the message."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a person, the same on every platform."""

    id: str
    """The platform's id of the message, unique in its place."""
    content: str
    """The author's own text only, without this bot's mention and with other entities as readable
    text."""
    author: MessageAuthor
    """The author."""
    place: Place
    """The place in which it was written."""
    timestamp: datetime
    """The time of sending by the platform's clock, in UTC."""
    reply_to_id: str | None = None
    """The id of the message that this one replies to; None if it replies to none."""
    quote: Quote | None = None
    """The message that this one replies to; None if it replies to none."""
    attachments: tuple[Attachment, ...] = ()
    """The files of the message, not yet fetched."""
    mentions_bot: bool = False
    """True if it mentions this bot: the entities of own text decide, never the text."""
    mentions_others: bool = False
    """True if own text mentions other people or bots."""
    extras: Extras | None = None
    """The facts that only the platform has; None without any."""
    material: tuple[Material, ...] = ()
    """Text that another author wrote, or that was not written for this message: forwards, cards,
    previews."""
    replaces: str = ""
    """The id of an earlier message of the author in this conversation: the model does not read it,
    and it is deleted with its answer once this message has an answer of the model. Empty for
    none."""
    unreadable: bool = False
    """True if the platform tells that the author sent something, and not what."""
    units: int = 0
    """The length of the text as it was sent, in UTF-16 code units, with mentions and without what
    the adapter writes in place of entities; 0: that of `content`."""

    @property
    def platform(self) -> str:
        """The platform's name, in lower case."""
        return self.place.platform

    @property
    def channel_id(self) -> str:
        """The platform's id of the conversation or channel."""
        return self.place.channel_id

    @property
    def thread_id(self) -> str | None:
        """The platform's id of the thread, None outside one."""
        return self.place.thread_id or None

    @property
    def is_direct_message(self) -> bool:
        """True if only this person and the bot read the place."""
        return self.place.audience is Audience.DIRECT

    @property
    def person(self) -> PersonId:
        """The author as an identity."""
        return self.place.identity(self.author)


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A person sent a message."""

    event_id: str
    """The platform's id of the event, the same on every redelivery."""
    message: ChatMessage
    """The message."""
    kind: Literal["message"] = "message"
    """The kind of event, as stored and as traces name it."""

    @property
    def place(self) -> Place:
        """The place of the message."""
        return self.message.place

    @property
    def author(self) -> MessageAuthor:
        """The author of the message."""
        return self.message.author


@dataclass(frozen=True, slots=True)
class MessageEdited:
    """A person changed what they wrote."""

    event_id: str
    """The platform's id of the event, the same on every redelivery."""
    message: ChatMessage
    """The new state, under the old id."""
    command: str = ""
    """The name of the command, where the new state is one; empty otherwise."""
    arguments: str = ""
    """The text behind the name of the command."""
    kind: Literal["edit"] = "edit"
    """The kind of event, as stored and as traces name it."""

    @property
    def place(self) -> Place:
        """The place of the message."""
        return self.message.place

    @property
    def author(self) -> MessageAuthor:
        """The author of the message."""
        return self.message.author


@dataclass(frozen=True, slots=True)
class MessageDeleted:
    """Messages of one place were deleted; no platform tells by whom."""

    event_id: str
    """The platform's id of the event, the same on every redelivery."""
    place: Place
    """The place of the messages."""
    message_ids: tuple[str, ...]
    """The platform's ids of the deleted messages."""
    kind: Literal["deletion"] = "deletion"
    """The kind of event, as stored and as traces name it."""

    @property
    def author(self) -> None:
        """Unknown."""
        return None


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A person pressed a button or chose a row under a message of the assistant."""

    event_id: str
    """The platform's id of the event, the same on every redelivery."""
    place: Place
    """The place of the message with the button."""
    author: MessageAuthor
    """The person who pressed it."""
    value: str
    """The button's value."""
    label: str = ""
    """The button's text; empty if the platform does not tell it."""
    message_id: str = ""
    """The platform's id of the message with the button; empty if unknown."""
    reply_handle: str = field(default="", repr=False)
    """The adapter's handle to answer this press (an interaction token, a response URL), opaque to
    everything else."""
    shown: "Part | None" = field(default=None, repr=False)
    """The message without its buttons, where the adapter needs that to remove them; None
    elsewhere."""
    kind: Literal["button"] = "button"
    """The kind of event, as stored and as traces name it."""


@dataclass(frozen=True, slots=True)
class CommandInvoked:
    """A slash command, or a message that is a bot command."""

    event_id: str
    """The platform's id of the event, the same on every redelivery."""
    place: Place
    """The place in which it was written."""
    author: MessageAuthor
    """The person who wrote it."""
    name: str
    """The name in lower case, without the slash."""
    arguments: str = ""
    """The text behind the name."""
    message: ChatMessage | None = None
    """The message that is the command; None for a slash command of the platform."""
    reply_handle: str = field(default="", repr=False)
    """The adapter's handle to answer the command, opaque to everything else."""
    kind: Literal["command"] = "command"
    """The kind of event, as stored and as traces name it."""


@dataclass(frozen=True, slots=True)
class ReactionChanged:
    """A person added or removed a reaction."""

    event_id: str
    """The platform's id of the event, the same on every redelivery."""
    place: Place
    """The place of the message."""
    author: MessageAuthor
    """The person who reacted."""
    message_id: str
    """The platform's id of the message under which the reaction is."""
    emoji: str
    """The reaction as the platform names it; empty for all of the person's."""
    added: bool
    """True for a reaction that was added, false for a removed one."""
    kind: Literal["reaction"] = "reaction"
    """The kind of event, as stored and as traces name it."""


@dataclass(frozen=True, slots=True)
class MembershipChanged:
    """A person joined or left."""

    event_id: str
    """The platform's id of the event, the same on every redelivery."""
    place: Place
    """The channel, or a place in the workspace."""
    member: MessageAuthor
    """The person or the bot that joined or left."""
    joined: bool
    """True for a member who joined, false for one who left."""
    is_self: bool = False
    """True if the member is this bot."""
    whole_workspace: bool = False
    """True if the workspace of the place is meant, not only its channel."""
    kind: Literal["membership"] = "membership"
    """The kind of event, as stored and as traces name it."""

    @property
    def author(self) -> MessageAuthor:
        """The member."""
        return self.member


@dataclass(frozen=True, slots=True)
class InlineQueried:
    """A person types after the bot's name in any chat (Telegram's inline mode)."""

    event_id: str
    """The platform's id of the event, the same on every redelivery."""
    place: Place
    """A place for the person's queries; its audience is that of the chat, as far as it is known."""
    author: MessageAuthor
    """The person who types."""
    query: str
    """The text behind the bot's name."""
    kind: Literal["inline_query"] = "inline_query"
    """The kind of event, as stored and as traces name it."""


InboundEvent: TypeAlias = (
    MessageReceived
    | MessageEdited
    | MessageDeleted
    | ButtonPressed
    | CommandInvoked
    | ReactionChanged
    | MembershipChanged
    | InlineQueried
)
"""Every event has its `place`, and the `author`, None if the platform does not tell."""


def person_of(event: InboundEvent) -> PersonId | None:
    """Return the author of an event as an identity, None if the platform does not tell."""
    return None if event.author is None else event.place.identity(event.author)


@dataclass(frozen=True, slots=True)
class Button:
    """A button under an answer."""

    label: str
    """The text on the button."""
    value: str
    """The value that is returned when it is pressed, at most 64 bytes (Telegram)."""
    description: str = ""
    """A line below the label, where the platform shows choices as a list."""
    typed: str = ""
    """The word that answers a command's question where the platform has no buttons; empty: the
    label."""


class Choice(Struct, frozen=True):
    """A `Button` before it is shown in the language of its reader."""

    label: Text
    """Made with `gateway.text.label`, or the words of a person."""
    value: str
    typed: Text | None = None
    description: Text | None = None


Offered: TypeAlias = Any
"""A `Choice`; or a `Button` of code whose sentences are not in the catalogues yet."""


def button_in(language: Language, offered: Offered) -> Button:
    """Return a button as the readers of this language see it."""
    if isinstance(offered, Button):
        return offered
    typed, description = offered.typed, offered.description
    return Button(
        language.shown(offered.label),
        offered.value,
        language.shown(description) if description is not None else "",
        language.shown(typed) if typed is not None else "",
    )


@dataclass(frozen=True, slots=True)
class OutboundFile:
    """A file to send. In JSON its bytes are base64."""

    __pydantic_config__: ClassVar[dict[str, str]] = {
        "ser_json_bytes": "base64",
        "val_json_bytes": "base64",
    }

    name: str
    """The file's name, with its ending."""
    mime: str
    """The media type."""
    data: bytes = field(repr=False)
    """The content."""


@dataclass(frozen=True, slots=True)
class Part:
    """One message in the platform's format."""

    payload: str | dict[str, object]
    """The message's body: a text, or a dict with `blocks`."""
    text: str
    """The same without markup, for fallbacks, notifications and screen readers."""


class Notice(Struct, frozen=True):
    """A message to the direct conversation of a person who did not write just now. `person` is the
    reader's `str(PersonId)`."""

    person: str
    place: Place
    """The direct conversation of the reader."""
    markdown: Unconverted
    """The text, in Markdown."""
    buttons: tuple[Offered, ...] = ()
    """The buttons below the text."""
    buttons_until: datetime | None = None
    """The expiry of the buttons; None if they stay valid."""


class Reply(Struct, frozen=True):
    """An answer of the gateway before rendering. `private_to` names the only reader; `notices`
    inform other people, each in their own direct conversation. `leaves_buttons`: the press that it
    answers decided nothing, and the buttons stay. `forgets`: everything about the person was
    deleted, and nothing of this answer is kept either. `buttons_until`: the expiry of the buttons;
    None if they stay valid."""

    markdown: Unconverted
    """The text, in Markdown; empty for an answer without one."""
    buttons: tuple[Offered, ...] = ()
    """The buttons below the last message."""
    files: tuple[OutboundFile, ...] = ()
    """The files behind the text, in order."""
    private_to: str = ""
    notices: tuple[Notice, ...] = ()
    buttons_until: datetime | None = None
    leaves_buttons: bool = False
    forgets: bool = False

    def shown(self, language: Language) -> "Reply":
        """Return the answer with its words as the readers of this language see them; the notices
        have other readers."""
        buttons = tuple(button_in(language, one) for one in self.buttons)
        return replace(self, markdown=language.words(self.markdown), buttons=buttons)


NOTHING_SAID: Final = Reply("")


@dataclass(frozen=True, slots=True)
class Outbound:
    """One send: a rendered part or a file; or neither, which ends a command without an answer; or,
    with `clears`, the removal of the buttons under a message."""

    key: str
    """The same on every attempt and unique among all sends, so that a platform with nonces can
    recognise a repetition: see `send_key`."""
    place: Place
    """The place to send to."""
    part: Part | None = None
    """The rendered message; None for a file or for neither. With `clears`, the message's text for
    platforms that need it."""
    file: OutboundFile | None = None
    """The file; None for a message."""
    buttons: tuple[Button, ...] = ()
    """The buttons below the message."""
    reply_to_id: str = ""
    """The id of the answered message; empty for none."""
    private_to: str = ""
    """The id of the only reader of an ephemeral message; empty for a message to all readers."""
    reply_handle: str = field(default="", repr=False)
    """The adapter's handle of the command or the press that is answered; empty for none."""
    replaces: str = ""
    """The handle of the live message that this one replaces; empty for none."""
    person: str = field(default="", compare=False)
    """The `str(PersonId)` of the person whom it answers."""
    clears: str = ""
    """The id of the message whose buttons are removed; empty for none."""
    buttons_until: datetime | None = None
    """The expiry of the buttons; None if they stay valid."""
    supersedes: str = ""
    """The id of the message that the answered one replaces: a platform that shows the exchange
    removes it now, with its answer. Empty for none."""

    @property
    def turn_id(self) -> str:
        """The id of the turn that made the send."""
        return turn_id_of(self.key)

    @property
    def group(self) -> str:
        """The part of the key that the sends of one reply have in common."""
        return self.key.rpartition(":")[0]

    @property
    def is_empty(self) -> bool:
        """True if it shows nothing: it ends a command's waiting sign, or removes buttons."""
        return bool(self.clears) or (self.part is None and self.file is None)


def send_key(group: str, index: int) -> str:
    """Return the key of a send of a reply; `group` begins with the id of the turn."""
    return f"{group}:{index}"


def turn_id_of(key: str) -> str:
    """Return the id of the turn with which the key of a send begins."""
    return key.partition(":")[0]


class Receipt(Struct, frozen=True):
    """The platform's confirmation of a send."""

    message_id: str
    """The platform's id of the message, by which it is changed or deleted."""
    timestamp: datetime | None = None
    """The time of sending by the platform's clock, in UTC; None if it gives none."""
