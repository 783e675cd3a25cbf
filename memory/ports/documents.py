"""Storage of the documents SOUL, BIBLE and HEARTBEAT, and of their versions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

Document = Literal["soul", "bible", "heartbeat"]
LABELS: Final[Mapping[str, str]] = {
    "soul": "preferences",
    "bible": "project notes",
    "heartbeat": "status",
}
"""The names of the documents in chat."""


class Version(Struct, frozen=True):
    """A version of a document. `author` is a `str(PersonId)` or "system"; `number` counts from 1;
    `synced_at` is set for a HEARTBEAT."""

    document: Document
    number: int
    content: str
    """The whole text, at most 10,000 characters."""
    author: str
    at: datetime
    """The time of writing."""
    synced_at: datetime | None = None
