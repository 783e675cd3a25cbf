"""Storage of the documents SOUL, BIBLE and HEARTBEAT, and of their versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol

from memory.model.scope import AccessScope

Document = Literal["soul", "bible", "heartbeat"]
LABELS: Final[Mapping[str, str]] = {
    "soul": "preferences",
    "bible": "project notes",
    "heartbeat": "status",
}
"""The names of the documents in chat."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document. `author` is a `str(PersonId)` or "system"; `number` counts from 1;
    `synced_at` is set for a HEARTBEAT."""

    document: Document
    number: int
    content: str
    author: str
    at: datetime
    synced_at: datetime | None = None


class BrainStore(Protocol):
    """Documents of people (SOUL) and of projects (BIBLE, HEARTBEAT), with up to 200 versions."""

    async def read(self, access: AccessScope, document: Document) -> Version | None:
        """Return the newest version; a SOUL only if `access.private`."""
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
        """Add a version; None if `based_on` is no longer the newest."""
        ...

    async def take_back(
        self, access: AccessScope, document: Document, number: int, author: str
    ) -> bool:
        """Delete this version if `author` wrote it and it is the newest."""
        ...

    async def versions(self, access: AccessScope, document: Document, limit: int) -> list[Version]:
        """Return versions, newest first."""
        ...


class FigureSource(Protocol):
    """A source of a project's figures."""

    async def figures(self) -> Mapping[str, object]:
        """Return names and values. Raises `SourceFailed`."""
        ...
