"""Vectors in memory: the nearest first, within a bound."""

import itertools
import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.stores.matrices import FIRST_ROWS, Matrices, Matrix, Partition, best_first
from tests.support.property_cases import cases

COORDINATE = st.integers(-3, 3)
VECTORS = st.lists(st.tuples(COORDINATE, COORDINATE), max_size=150)


def packed(vector: tuple[float, ...]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


def cosine(one: tuple[int, int], other: tuple[int, int]) -> float:
    lengths = np.hypot(*one) * np.hypot(*other)
    return float(np.dot(one, other) / lengths) if lengths else 0.0


@settings(max_examples=cases(60))
@given(
    vectors=VECTORS,
    gone=st.sets(st.integers(1, 150), max_size=80),
    query=st.tuples(COORDINATE, COORDINATE),
    parts=st.integers(1, 5),
    first=st.integers(1, 60),
)
def test_every_vector_is_returned_once_the_nearest_first(
    vectors: list[tuple[int, int]],
    gone: set[int],
    query: tuple[int, int],
    parts: int,
    first: int,
) -> None:
    numbered = [(number, packed(one)) for number, one in enumerate(vectors, 1)]
    matrix = Matrix(2, 1_000)
    for part in range(parts):
        matrix.add(numbered[: len(numbered) * (part + 1) // parts])
    matrix.drop(sorted(gone))
    results = list(itertools.chain(*best_first([matrix, matrix], query, first)))
    assert {number for number, _ in results} == {number for number, _ in numbered} - gone
    assert len(results) == len({number for number, _ in results})
    scores = [score for _, score in results]
    assert all(one >= other - 1e-6 for one, other in itertools.pairwise(scores))
    for number, score in results:
        assert abs(score - cosine(vectors[number - 1], query)) < 1e-5


def test_the_oldest_vectors_are_removed_when_the_cache_is_full() -> None:
    matrix = Matrix(2, 100)
    for number in range(1, 1_001):
        matrix.add([(number, packed((1.0, number / 1_000)))])
    assert len(matrix) <= 100
    assert matrix.last == 1_000
    results = list(itertools.chain(*best_first([matrix], (0.0, 1.0), 10)))
    assert results[0][0] == 1_000
    assert min(number for number, _ in results) > 900
    assert matrix.size <= 100 * (2 * 4 + 8)


def test_deleted_vectors_release_memory() -> None:
    matrix = Matrix(2, 10_000)
    matrix.add([(number, packed((1.0, 0.0))) for number in range(1, 1_001)])
    before = matrix.size
    matrix.drop(list(range(1, 900)))
    assert len(matrix) == 101
    assert matrix.size < before / 2


def test_the_least_recently_used_matrices_are_removed() -> None:
    matrices = Matrices(max_bytes=FIRST_ROWS * (2 * 4 + 8) * 3)
    partitions = [Partition("owner", name, "m", 2) for name in "abcde"]
    for partition in partitions:
        matrices.put(partition, Matrix(2, 100))
        matrices.get(partitions[0])
        matrices.trim(1)
    kept = [partition.name for partition in partitions if matrices.get(partition) is not None]
    assert kept == ["a", "d", "e"]
    matrices.trim(3)
    assert matrices.size <= FIRST_ROWS * (2 * 4 + 8) * 3
