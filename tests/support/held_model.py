"""A model that answers with a test's text at a test's command."""

import asyncio
from collections.abc import AsyncIterator

from gateway.errors import ModelError
from gateway.ports import (
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
    TextDelta,
    Usage,
)
from tests.support.waiting import eventually


class HeldModel:
    """Implements `LLMProvider`. Every call says what was put in: pieces, an error or the end."""

    name = "held"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self._script: asyncio.Queue[str | ModelError | None] = asyncio.Queue()

    async def asked(self) -> None:
        """Return once a question has come."""
        await eventually(lambda: self.requests)

    def write(self, *pieces: str) -> None:
        """Say these now."""
        for piece in pieces:
            self._script.put_nowait(piece)

    def end(self) -> None:
        """The answer is complete."""
        self._script.put_nowait(None)

    def fail(self, error: ModelError) -> None:
        """The connection to the model breaks."""
        self._script.put_nowait(error)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        text = ""
        while (piece := await self._script.get()) is not None:
            if isinstance(piece, ModelError):
                raise piece
            text += piece
            yield TextDelta(piece)
        message = ModelMessage("assistant", (TextBlock(text),))
        yield ModelFinished(message, "end", Usage(10, 10), self.name)

    async def close(self) -> None:
        """Do nothing."""
