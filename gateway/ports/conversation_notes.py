"""The task of a conversation and the summary of its older part."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol

from gateway.conversation import ConversationKey

MAX_TASK: Final = 2_000
"""Characters of a task."""
MAX_SUMMARY: Final = 4_000


@dataclass(frozen=True, slots=True)
class ConversationTask:
    """The topic of a conversation. `person` is a `str(PersonId)`, `name` the display name;
    `message_id` is the message that it comes from, empty for a task set by a command."""

    text: str
    person: str = ""
    name: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """Replaces the turns up to and including the one with this message and role, sent at `at`.
    `persons` are the people whose words it is derived from."""

    text: str
    message_id: str
    role: Literal["user", "assistant"]
    at: datetime
    persons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationNotes:
    """The task and the summary of one conversation; None for none."""

    task: ConversationTask | None = None
    summary: ConversationSummary | None = None


NO_NOTES: Final = ConversationNotes()


class ConversationNoteStore(Protocol):
    """Stores notes. They are read with the turns (`Conversations.opened`) and deleted with them:
    when the conversation is cleared, and when the message they derive from is deleted or edited."""

    async def set_task(
        self, key: ConversationKey, task: ConversationTask | None, at: datetime
    ) -> None:
        """Replace the task; None removes it."""

    async def set_summary(
        self, key: ConversationKey, summary: ConversationSummary, at: datetime
    ) -> None:
        """Replace the summary."""
