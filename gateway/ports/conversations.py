"""Stored conversations: their turns, tasks and summaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple, Protocol

from gateway.authorship import Material, text_of
from gateway.conversation import ConversationKey
from gateway.message import Place

MAX_TASK: Final = 2_000
"""Characters of a task."""
MAX_SUMMARY: Final = 4_000


class StoredTurn(NamedTuple):
    """One message of a stored conversation. `speaker` is a person's name, empty for the assistant.
    `text` is the writer's own, `material` is text of others that a person showed. A tuple, because
    a message reads many of them."""

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


class Conversations(Protocol):
    """Messages to the assistant and its answers, by conversation."""

    async def append(self, key: ConversationKey, turns: Sequence[StoredTurn]) -> None:
        """Add the messages of one turn and their answer; a known message id is replaced."""

    async def latest(self, key: ConversationKey, limit: int) -> list[StoredTurn]:
        """Return the last turns, oldest first."""

    async def opened(
        self, key: ConversationKey, limit: int
    ) -> tuple[list[StoredTurn], ConversationNotes]:
        """Return the last turns, oldest first, with the notes of the conversation. Turns that the
        summary replaces may be missing, except the last of them."""

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """Return True if one of these messages is stored."""

    async def edit(self, tenant: str, place: Place, message_id: str, text: str) -> bool:
        """Replace the text of a stored message, in any conversation of the tenant's channel."""

    async def delete(self, tenant: str, place: Place, message_ids: Sequence[str]) -> int:
        """Delete these messages and the answers to them; returns the number of turns. Notes that
        derive from them are deleted too, also when a message is edited."""

    async def clear(self, key: ConversationKey) -> int:
        """Delete a whole conversation with its notes; returns the number of turns."""

    async def takes_part(self, key: ConversationKey) -> bool:
        """Return True if the assistant has written there."""

    async def prune(self, before: datetime) -> int:
        """Delete some turns from before then; returns how many, 0 at the end."""


class ConversationNoteStore(Protocol):
    """Stores notes. They are read with the turns (`Conversations.opened`) and deleted with them:
    when the conversation is cleared, and when the message they derive from is deleted or edited."""

    async def set_task(
        self, key: ConversationKey, task: ConversationTask | None, at: datetime
    ) -> None:
        """Replace the task; None removes it."""

    async def set_summary(
        self,
        key: ConversationKey,
        summary: ConversationSummary,
        at: datetime,
        turns: Sequence[StoredTurn] = (),
        before: ConversationSummary | None = None,
    ) -> bool:
        """Replace the summary. False, and nothing is stored, if one of the `turns` or the summary
        `before` that it derives from was changed or deleted meanwhile."""
