"""Looks memories up by their vectors in SQLite: a matrix in memory orders them, the query filters.

A matrix is read on first use and asked for what is new before every search, by number, so that
what another process wrote is there as well. What is gone is left out by the query, and from then
on by the matrix.
"""

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Final

import structlog

from db.sqlite import SqliteDatabase
from db.values import storable
from memory.record import Embedding
from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.shelves import owners_within, room_key
from memory.store.sqlite.conditions import conditions_of
from memory.store.sqlite.matrix import Matrices, Matrix, Shelf, best_first

READ_AT_ONCE: Final = 1_000
"""Vectors that one step reads, because nothing else is done meanwhile: some milliseconds."""
FEWEST: Final = 50
"""Vectors that are looked up at least, because some of them may not fit the filter."""
ON_LOOP: Final = 20_000
"""Vectors up to which comparing takes the event loop less than going to a thread would."""
NEW: Final = {
    column: f"""
        SELECT number, vector FROM memory_vectors INDEXED BY memory_vectors_{column}
        WHERE {column} = :name AND {column} <> '' AND model = :model AND number > :last
            AND dimension = :dimension
        ORDER BY number LIMIT {READ_AT_ONCE}
    """  # noqa: S608 - constants
    for column in ("owner", "room")
}
OLDEST: Final = {
    column: f"""
        SELECT number FROM memory_vectors
        WHERE {column} = :name AND {column} <> '' AND model = :model
        ORDER BY number DESC LIMIT 1 OFFSET :rows
    """  # noqa: S608 - constants
    for column in ("owner", "room")
}
PICK: Final = """
    SELECT v.number, m.id FROM memory_vectors v JOIN memories m ON m.seq = v.memory
    WHERE v.number IN (SELECT value FROM json_each(:some)) AND """
GONE: Final = """
    SELECT value FROM json_each(:some)
    WHERE value NOT IN (SELECT number FROM memory_vectors
        WHERE number IN (SELECT value FROM json_each(:some)))
"""

log = structlog.get_logger(__name__)


class NearestVectors:
    """The vectors of a file, as far as they are in memory."""

    def __init__(self, engine: SqliteDatabase, matrices: Matrices) -> None:
        self._engine = engine
        self._matrices = matrices

    async def nearest(
        self, reach: Reach, query: Embedding, wanted: Filter, limit: int, now: float
    ) -> list[tuple[str, float]]:
        """What `RecallStore.nearest` does: ids and cosines."""
        matrices = [await self._current(shelf) for shelf in _shelves(reach, query)]
        self._matrices.trim(len(matrices))
        portions = best_first(matrices, query.vector, max(FEWEST, limit * 3 // 2))
        found: list[tuple[str, float]] = []
        while len(found) < limit:
            if sum(map(len, matrices)) > ON_LOOP:
                some = await asyncio.to_thread(next, portions, None)
            else:
                some = next(portions, None)
            if not some:
                break
            found += await self._picked(matrices, some, reach, wanted, now)
        return found[:limit]

    async def _current(self, shelf: Shelf) -> Matrix:
        """The matrix of a shelf with everything that is in the file by now."""
        matrix = self._matrices.get(shelf)
        if matrix is None:
            matrix = await self._begun(shelf)
            self._matrices.put(shelf, matrix)
        more = True
        while more:
            rows = await self._engine.run_job(partial(_new, shelf=shelf, last=matrix.last))
            matrix.add(rows)
            more = len(rows) == READ_AT_ONCE
        return matrix

    async def _begun(self, shelf: Shelf) -> Matrix:
        rows = self._matrices.max_rows(shelf.dimension)
        asked = {"name": shelf.name, "model": shelf.model, "rows": rows}
        oldest = await self._engine.run_job(
            lambda db: db.execute(OLDEST[shelf.column], asked).fetchone()
        )
        if oldest is not None:
            log.warning("vectors_beyond_memory", rows=rows, hint="older ones are found by words")
        return Matrix(shelf.dimension, rows, oldest[0] if oldest else 0)

    async def _picked(
        self,
        matrices: Sequence[Matrix],
        some: Sequence[tuple[int, float]],
        reach: Reach,
        wanted: Filter,
        now: float,
    ) -> list[tuple[str, float]]:
        conditions, values = conditions_of(reach, wanted, now)
        values["some"] = json.dumps([number for number, _ in some])
        sql = PICK + " AND ".join(conditions)

        def job(db: sqlite3.Connection) -> tuple[dict[int, str], list[int]]:
            picked = dict(db.execute(sql, values).fetchall())
            if len(picked) == len(some):
                return picked, []
            return picked, [int(row[0]) for row in db.execute(GONE, values)]

        picked, gone = await self._engine.run_job(job)
        if gone:
            for matrix in matrices:
                matrix.drop(gone)
        return [(picked[number], score) for number, score in some if number in picked]


def _new(db: sqlite3.Connection, shelf: Shelf, last: int) -> list[tuple[int, bytes]]:
    asked = {
        "name": shelf.name,
        "model": shelf.model,
        "dimension": shelf.dimension,
        "last": last,
    }
    return db.execute(NEW[shelf.column], asked).fetchall()


def _shelves(reach: Reach, query: Embedding) -> list[Shelf]:
    model, dimension = storable(query.model), query.dimension
    shelves = [Shelf("owner", name, model, dimension) for name in owners_within(reach)]
    if reach.room:
        room = room_key(storable(reach.tenant), storable(reach.room))
        shelves.append(Shelf("room", room, model, dimension))
    return shelves
