"""What is kept of a conversation besides its turns: its task, and a summary of its older part."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol

from gateway.conversation import ConversationKey

MAX_TASK: Final = 2_000
"""Characters of a task."""
MAX_SUMMARY: Final = 4_000


@dataclass(frozen=True, slots=True)
class ConversationTask:
    """What a conversation is about. `person` is a `str(PersonId)`, `name` what people call them;
    `message_id` is that of the message it comes from, empty where a person set it by a command."""

    text: str
    person: str = ""
    name: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """What stands for the turns up to and including the one with this message and role, said at
    `at`. `persons` are those whose words it goes back to."""

    text: str
    message_id: str
    role: Literal["user", "assistant"]
    at: datetime
    persons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationNotes:
    """Everything of one conversation; None for what there is none of."""

    task: ConversationTask | None = None
    summary: ConversationSummary | None = None


NO_NOTES: Final = ConversationNotes()


class ConversationNoteStore(Protocol):
    """Keeps notes. They are read with the turns (`Conversations.opened`), and go with them: when
    the conversation is cleared, and what goes back to a message when that is deleted or edited."""

    async def set_task(
        self, key: ConversationKey, task: ConversationTask | None, at: datetime
    ) -> None:
        """Replace the task; None leaves none."""
        ...

    async def set_summary(
        self, key: ConversationKey, summary: ConversationSummary, at: datetime
    ) -> None:
        """Replace the summary."""
        ...
