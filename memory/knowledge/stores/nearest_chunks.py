"""Finds chunks by the meaning of a question, in both databases: a model makes its vector, and
matrices in memory order the vectors of chunks.

A matrix holds the vectors of one partition, and is brought up to date before every search. It does
not decide what may be shown: the search reads the chunks under the rule of who may read, and those
that do not exist any more are removed from the matrix.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from msgspec import Struct

from db import Database, Row, Statement, among
from db.values import storable
from gateway.errors import ModelError
from memory.knowledge.ports import EMBED_SECONDS, ENOUGH
from memory.model.record import Embedding
from memory.ports.recall import Embedder
from memory.stores.matrices import Matrices, Matrix, Partition, best_first

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of all matrices together."""
SLACK: Final = 2
"""The room of a matrix that grows, as a multiple of what it holds."""
READ_AT_ONCE: Final = 1_000
"""Vectors that one step reads on the event loop: some milliseconds."""
SIZES: Final = Statement(f"""
    SELECT partition, chunks FROM knowledge_word_totals
    WHERE chunks > 0 AND {among("partition", "partitions")} ORDER BY chunks, partition
""")
NEW: Final = Statement(f"""
    SELECT number, vector FROM knowledge_vectors
    WHERE partition = :partition AND model = :model AND dimension = :dimension AND number > :last
    ORDER BY number LIMIT {READ_AT_ONCE}
""")
CHUNKS: Final = Statement(
    f"SELECT number, chunk FROM knowledge_vectors WHERE {among('number', 'numbers')}"
)

log = structlog.get_logger(__name__)


class _Searched(Struct, frozen=True):
    """A partition with the number of its chunks."""

    partition: Partition
    chunks: int


class NearestChunks:
    """The vectors of an index, as far as they are in memory."""

    def __init__(self, database: Database, max_bytes: int = MAX_BYTES) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._matrices = Matrices(max_bytes)
        self._searching = asyncio.Lock()
        self._is_reported = False

    @property
    def size(self) -> int:
        """Bytes of all matrices."""
        return self._matrices.size

    def max_vectors(self, dimension: int) -> int:
        """The number of vectors that one search compares at most."""
        return self._max_bytes // (SLACK * (2 * dimension + 8))

    async def nearest(
        self, partitions: Sequence[str], query: Embedding, limit: int
    ) -> dict[int, float]:
        """Do `Nearness.nearest`. One search at a time: matrices change while it reads them."""
        async with self._searching:
            rows = await self._database.fetch(SIZES, {"partitions": list(partitions)})
            chunks = sum(int(count) for _, count in rows)
            matrices = []
            for one in self._searched(rows, query):
                matrices.append(await self._current(one))
                self._matrices.trim(len(matrices))
            if not chunks or sum(map(len, matrices)) < ENOUGH * chunks:
                return {}
            portions = best_first(matrices, query.vector, limit)
            best = await asyncio.to_thread(next, portions, None) or []
            return await self._chunks(matrices, best)

    def _searched(self, rows: Sequence[Row], query: Embedding) -> list[_Searched]:
        """The partitions to compare; none if so many do not fit into memory that the rest is not
        enough."""
        most, together, searched = self.max_vectors(query.dimension), 0, []
        for name, chunks in rows:
            if together + int(chunks) > most:
                break
            together += int(chunks)
            place = Partition("chunk", name, storable(query.model), query.dimension)
            searched.append(_Searched(place, int(chunks)))
        if together < ENOUGH * sum(int(chunks) for _, chunks in rows):
            self._report(most)
            return []
        return searched

    def _report(self, most: int) -> None:
        if not self._is_reported:
            self._is_reported = True
            hint = "searches of more chunks use words only"
            log.warning("chunk_vectors_beyond_memory", chunks=most, hint=hint)

    async def _current(self, one: _Searched) -> Matrix:
        """The matrix of a partition with all vectors that the index holds by now."""
        partition = one.partition
        matrix = self._matrices.get(partition)
        if matrix is None or not await self._updated(matrix, one):
            matrix = self._begun(partition)
            await self._updated(matrix, one)
        return matrix

    def _begun(self, partition: Partition) -> Matrix:
        rows = max(1, self.max_vectors(partition.dimension))
        matrix = Matrix(partition.dimension, rows, half=True)
        self._matrices.put(partition, matrix)
        return matrix

    async def _updated(self, matrix: Matrix, one: _Searched) -> bool:
        """Read new vectors; False if the matrix has more of them than there are chunks, because
        some were deleted."""
        partition, more = one.partition, True
        named = {
            "partition": partition.name,
            "model": partition.model,
            "dimension": partition.dimension,
        }
        while more:
            rows = await self._database.fetch(NEW, {**named, "last": matrix.last})
            matrix.add(rows)
            more = len(rows) == READ_AT_ONCE
        return len(matrix) <= one.chunks

    async def _chunks(
        self, matrices: Sequence[Matrix], best: Sequence[tuple[int, float]]
    ) -> dict[int, float]:
        """The chunks of vectors; deleted vectors are removed from the matrices."""
        if not best:
            return {}
        rows = await self._database.fetch(CHUNKS, {"numbers": [number for number, _ in best]})
        chunks = {int(number): int(chunk) for number, chunk in rows}
        gone = [number for number, _ in best if number not in chunks]
        if gone:
            for matrix in matrices:
                matrix.drop(gone)
        return {chunks[number]: score for number, score in best if number in chunks}


PAUSE_SECONDS: Final = 30.0
"""How long searches use words only after a failure."""


class ModelNearness:
    """Implements `memory.knowledge.ports.Nearness` by an embedding model."""

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
