"""Finds memories by their vectors in SQLite: a matrix in memory orders them, the query filters.

A matrix is read on first use and updated with new vectors before every search, by number, so that
it includes those of other processes. The query omits deleted memories, which are then removed from
the matrix. A matrix does not decide what may be shown: it orders numbers of vectors by similarity,
and the query determines which of them exist, for whom, and under which filter.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import structlog

from db import Database, Row, Statement, Work, among, fetch
from db.values import storable
from memory.model.record import Embedding
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.partitions import owners_within, room_key

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of all matrices together: 174,000 vectors of 384 numbers."""
FIRST_ROWS: Final = 64
TOO_FEW_ALIVE: Final = 0.75
"""The share of remaining rows below which a matrix is rebuilt without the others."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Partition:
    """A group of vectors: `column` is "owner" or "room", `name` its value; or "share" and the name
    of an audience."""

    column: str
    name: str
    model: str
    dimension: int


class Matrix:
    """Unit vectors with increasing numbers. `last` is the highest number that was read."""

    def __init__(self, dimension: int, max_rows: int, last: int = 0) -> None:
        self._rows: Floats = np.empty((FIRST_ROWS, dimension), np.float32)
        self._numbers = np.empty(FIRST_ROWS, np.int64)
        self._count = 0
        self._max_rows = max_rows
        self._gone: set[int] = set()
        self.last = last

    def __len__(self) -> int:
        return self._count

    @property
    def size(self) -> int:
        """In bytes."""
        return self._rows.nbytes + self._numbers.nbytes

    def add(self, numbered: Sequence[tuple[int, bytes]]) -> None:
        """Add vectors (number, float32 little-endian), the lowest number first; those that were
        added already are left out. Where there is no room the oldest go."""
        new = [(number, data) for number, data in numbered if number > self.last]
        if not new:
            return
        if self._count + len(new) > self._max_rows:
            self._keep(np.arange(self._count) >= self._count + len(new) - self._max_rows * 3 // 4)
        self._reserve(self._count + len(new))
        rows = np.frombuffer(b"".join(data for _, data in new), "<f4").reshape(len(new), -1)
        upto = self._count + len(new)
        self._rows[self._count : upto] = _unit(rows)
        self._numbers[self._count : upto] = [number for number, _ in new]
        self._count, self.last = upto, new[-1][0]

    def drop(self, numbers: Sequence[int]) -> None:
        """Remove deleted vectors."""
        self._gone.update(numbers)
        if self._gone and len(self._gone) > (1 - TOO_FEW_ALIVE) * self._count:
            self._keep(~np.isin(self._numbers[: self._count], list(self._gone)))
            self._gone.clear()

    def similar(self, query: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
        """The numbers, and the cosine of each to a unit vector."""
        numbers, scores = self._numbers[: self._count], self._rows[: self._count] @ query
        if self._gone:
            there = ~np.isin(numbers, list(self._gone))
            return numbers[there], scores[there]
        return numbers, scores

    def _reserve(self, count: int) -> None:
        if count > len(self._numbers):
            capacity = max(count, min(2 * len(self._numbers), self._max_rows))
            rows = np.empty((capacity, self._rows.shape[1]), np.float32)
            numbers = np.empty(capacity, np.int64)
            rows[: self._count] = self._rows[: self._count]
            numbers[: self._count] = self._numbers[: self._count]
            self._rows, self._numbers = rows, numbers

    def _keep(self, kept_rows: npt.NDArray[np.bool_]) -> None:
        self._rows = self._rows[: self._count][kept_rows]
        self._numbers = self._numbers[: self._count][kept_rows]
        self._count = len(self._numbers)


class Matrices:
    """The matrices that were used last, within a bound of memory."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Partition, Matrix] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(matrix.size for matrix in self._kept.values())

    def max_rows(self, dimension: int) -> int:
        """Vectors that one matrix holds at most."""
        return max(FIRST_ROWS, self._max_bytes // (dimension * 4 + 8))

    def get(self, partition: Partition) -> Matrix | None:
        """The matrix of a partition, None when it is not in memory."""
        matrix = self._kept.get(partition)
        if matrix is not None:
            self._kept.move_to_end(partition)
        return matrix

    def put(self, partition: Partition, matrix: Matrix) -> None:
        """Store a matrix."""
        self._kept[partition] = matrix

    def trim(self, in_use: int) -> None:
        """Drop the least recently used matrix, except the `in_use` latest."""
        while len(self._kept) > in_use and self.size > self._max_bytes:
            self._kept.popitem(last=False)


def best_first(
    matrices: Sequence[Matrix], query: Sequence[float], first: int
) -> Iterator[list[tuple[int, float]]]:
    """Numbers and cosines of all, best first, in portions that grow from `first`; each number
    once."""
    unit = _unit(np.asarray(query, np.float32)[None, :])[0]
    similarities = [matrix.similar(unit) for matrix in matrices if len(matrix)]
    if not similarities:
        return
    numbers = np.concatenate([one for one, _ in similarities])
    scores = np.concatenate([one for _, one in similarities])
    if len(similarities) > 1:  # a message in a room also belongs to its author
        numbers, places = np.unique(numbers, return_index=True)
        scores = scores[places]
    begin, portion = 0, first
    while begin < len(numbers):
        end = min(begin + portion, len(numbers))
        order = _order(numbers, scores, end)[begin:]
        yield list(zip(numbers[order].tolist(), scores[order].tolist(), strict=True))
        begin, portion = end, portion * 4


def _order(numbers: npt.NDArray[np.int64], scores: Floats, count: int) -> npt.NDArray[np.int64]:
    """The places of the `count` best; of those that are alike the newer come first."""
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    places = np.flatnonzero(scores >= least)
    order: npt.NDArray[np.int64] = places[np.lexsort((-numbers[places], -scores[places]))]
    return order[:count]


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


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
    """)  # noqa: S608 - constants of this module
    for column in ("owner", "room")
} | {
    "share": Statement(f"""
        SELECT n.number, v.vector FROM share_vectors n JOIN memory_vectors v ON v.number = n.vector
        WHERE n.name = :name AND n.model = :model AND n.number > :last AND v.dimension = :dimension
        ORDER BY n.number LIMIT {READ_AT_ONCE}
    """)  # noqa: S608 - constants of this module
}
OLDEST: Final = {
    column: Statement(f"""
        SELECT number FROM memory_vectors
        WHERE {column} = :name AND {column} <> '' AND model = :model
        ORDER BY number DESC LIMIT 1 OFFSET :rows
    """)  # noqa: S608 - constants of this module
    for column in ("owner", "room")
} | {
    "share": Statement("""
        SELECT number FROM share_vectors WHERE name = :name AND model = :model
        ORDER BY number DESC LIMIT 1 OFFSET :rows
    """)
}


@dataclass(frozen=True, slots=True)
class Numbered:
    """A table whose rows number vectors: `pick` is the beginning of the statement that reads the
    ids of the memories, `gone` finds the numbers that are no longer there."""

    pick: str
    gone: Statement


def _numbered(table: str, pick: str) -> Numbered:
    gone = f"""
        SELECT value FROM json_each(:some)
        WHERE value NOT IN (SELECT number FROM {table}
            WHERE number IN (SELECT value FROM json_each(:some)))
    """  # noqa: S608 - constants of this module
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

    async def nearest(
        self, access: AccessScope, query: Embedding, filters: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        """Do `VectorSearch.nearest`."""
        search = _Search(OWN, access, filters, limit, now)
        return await self._found(_partitions(access, query), query, search)

    async def nearest_shares(
        self,
        names: Sequence[str],
        access: AccessScope,
        query: Embedding,
        filters: Filter,
        limit: int,
        now: int,
    ) -> list[tuple[str, float]]:
        """Do `VectorSearch.nearest_shares`."""
        model, dimension = storable(query.model), query.dimension
        partitions = [Partition("share", name, model, dimension) for name in names]
        search = _Search(SHARED, access, filters, limit, now)
        return await self._found(partitions, query, search)

    async def _found(
        self, partitions: Sequence[Partition], query: Embedding, search: "_Search"
    ) -> list[tuple[str, float]]:
        limit = search.limit
        matrices = [await self._current(partition) for partition in partitions]
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
            hits += await self._picked(matrices, some, search)
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
        search: "_Search",
    ) -> list[tuple[str, float]]:
        access, filters, table = search.access, search.filters, search.table
        pick = statement(table.pick + conditions_of(access, filters))
        values = values_of(access, filters, search.now) | {"some": [number for number, _ in some]}
        picked, gone = await self._database.run(lambda: _there(pick, table.gone, values, len(some)))
        if gone:
            for matrix in matrices:
                matrix.drop(gone)
        return [(picked[number], score) for number, score in some if number in picked]


@dataclass(frozen=True, slots=True)
class _Search:
    """The vectors that are searched, and their table."""

    table: Numbered
    access: AccessScope
    filters: Filter
    limit: int
    now: int


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


def _partitions(access: AccessScope, query: Embedding) -> list[Partition]:
    model, dimension = storable(query.model), query.dimension
    partitions = [Partition("owner", name, model, dimension) for name in owners_within(access)]
    if access.room:
        room = room_key(storable(access.tenant), storable(access.room))
        partitions.append(Partition("room", room, model, dimension))
    return partitions
