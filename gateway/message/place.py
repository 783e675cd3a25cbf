"""The places in which messages are written, and their authors."""

from dataclasses import dataclass, field
from typing import Final

from gateway.people import Audience, KnownIds, PersonId

MAX_LANGUAGE: Final = 35
MAX_ZONE: Final = 64
"""Characters of the name of a time zone."""
"""Characters of a language tag: the length that BCP 47 asks programs to hold."""


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
    zone: str = field(default="", compare=False)
    """Their time zone as the platform tells it, a name such as "Europe/Zurich"; empty if it tells
    none."""

    @property
    def known(self) -> KnownIds:
        """The further ids, for access lists."""
        return KnownIds(self.aliases, self.former)
