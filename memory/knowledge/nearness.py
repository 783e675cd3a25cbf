"""The meaning of a question in a search of repositories: its vector, and the nearest chunks."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from db import Database
from gateway.errors import ModelError
from memory.knowledge.ports import EMBED_SECONDS
from memory.knowledge.stores.nearest_chunks import NearestChunks
from memory.model.record import Embedding
from memory.ports.recall import Embedder

PAUSE_SECONDS: Final = 30.0
"""How long searches use words only after a failure."""

log = structlog.get_logger(__name__)


class ModelNearness:
    """Implements `memory.knowledge.ports.vectors.Nearness` by an embedding model."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        seconds: float = EMBED_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._nearest = NearestChunks(database)
        self._embedder = embedder
        self._seconds = seconds
        self._now = now
        self._paused_until = 0.0

    async def vector(self, text: str) -> Embedding | None:
        """The vector of a question; None if the model fails or is too slow."""
        if self._now() < self._paused_until:
            return None
        try:
            async with asyncio.timeout(self._seconds):
                return (await self._embedder.embed([text]))[0]
        except (ModelError, TimeoutError) as error:
            problem = str(error) or "the model took too long"
            log.warning("knowledge_search_without_vectors", error=problem)
            self._paused_until = self._now() + PAUSE_SECONDS
            return None

    async def nearest(
        self, partitions: Sequence[str], vector: Embedding, limit: int
    ) -> dict[int, float]:
        """The numbers of the nearest chunks, with their cosines. Raises `StoreUnavailable`."""
        return await self._nearest.nearest(partitions, vector, limit)
