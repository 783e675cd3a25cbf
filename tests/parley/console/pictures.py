"""A platform that gives pictures, in place of the page's own files."""

import asyncio
from dataclasses import dataclass, field

import pytest

from gateway.errors import Permanent, UsageError
from gateway.immutable import replace
from gateway.message import Attachment
from parley.testing.contract.features import PNG
from tests.parley.console.kit import Console


@dataclass
class Gives:
    """Gives files and pictures of people, and notes what it was asked for. A value None never
    comes; an error is raised."""

    files: dict[str, bytes | Exception | None] = field(default_factory=dict)
    people: dict[str, bytes | Exception | None] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        return await self._give(self.files, attachment.ref, limit)

    async def portrait(self, person: str, limit: int) -> bytes:
        return await self._give(self.people, person, limit)

    async def _give(
        self, given: dict[str, bytes | Exception | None], name: str, limit: int
    ) -> bytes:
        self.asked.append(name)
        found = given.get(name, Permanent("unknown"))
        if found is None:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            try:
                await asyncio.Event().wait()
            finally:
                self.at_once -= 1
        if not isinstance(found, bytes):
            raise found or AssertionError
        if len(found) > limit:
            raise UsageError("too large")
        return found


def gives(console: Console, monkeypatch: pytest.MonkeyPatch) -> Gives:
    """Let the platform of a console give pictures: "p" is a picture of a message."""
    platform = Gives({"p": PNG})
    accounts = console.app.services.connected
    assert isinstance(accounts, dict)
    account = replace(accounts["web", "main"], files=platform, portraits=platform)
    monkeypatch.setitem(accounts, ("web", "main"), account)
    return platform


def picture(
    ref: str = "p", name: str = "menu.png", mime: str = "image/png", size: int | None = None
) -> Attachment:
    """A picture of a message."""
    return Attachment("image", ref, name, mime, size)
