"""A person's message and its files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from gateway.authorship import Material
from gateway.message.place import MessageAuthor, Place
from gateway.people import Audience, PersonId
from safety.unicode import safe_unicode

MAX_CONTENT = 40_000
"""Characters of one message that are kept: Slack's limit. Discord's and Telegram's are lower;
WhatsApp's app sends up to 65,536."""
AttachmentKind: TypeAlias = Literal["image", "audio", "video", "document", "sticker", "other"]
KIND_WORDS: Final[dict[AttachmentKind, str]] = {
    "image": "picture",
    "audio": "audio",
    "video": "video",
    "document": "file",
    "sticker": "sticker",
    "other": "file",
}
MAX_LABEL: Final = 100
"""Characters of a file's name that are shown."""
MAX_LABELS: Final = 10
"""Files of one message that are named."""
_NOT_IN_LABELS: Final = re.compile(r"[\x00-\x1f\x7f`]+")


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
    voice: bool = False
    """True for a voice message that the author of this message recorded for it; false for one that
    they forward, and for any other file with sound."""
    seconds: float | None = None
    """The length of a recording as its platform gives it, not verified; None if unknown."""

    @property
    def label(self) -> str:
        """Kind and name in one line without hidden characters: "picture: menu.png"."""
        kind, name = KIND_WORDS[self.kind], self.shown_name
        return f"{kind}: {name}" if name and name.casefold() != kind else kind

    @property
    def shown_name(self) -> str:
        """The name in one line without hidden characters, at most `MAX_LABEL` of them."""
        name = " ".join(safe_unicode(_NOT_IN_LABELS.sub(" ", self.name[:1_000])).split())
        return name[:MAX_LABEL].rstrip()


def image_mime(data: bytes) -> str:
    """Return the type of a picture that models read and pages show, "" for anything else. The bytes
    decide, not a name."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


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
