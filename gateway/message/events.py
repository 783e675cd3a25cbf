"""The events of platforms. Raw payloads are parsed into these once, in
`adapters/<platform>/parse.py`; no other code uses a raw dictionary."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gateway.message.chat_message import ChatMessage
from gateway.message.outbound import Part
from gateway.message.place import MessageAuthor, Place
from gateway.people import PersonId


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
    shown: Part | None = field(default=None, repr=False)
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
