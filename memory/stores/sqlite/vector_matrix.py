"""Vectors of one partition and model as a matrix in memory, and the most recently used of them.

Nothing here decides what may be shown: a matrix orders numbers of vectors by similarity, and the
query in `nearest.py` says which of them are still there, for whom, and under which filter.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of all matrices together: 174,000 vectors of 384 numbers."""
FIRST_ROWS: Final = 64
TOO_FEW_ALIVE: Final = 0.75
"""The share of remaining rows below which a matrix is rebuilt without the others."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Partition:
    """A group of vectors: `column` is "owner" or "room", `name` its value."""

    column: str
    name: str
    model: str
    dimension: int


class Matrix:
    """Unit vectors, numbered; numbers only grow. `last` is the highest that was looked at."""

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
        """Leave out what is there no more."""
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
        """Keep a matrix."""
        self._kept[partition] = matrix

    def trim(self, in_use: int) -> None:
        """Let go of what was used longest ago, but of none of the `in_use` latest."""
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
    if len(similarities) > 1:  # what was said in a room is also its speaker's
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
