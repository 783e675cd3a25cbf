"""Looks memories up by their vectors in SQLite: a matrix in memory orders them, the query filters.

A matrix is read on first use and asked for what is new before every search, by number, so that
what another process wrote is there as well. What is gone is left out by the query, and from then
on by the matrix.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import structlog

from db import Database, Row, Statement, Work, among, fetch
from db.values import storable
from memory.model.record import Embedding
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.partitions import owners_within, room_key
from memory.stores.sqlite.vector_matrix import Matrices, Matrix, Partition, best_first

READ_AT_ONCE: Final = 1_000
"""Vectors that one step reads on the event loop: some milliseconds."""
FEWEST: Final = 50
"""Vectors that are looked up at least, because some may not fit the filter."""
ON_LOOP: Final = 20_000
"""Up to so many vectors are compared on the event loop, because a thread would cost more."""
NEW: Final = {
    column: Statement(f"""
        SELECT number, vector FROM memory_vectors INDEXED BY memory_vectors_{column}
        WHERE {column} = :name AND {column} <> '' AND model = :model AND number > :last
            AND dimension = :dimension
        ORDER BY number LIMIT {READ_AT_ONCE}
    """)  # noqa: S608 - constants
    for column in ("owner", "room")
}
OLDEST: Final = {
    column: Statement(f"""
        SELECT number FROM memory_vectors
        WHERE {column} = :name AND {column} <> '' AND model = :model
        ORDER BY number DESC LIMIT 1 OFFSET :rows
    """)  # noqa: S608 - constants
    for column in ("owner", "room")
}
PICK: Final = f"""
    SELECT v.number, m.id FROM memory_vectors v JOIN memories m ON m.seq = v.memory
    WHERE {among("v.number", "some")} AND
"""  # noqa: S608 - constants
GONE: Final = Statement("""
    SELECT value FROM json_each(:some)
    WHERE value NOT IN (SELECT number FROM memory_vectors
        WHERE number IN (SELECT value FROM json_each(:some)))
""")

log = structlog.get_logger(__name__)


class NearestVectors:
    """The vectors of a file, as far as they are in memory."""

    def __init__(self, database: Database, matrices: Matrices) -> None:
        self._database = database
        self._matrices = matrices

    async def nearest(
        self, access: AccessScope, query: Embedding, filters: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        """Do `RecallStore.nearest`."""
        matrices = [await self._current(partition) for partition in _partitions(access, query)]
        self._matrices.trim(len(matrices))
        portions = best_first(matrices, query.vector, max(FEWEST, limit * 3 // 2))
        hits: list[tuple[str, float]] = []
        while len(hits) < limit:
            if sum(map(len, matrices)) > ON_LOOP:
                some = await asyncio.to_thread(next, portions, None)
            else:
                some = next(portions, None)
            if not some:
                break
            hits += await self._picked(matrices, some, access, filters, now)
        return hits[:limit]

    async def _current(self, partition: Partition) -> Matrix:
        """The matrix of a partition with all vectors that the file holds by now."""
        matrix = self._matrices.get(partition)
        if matrix is None:
            matrix = await self._begun(partition)
            self._matrices.put(partition, matrix)
        more = True
        while more:
            params = _named(partition) | {"last": matrix.last, "dimension": partition.dimension}
            rows = await self._database.fetch(NEW[partition.column], params)
            matrix.add(rows)
            more = len(rows) == READ_AT_ONCE
        return matrix

    async def _begun(self, partition: Partition) -> Matrix:
        rows = self._matrices.max_rows(partition.dimension)
        oldest = await self._database.fetch(
            OLDEST[partition.column], _named(partition) | {"rows": rows}
        )
        if oldest:
            log.warning("vectors_beyond_memory", rows=rows, hint="older ones are found by words")
        return Matrix(partition.dimension, rows, oldest[0][0] if oldest else 0)

    async def _picked(
        self,
        matrices: Sequence[Matrix],
        some: Sequence[tuple[int, float]],
        access: AccessScope,
        filters: Filter,
        now: int,
    ) -> list[tuple[str, float]]:
        pick = statement(PICK + conditions_of(filters))
        values = values_of(access, filters, now) | {"some": [number for number, _ in some]}
        picked, gone = await self._database.run(lambda: _there(pick, values, len(some)))
        if gone:
            for matrix in matrices:
                matrix.drop(gone)
        return [(picked[number], score) for number, score in some if number in picked]


def _there(
    pick: Statement, values: Mapping[str, object], count: int
) -> Work[tuple[dict[int, str], list[int]]]:
    """Return the fitting ones of `count` vectors with their memory ids, and the deleted ones."""
    picked: dict[int, str] = dict((yield from fetch(pick, values)))
    if len(picked) == count:
        return picked, []
    gone: list[Row] = yield from fetch(GONE, values)
    return picked, [int(row[0]) for row in gone]


def _named(partition: Partition) -> dict[str, object]:
    return {"name": partition.name, "model": partition.model}


def _partitions(access: AccessScope, query: Embedding) -> list[Partition]:
    model, dimension = storable(query.model), query.dimension
    partitions = [Partition("owner", name, model, dimension) for name in owners_within(access)]
    if access.room:
        room = room_key(storable(access.tenant), storable(access.room))
        partitions.append(Partition("room", room, model, dimension))
    return partitions
