"""The messages of one person in stored conversations, and the assistant's activity."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Final, Literal, Protocol

from msgspec import Struct


class ProjectActivity(Struct, frozen=True):
    """Answered questions, people who asked, tokens, and cost in millionths of a dollar."""

    answered: int
    people: int
    tokens: int
    micros: int


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
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class SpokenRef:
    """A reference to one stored text in a known state.

    `channel` is "platform:account:channel", within which message ids are unique. `id` is the
    message's id; for an answer, that of the message under which it is stored; for a task or a
    summary, the conversation. `digest` is the digest of the text.
    """

    kind: SpokenKind
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
    channel: str
    id: str
    text: str
    at: datetime
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
