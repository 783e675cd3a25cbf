"""Finds memories by their vectors in SQLite: a matrix in memory orders them, the query filters.

A matrix is read on first use and updated with new vectors before every search, by number, so that
it includes those of other processes. The query omits deleted memories, which are then removed from
the matrix. A matrix does not decide what may be shown: it orders numbers of vectors by similarity,
and the query determines which of them exist, for whom, and under which filter.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import structlog
from msgspec import Struct

from db import Database, Row, Statement, Work, among, fetch
from db.values import storable
from memory.stores.filters import VectorQuery, conditions_of, statement, values_of
from memory.stores.matrices import Matrices, Matrix, Partition, best_first
from memory.stores.partitions import owners_within, room_key

READ_AT_ONCE: Final = 1_000
"""Vectors that one step reads on the event loop: some milliseconds."""
FEWEST: Final = 50
"""Minimum number of vectors to look up, because some may not match the filter."""
ON_LOOP: Final = 20_000
"""Up to so many vectors are compared on the event loop, because a thread would cost more."""
NEW: Final = {
    column: Statement(f"""
        SELECT number, vector FROM memory_vectors INDEXED BY memory_vectors_{column}
        WHERE {column} = :name AND {column} <> '' AND model = :model AND number > :last
            AND dimension = :dimension
        ORDER BY number LIMIT {READ_AT_ONCE}
    """)
    for column in ("owner", "room")
} | {
    "share": Statement(f"""
        SELECT n.number, v.vector FROM share_vectors n JOIN memory_vectors v ON v.number = n.vector
        WHERE n.name = :name AND n.model = :model AND n.number > :last AND v.dimension = :dimension
        ORDER BY n.number LIMIT {READ_AT_ONCE}
    """)
}
OLDEST: Final = {
    column: Statement(f"""
        SELECT number FROM memory_vectors
        WHERE {column} = :name AND {column} <> '' AND model = :model
        ORDER BY number DESC LIMIT 1 OFFSET :rows
    """)
    for column in ("owner", "room")
} | {
    "share": Statement("""
        SELECT number FROM share_vectors WHERE name = :name AND model = :model
        ORDER BY number DESC LIMIT 1 OFFSET :rows
    """)
}


class Numbered(Struct, frozen=True):
    """A table whose rows number vectors: `pick` is the beginning of the statement that reads the
    ids of the memories, `gone` finds the numbers that are no longer there."""

    pick: str
    gone: Statement


def _numbered(table: str, pick: str) -> Numbered:
    gone = f"""
        SELECT value FROM json_each(:some)
        WHERE value NOT IN (SELECT number FROM {table}
            WHERE number IN (SELECT value FROM json_each(:some)))
    """
    return Numbered(f"{pick} WHERE {among('v.number', 'some')} AND ", Statement(gone))


OWN: Final = _numbered(
    "memory_vectors",
    "SELECT v.number, m.id FROM memory_vectors v JOIN memories m ON m.seq = v.memory",
)
SHARED: Final = _numbered(
    "share_vectors",
    """SELECT v.number, m.id FROM share_vectors v JOIN pool_memories s ON s.seq = v.share
        JOIN memories m ON m.seq = s.number""",
)

log = structlog.get_logger(__name__)


class NearestVectors:
    """The vectors of a file, as far as they are in memory."""

    def __init__(self, database: Database, matrices: Matrices) -> None:
        self._database = database
        self._matrices = matrices

    async def nearest(self, query: VectorQuery) -> list[tuple[str, float]]:
        """Do `VectorSearch.nearest`."""
        limit = query.limit
        matrices = [await self._current(partition) for partition in _partitions(query)]
        self._matrices.trim(len(matrices))
        portions = best_first(matrices, query.vector.vector, max(FEWEST, limit * 3 // 2))
        hits: list[tuple[str, float]] = []
        while len(hits) < limit:
            if sum(map(len, matrices)) > ON_LOOP:
                some = await asyncio.to_thread(next, portions, None)
            else:
                some = next(portions, None)
            if not some:
                break
            hits += await self._picked(matrices, some, query)
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
        query: VectorQuery,
    ) -> list[tuple[str, float]]:
        access, filters, table = query.access, query.filters, SHARED if query.shares else OWN
        pick = statement(table.pick + conditions_of(access, filters))
        values = values_of(access, filters, query.now) | {"some": [number for number, _ in some]}
        picked, gone = await self._database.run(lambda: _there(pick, table.gone, values, len(some)))
        if gone:
            for matrix in matrices:
                matrix.drop(gone)
        return [(picked[number], score) for number, score in some if number in picked]


def _there(
    pick: Statement, missing: Statement, values: Mapping[str, object], count: int
) -> Work[tuple[dict[int, str], list[int]]]:
    """Return the fitting ones of `count` vectors with their memory ids, and the deleted ones."""
    picked: dict[int, str] = dict((yield from fetch(pick, values)))
    if len(picked) == count:
        return picked, []
    gone: list[Row] = yield from fetch(missing, values)
    return picked, [int(row[0]) for row in gone]


def _named(partition: Partition) -> dict[str, object]:
    return {"name": partition.name, "model": partition.model}


def _partitions(query: VectorQuery) -> list[Partition]:
    access, model, dimension = query.access, storable(query.vector.model), query.vector.dimension
    if query.shares:
        return [Partition("share", name, model, dimension) for name in query.shares]
    partitions = [Partition("owner", name, model, dimension) for name in owners_within(access)]
    if access.room:
        room = room_key(storable(access.tenant), storable(access.room))
        partitions.append(Partition("room", room, model, dimension))
    return partitions
