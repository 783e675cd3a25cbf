"""Matrices of vectors in memory, within a bound: they order the numbers of vectors by similarity.

A matrix does not decide what may be shown; a query to the database determines which vectors exist,
for whom, and under which filter.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of all matrices together: 174,000 vectors of 384 numbers."""
FIRST_ROWS: Final = 64
TOO_FEW_ALIVE: Final = 0.75
"""The share of remaining rows below which a matrix is rebuilt without the others."""
BLOCK: Final = 4_096
"""Rows of half precision that are converted at once, in order to compare them."""

Floats = npt.NDArray[np.float32]


class Partition(Struct, frozen=True):
    """A group of vectors: `column` is "owner" or "room", `name` its value; or "share" and the name
    of an audience; or "chunk" and a partition of the index of repositories."""

    column: str
    name: str
    model: str
    dimension: int


class Matrix:
    """Unit vectors with increasing numbers. `last` is the highest number that was read. `half`:
    they are read and held in half precision (float16)."""

    def __init__(self, dimension: int, max_rows: int, last: int = 0, *, half: bool = False) -> None:
        self._given = "<f2" if half else "<f4"
        self._rows: npt.NDArray[np.floating] = np.empty(
            (FIRST_ROWS, dimension), np.float16 if half else np.float32
        )
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
        """Add vectors (number, floats in little-endian), the lowest number first; those that were
        added already are left out. Where there is no room the oldest go."""
        new = [(number, data) for number, data in numbered if number > self.last]
        if not new:
            return
        if self._count + len(new) > self._max_rows:
            self._keep(np.arange(self._count) >= self._count + len(new) - self._max_rows * 3 // 4)
        self._reserve(self._count + len(new))
        rows = np.frombuffer(b"".join(data for _, data in new), self._given)
        rows = rows.reshape(len(new), -1).astype(np.float32)
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
        numbers, scores = self._numbers[: self._count], _cosines(self._rows[: self._count], query)
        if self._gone:
            there = ~np.isin(numbers, list(self._gone))
            return numbers[there], scores[there]
        return numbers, scores

    def _reserve(self, count: int) -> None:
        if count > len(self._numbers):
            capacity = max(count, min(2 * len(self._numbers), self._max_rows))
            rows = np.empty((capacity, self._rows.shape[1]), self._rows.dtype)
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


def _cosines(rows: npt.NDArray[np.floating], query: Floats) -> Floats:
    """The cosine of each row. Rows of half precision are converted block by block."""
    cosines = np.empty(len(rows), np.float32)
    for begin in range(0, len(rows), BLOCK):
        block = rows[begin : begin + BLOCK].astype(np.float32, copy=False)
        np.matmul(block, query, out=cosines[begin : begin + BLOCK])
    return cosines


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit
