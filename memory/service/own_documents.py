"""The documents that one person may read and write."""

from collections.abc import Sequence
from typing import Literal

from gateway.errors import BadInput
from memory.brain.documents import Brain, BrainResult
from memory.model.scope import AccessScope, RequestScope
from memory.model.trust import InputKind
from memory.ports.brain import LABELS, Document, Version

Writable = Literal["soul", "bible"]


class OwnDocuments:
    """Explicit changes of documents by a person. Every method raises `BadInput`, with words for the
    person, if the document is not available here."""

    def __init__(self, brain: Brain, request: RequestScope, access: AccessScope) -> None:
        self._brain = brain
        self._occasion = request
        self._reach = access

    async def read(self, document: Document) -> Version | None:
        """The newest version."""
        return await self._brain.read(self._reach, document)

    async def versions(self, document: Document) -> list[Version]:
        """Return all stored versions, newest first."""
        return await self._brain.versions(self._reach, document)

    async def write(
        self, document: Writable, text: str, *, based_on: int | None = None
    ) -> BrainResult:
        """Write it, or propose it where this person may not."""
        return await self._brain.write(
            self._occasion, self._reach, document, text, InputKind.EXPLICIT, based_on=based_on
        )

    async def restore(self, document: Writable, number: int) -> BrainResult:
        """Make an earlier version the newest one."""
        return await self._brain.restore(self._occasion, self._reach, document, number)

    async def take_back(self, document: Writable, number: int) -> bool:
        """Delete the newest version, where it has this number and is less than a day old."""
        return await self._brain.take_back(self._occasion, self._reach, document, number)

    async def undone_version(self, document: Writable) -> int:
        """Return the number of the version that an undo restores; a further undo goes one step
        further back."""
        before = standing_before(await self.versions(document))
        if before is None:
            raise BadInput(f"There is no earlier version of the {LABELS[document]}.")
        return before.number


def standing_before(kept: Sequence[Version]) -> Version | None:
    """Return the version that an undo restores, from versions newest first; None at the beginning.

    An undo adds a version. One with the content of the version before the replaced one counts as an
    undo, so each further undo goes one step back.
    """
    stood: list[Version] = []
    for version in reversed(kept):
        if len(stood) > 1 and stood[-2].content == version.content:
            stood.pop()
        elif not stood or stood[-1].content != version.content:
            stood.append(version)
    return stood[-2] if len(stood) > 1 else None
