"""The documents SOUL, BIBLE and HEARTBEAT, and their versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from memory.model.scope import AccessScope

Document = Literal["soul", "bible", "heartbeat"]


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a document. `author` is a `str(PersonId)`, or "system"; `number` counts from 1.

    `synced_at` is set for a HEARTBEAT.
    """

    document: Document
    number: int
    content: str
    author: str
    at: datetime
    synced_at: datetime | None = None


class BrainStore(Protocol):
    """SOUL by person, BIBLE and HEARTBEAT by project; every version is kept, 200 at most."""

    async def read(self, access: AccessScope, document: Document) -> Version | None:
        """The newest version within reach: a SOUL only where `access.private`."""
        ...

    async def write(
        self,
        access: AccessScope,
        document: Document,
        content: str,
        author: str,
        at: datetime,
        *,
        based_on: int | None = None,
        synced_at: datetime | None = None,
    ) -> Version | None:
        """Add a version; None when `based_on` is not the newest any more."""
        ...

    async def take_back(
        self, access: AccessScope, document: Document, number: int, author: str
    ) -> bool:
        """Delete this version, if `author` wrote it and it is the newest; the one before it counts
        again."""
        ...

    async def versions(self, access: AccessScope, document: Document, limit: int) -> list[Version]:
        """Newest first."""
        ...
