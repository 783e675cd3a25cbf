"""The words of a person in stored conversations, as that person finds and deletes them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Final, Literal, Protocol

SpokenKind = Literal["message", "answer", "task", "summary"]
DIGEST_BYTES: Final = 6


@dataclass(frozen=True, slots=True)
class Whose:
    """Of which people (`str(PersonId)`) of a tenant; with a `conversation` (a
    `str(ConversationKey)`) only what was said in it."""

    tenant: str
    persons: tuple[str, ...]
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class SpokenRef:
    """Names one stored text, as it was when it was looked at.

    `channel` is "platform:account:channel", within which ids of messages are unique. `id` is the
    message's, of an answer that of the message under which it is stored; of a task or a summary it
    is the conversation's. `digest` is that of the text.
    """

    kind: SpokenKind
    channel: str
    id: str
    digest: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of a person, the assistant's answer to one, a task that a person set, or a summary
    of a conversation that they took part in.

    `group` is the same for messages that were answered together and for their answer. The text of a
    summary may go back to other people as well: it is looked through, and never shown.
    """

    kind: SpokenKind
    channel: str
    id: str
    text: str
    at: datetime
    group: str = ""

    @property
    def ref(self) -> SpokenRef:
        """The name of this text as it is now."""
        return SpokenRef(self.kind, self.channel, self.id, digest_of(self.text))


class History(Protocol):
    """The words of people in stored conversations. Everything raises `StoreUnavailable`."""

    async def spoken(self, whose: Whose, limit: int) -> list[Spoken]:
        """The latest texts of these people, newest first, at most `limit` of them, and as many
        tasks and summaries."""

    async def forget(self, whose: Whose, refs: Sequence[SpokenRef]) -> list[SpokenRef]:
        """Delete those of these texts that are these people's and unchanged, with the summaries of
        the conversations that they stand in; returns what went."""


def digest_of(text: str) -> str:
    """Short, and another one for another text; no protection of the text itself."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=DIGEST_BYTES).hexdigest()


def unchanged(texts: Sequence[Spoken], refs: Collection[SpokenRef]) -> list[Spoken]:
    """Of these texts, those that are named and still say the same."""
    named = set(refs)
    return [one for one in texts if one.ref in named]
