"""Stored conversations: their turns, tasks and summaries."""

from datetime import datetime
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from gateway.authorship import Material, text_of
from gateway.message import Attachment, labels_of

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
    role: Literal["user", "assistant"]
    text: str
    at: datetime
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
    part: int | None = None


class ConversationTask(Struct, frozen=True):
    """The topic of a conversation. `person` is a `str(PersonId)`, `name` the display name;
    `message_id` is the message that it comes from, empty for a task set by a command."""

    text: str
    person: str = ""
    name: str = ""
    message_id: str = ""


class ConversationSummary(Struct, frozen=True):
    """Replaces the turns up to and including the one with this message and role, sent at `at`.
    `persons` are the people whose words it is derived from."""

    text: str
    message_id: str
    role: Literal["user", "assistant"]
    at: datetime
    persons: tuple[str, ...] = ()


class ConversationNotes(Struct, frozen=True):
    """The task and the summary of one conversation; None for none."""

    task: ConversationTask | None = None
    summary: ConversationSummary | None = None


NO_NOTES: Final = ConversationNotes()
