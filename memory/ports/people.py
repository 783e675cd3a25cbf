"""Storage of projects, choices about privacy, waiting notices and sessions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from msgspec import Struct

from memory.ports.brain import Document, Version


class PersonChoices(Struct, frozen=True):
    """A person's choices, and what is known about them.

    `persons` are the linked identities, their own included, at most 10. `project` is the one chosen
    for direct messages; `seen` says which of `persons` were seen in the project of this request
    (the room's, or the chosen one), and when last. `memory_off`: off for one of `persons` and so
    for all; `off_here`: off for this person in this conversation. `notes` is None without a choice.
    `waiting_notices` are the notices that wait for the next direct message, oldest first.
    """

    persons: tuple[str, ...]
    project: str = ""
    shows_private: bool = False
    seen: tuple[tuple[str, datetime], ...] = ()
    memory_off: bool = False
    off_here: bool = False
    notes: bool | None = None
    waiting_notices: tuple[str, ...] = ()

    @property
    def remembered(self) -> bool:
        """False if nothing of this person is recalled or stored."""
        return not (self.memory_off or self.off_here)


class Session(Struct, frozen=True):
    """A person in a conversation until 30 minutes idle. Its brief is frozen as of `brief_at`."""

    id: str
    brief_at: datetime | None = None


class TurnStart(Struct, frozen=True):
    """The person, the session and the newest readable version of each document. `remembers` is
    false if there is certainly no visible memory."""

    who: PersonChoices
    session: Session
    documents: Mapping[Document, Version]
    remembers: bool = True


SessionUse = Literal["stores", "supersedes", "deletes"]
