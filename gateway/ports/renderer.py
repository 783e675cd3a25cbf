"""The port between an answer's tree and the messages of one platform."""

from typing import Protocol

from gateway.markdown.tree import Document
from gateway.message import Part


class Renderer(Protocol):
    """Writes a tree as the messages of one platform.

    Each part fits the platform's limit; `Part.payload` is what the adapter's `send` takes. The list
    is empty where there is nothing to see. A renderer does no I/O and may run in any thread.
    """

    def __call__(self, blocks: Document) -> list[Part]: ...
