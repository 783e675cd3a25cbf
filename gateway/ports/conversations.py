"""Stored conversations: their turns, tasks and summaries."""

from datetime import datetime
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from gateway.authorship import Material, text_of

MAX_TASK: Final = 2_000
"""Characters of a task."""
MAX_SUMMARY: Final = 4_000


class StoredTurn(NamedTuple):
    """One message of a stored conversation. `speaker` is a person's name, empty for the assistant:
    an answer with a name was written by an operator. `text` is the writer's own, `material` is text
    of others that a person showed, and for an answer the authorship of what it was made from. A
    tuple, because a message reads many of them."""

    message_id: str
    role: Literal["user", "assistant"]
    text: str
    at: datetime
    person: str = ""
    speaker: str = ""
    material: tuple[Material, ...] = ()

    @property
    def whole(self) -> str:
        """Text and material together, to count tokens."""
        return f"{self.text}\n{text_of(self.material)}" if self.material else self.text


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
