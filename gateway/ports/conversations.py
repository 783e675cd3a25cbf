"""Stored conversations: their turns, tasks and summaries; and the messages of one person,
also for an adapter that shows them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Final, Literal, NamedTuple, Protocol

from msgspec import Struct

from gateway.authorship import Material, text_of
from gateway.message import Attachment, Part, Place, labels_of

MAX_TASK: Final = 2_000
"""Characters of a task."""
MAX_SUMMARY: Final = 4_000


def with_files(
    material: tuple[Material, ...], files: tuple[Attachment, ...]
) -> tuple[Material, ...]:
    """Return material with one more piece, that names the files."""
    return (*material, Material("file", labels_of(files))) if files else material


class StoredTurn(NamedTuple):
    """One message of a stored conversation. `speaker` is a person's name, empty for the assistant:
    an answer with a name was written by an operator. `text` is the writer's own, `material` is text
    of others that a person showed, and for an answer the authorship of what it was made from;
    `files` came with the message. A tuple, because a message reads many of them."""

    message_id: str
    """The platform's id of the message; for an answer, that of the answered one."""
    role: Literal["user", "assistant"]
    """The writer: a person, or the assistant."""
    text: str
    at: datetime
    """The time of the message, in UTC."""
    person: str = ""
    speaker: str = ""
    material: tuple[Material, ...] = ()
    files: tuple[Attachment, ...] = ()

    @property
    def shown(self) -> tuple[Material, ...]:
        """The material, and the files by kind and name."""
        return with_files(self.material, self.files)

    @property
    def whole(self) -> str:
        """Text and shown material together, to search, and to count tokens."""
        shown = self.shown
        return f"{self.text}\n{text_of(shown)}" if shown else self.text


class QuotedTurn(NamedTuple):
    """A stored message that another one replies to. `part` is the index of the sent part of an
    answer, None for a message of a person."""

    turn: StoredTurn
    """The message."""
    part: int | None = None


class ConversationTask(Struct, frozen=True):
    """The topic of a conversation. `person` is a `str(PersonId)`, `name` the display name;
    `message_id` is the message that it comes from, empty for a task set by a command."""

    text: str
    """The task, at most `MAX_TASK` characters."""
    person: str = ""
    name: str = ""
    message_id: str = ""


class ConversationSummary(Struct, frozen=True):
    """Replaces the turns up to and including the one with this message and role, sent at `at`.
    `persons` are the people whose words it is derived from."""

    text: str
    """The summary, at most `MAX_SUMMARY` characters."""
    message_id: str
    """The id of the last message that it replaces."""
    role: Literal["user", "assistant"]
    at: datetime
    persons: tuple[str, ...] = ()


class ConversationNotes(Struct, frozen=True):
    """The task and the summary of one conversation; None for none. `documents`: it has a document
    that can be searched."""

    task: ConversationTask | None = None
    summary: ConversationSummary | None = None
    documents: bool = False


NO_NOTES: Final = ConversationNotes()


class ProjectActivity(Struct, frozen=True):
    """Answered questions, people who asked, tokens, and cost in millionths of a dollar."""

    answered: int
    """Answered questions."""
    people: int
    tokens: int
    micros: int
    """The cost in millionths of a dollar."""


class ActivityLog(Protocol):
    """Sums over traces and usage, without names and content."""

    async def of_project(self, tenant: str, project: str, since: datetime) -> ProjectActivity:
        """Return the sums of a project since then. `project` is "platform:account:id", where the id
        is a workspace's, or a channel's without a workspace; raises `BadInput` for any other text.
        """


SpokenKind = Literal["message", "answer", "task", "summary"]
DIGEST_BYTES: Final = 6


class Whose(Struct, frozen=True):
    """The selected people (`str(PersonId)`) of a tenant; with a `conversation` (a
    `str(ConversationKey)`) only their messages in it."""

    tenant: str
    persons: tuple[str, ...]
    """The people, each a `str(PersonId)`."""
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class SpokenRef:
    """A reference to one stored text in a known state.

    `channel` is "platform:account:channel", within which message ids are unique. `id` is the
    message's id; for an answer, that of the message under which it is stored; for a task or a
    summary, the conversation. `digest` is the digest of the text.
    """

    kind: SpokenKind
    """The kind of the text."""
    channel: str
    id: str
    digest: str


class Spoken(Struct, frozen=True):
    """A message of a person, the assistant's answer to one, a task that a person set, or a summary
    of a conversation in which they took part.

    `group` is the same for messages that were answered together and for their answer. A summary may
    also derive from other people: it is searched, and never shown.
    """

    kind: SpokenKind
    """The kind of the text."""
    channel: str
    """The channel, as in `SpokenRef`."""
    id: str
    """The id, as in `SpokenRef`."""
    text: str
    """The stored text."""
    at: datetime
    """The time of the text, in UTC."""
    group: str = ""

    @property
    def ref(self) -> SpokenRef:
        """The reference to this text in its present state."""
        return SpokenRef(self.kind, self.channel, self.id, digest_of(self.text))


class History(Protocol):
    """The words of people in stored conversations. Everything raises `StoreUnavailable`."""

    async def spoken(self, whose: Whose, limit: int) -> list[Spoken]:
        """The latest texts of these people, newest first, at most `limit` of them, and as many
        tasks and summaries."""

    async def forget(self, whose: Whose, refs: Sequence[SpokenRef]) -> list[SpokenRef]:
        """Delete those of these texts that are these people's and unchanged, with the summaries of
        their conversations; returns the deleted ones."""


def digest_of(text: str) -> str:
    """Return a short digest of a text; it does not protect the text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=DIGEST_BYTES).hexdigest()


def unchanged(texts: Sequence[Spoken], refs: Collection[SpokenRef]) -> list[Spoken]:
    """Return the texts that are referenced and unchanged."""
    named = set(refs)
    return [one for one in texts if one.ref in named]


class MessageName(NamedTuple):
    """The name of a stored message. `id` is that of the person's message; an answer has the id of
    the last message that it answers."""

    id: str
    by: Literal["person", "assistant"]
    """The writer."""


class OwnConversation(Struct, frozen=True):
    """A stored conversation: its thread, the beginning of its first message, and the time of its
    last message. The beginning may be empty, for a message with files only."""

    thread_id: str
    """The platform's id of the thread; empty outside threads."""
    beginning: str
    at: datetime
    """The time of the last message, in UTC."""


class OwnMessage(Struct, frozen=True):
    """A stored message, without its secrets. `parts` show an answer on the adapter's platform."""

    name: MessageName
    """The name by which the message is deleted."""
    at: datetime
    """The time of the message, in UTC."""
    text: str
    """The text; Markdown for an answer."""
    parts: tuple[Part, ...] = ()


class OwnConversations(Protocol):
    """Reads what one person and the assistant wrote in a direct place, whose channel belongs to
    this person alone. Everything raises `StoreUnavailable` and `TenantUnknown`."""

    async def listed(self, place: Place, person: str, limit: int) -> list[OwnConversation]:
        """Return the latest conversations in the place's channel, newest first, in which the person
        (an author's id) wrote."""

    async def names(self, place: Place, person: str, limit: int) -> list[MessageName]:
        """Return the names of the latest messages of the place, oldest first."""

    async def messages(self, place: Place, person: str, limit: int) -> list[OwnMessage]:
        """Return the latest messages of the place, oldest first; fewer if they are long."""
