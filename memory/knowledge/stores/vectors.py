"""Vectors of chunks: their making is claimed, so that no two processes make the same ones, and they
are deleted with their chunks.

A text has one vector for each model, which all chunks with this text get. Vectors are numbered in
the order in which they become visible: a lock ends one transaction before the next one begins.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from db import Database, Statement, Work, among, change, either, execute, fetch, lock
from db.values import micros, storable
from memory.knowledge.model import FileKind
from memory.knowledge.ports import MAX_CLAIMED, ChunkClaim, ClaimedText
from memory.knowledge.schema import partition_of

if TYPE_CHECKING:
    from memory.model.record import Embedding

LOOKED_AT: Final = 500
"""Chunks that one step looks at: about a millisecond on the event loop, if they have vectors."""
CLAIMED_FOR: Final = timedelta(minutes=2)
"""The time after which another process makes vectors that were claimed and not stored."""
MAX_PROBLEM: Final = 500
LOCK: Final = "knowledge vectors"
NEXT: Final = Statement(f"""
    SELECT c.number, NOT EXISTS (
            SELECT 1 FROM knowledge_vectors v WHERE v.chunk = c.number AND v.model = :model
                AND (:dimension = 0 OR v.dimension = :dimension)
        ) AND NOT EXISTS (SELECT 1 FROM knowledge_vector_claims k WHERE k.chunk = c.number)
    FROM knowledge_chunks c WHERE c.number > :after ORDER BY c.number LIMIT {LOOKED_AT}
""")
TEXTS: Final = Statement(f"""
    SELECT number, heading, symbol, text FROM knowledge_chunks
    WHERE {among("number", "numbers")} ORDER BY number
""")
MADE: Final = Statement(f"""
    SELECT text_hash, dimension, vector FROM knowledge_vectors
    WHERE model = :model AND (:dimension = 0 OR dimension = :dimension)
        AND {among("text_hash", "hashes")} ORDER BY number
""")
EXPIRE: Final = Statement("DELETE FROM knowledge_vector_claims WHERE until <= :now")
CLAIM: Final = Statement(
    "INSERT INTO knowledge_vector_claims (chunk, until) VALUES (:chunk, :until)"
)
RELEASE: Final = Statement(f"DELETE FROM knowledge_vector_claims WHERE {among('chunk', 'numbers')}")
THERE: Final = Statement(f"""
    SELECT number FROM knowledge_chunks WHERE {among("number", "numbers")}
    ORDER BY number {either(sqlite="", postgres="FOR KEY SHARE")}
""")
"""The chunks that exist, and go on existing until the transaction ends."""
CLEAR: Final = Statement(f"DELETE FROM knowledge_vectors WHERE {among('chunk', 'numbers')}")
PUT: Final = Statement("""
    INSERT INTO knowledge_vectors (chunk, partition, model, dimension, text_hash, vector)
    SELECT number, partition, :model, :dimension, :text_hash, :vector FROM knowledge_words
    WHERE number = :chunk
""")
COUNT: Final = Statement(f"""
    SELECT count(*) FROM knowledge_vectors
    WHERE model = :model AND {among("partition", "partitions")}
""")
ALL: Final = Statement("""
    SELECT (SELECT count(*) FROM knowledge_vectors WHERE model = :model),
        (SELECT count(*) FROM knowledge_chunks)
""")
DIMENSIONS: Final = Statement("""
    SELECT dimension, count(*) FROM knowledge_vectors
    WHERE model = :model GROUP BY dimension ORDER BY dimension
""")
NOTE: Final = Statement("""
    INSERT INTO knowledge_vector_problems (model, problem, at) VALUES (:model, :problem, :at)
    ON CONFLICT (model) DO UPDATE SET problem = excluded.problem, at = excluded.at
""")
PROBLEM: Final = Statement("SELECT problem FROM knowledge_vector_problems WHERE model = :model")


class _Vector(Struct, frozen=True):
    dimension: int
    data: bytes


class SqlChunkVectors:
    """The vectors of chunks. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, model: str, after: int, now: datetime, dimension: int = 0) -> ChunkClaim:
        """Claim the next chunks after a number without a vector of the model and of the dimension
        (0: of any), at most `MAX_CLAIMED`. A claim ends when its vectors are stored, or after two
        minutes."""
        named = {"model": storable(model), "dimension": dimension}

        def work() -> Work[ChunkClaim]:
            yield from lock(LOCK)
            yield from change(EXPIRE, {"now": micros(now)})
            rows = yield from fetch(NEXT, {**named, "after": after})
            missing = [int(number) for number, wanted in rows if wanted][:MAX_CLAIMED]
            if not missing:
                return ChunkClaim((), int(rows[-1][0]) if rows else after, 0)
            texts = yield from _texts(missing)
            made = yield from _made(named, texts)
            yield from _put(
                named,
                {
                    chunk: made[hash_of(text)]
                    for text, chunks in texts.items()
                    for chunk in chunks
                    if hash_of(text) in made
                },
                texts,
            )
            left = {text: chunks for text, chunks in texts.items() if hash_of(text) not in made}
            until = micros(now + CLAIMED_FOR)
            yield from execute(
                CLAIM,
                *({"chunk": one, "until": until} for chunks in left.values() for one in chunks),
            )
            return ChunkClaim(
                tuple(ClaimedText(text, tuple(chunks)) for text, chunks in left.items()),
                missing[-1],
                len(missing) - sum(map(len, left.values())),
            )

        return await self._database.run(work)

    async def put(self, model: str, made: Mapping[ClaimedText, Embedding]) -> int:
        """Store claimed vectors, in place of those of other models; return the number of chunks
        that got one. A chunk that was deleted meanwhile gets none."""
        named = {"model": storable(model)}
        texts = {one.text: list(one.chunks) for one in made}
        vectors = {
            chunk: _Vector(vector.dimension, packed(vector.vector))
            for one, vector in made.items()
            for chunk in one.chunks
        }

        def work() -> Work[int]:
            yield from lock(LOCK)
            stored = yield from _put(named, vectors, texts)
            yield from change(RELEASE, {"numbers": sorted(vectors)})
            return stored

        return await self._database.run(work)

    async def release(self, texts: Sequence[ClaimedText]) -> None:
        """End claims without vectors."""
        numbers = sorted(chunk for one in texts for chunk in one.chunks)
        await self._database.change(RELEASE, {"numbers": numbers})

    async def embedded(self, model: str) -> tuple[int, int]:
        """Count the chunks that have a vector of the model, and all chunks."""
        (row,) = await self._database.fetch(ALL, {"model": storable(model)})
        return int(row[0]), int(row[1])

    async def dimensions(self, model: str) -> dict[int, int]:
        """Return the number of vectors of the model by their dimension."""
        rows = await self._database.fetch(DIMENSIONS, {"model": storable(model)})
        return {int(dimension): int(count) for dimension, count in rows}

    async def embedded_of(self, model: str, repository_id: str) -> int:
        """Count the chunks of a repository that have a vector of the model."""
        partitions = [partition_of(storable(repository_id), kind) for kind in FileKind]
        named = {"model": storable(model), "partitions": partitions}
        (row,) = await self._database.fetch(COUNT, named)
        return int(row[0])

    async def note_problem(self, model: str, problem: str, at: datetime) -> None:
        """Note why the model makes no vectors, "" if it makes them again."""
        params = {"model": storable(model), "problem": storable(problem[:MAX_PROBLEM])}
        await self._database.change(NOTE, {**params, "at": micros(at)})

    async def problem(self, model: str) -> str:
        """Return the reason why the model made no vectors at last, "" for none."""
        rows = await self._database.fetch(PROBLEM, {"model": storable(model)})
        return str(rows[0][0]) if rows else ""


def packed(vector: Sequence[float]) -> bytes:
    """A vector as it is stored: float16 in little-endian."""
    return struct.pack(f"<{len(vector)}e", *vector)


def hash_of(text: str) -> str:
    """The name of a text among the vectors."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _texts(numbers: Sequence[int]) -> Work[dict[str, list[int]]]:
    """The chunks by the text that the model reads: headings or names, then the chunk."""
    texts: dict[str, list[int]] = {}
    for number, *parts in (yield from fetch(TEXTS, {"numbers": list(numbers)})):
        texts.setdefault("\n".join(part for part in parts if part), []).append(int(number))
    return texts


def _made(named: Mapping[str, object], texts: Mapping[str, object]) -> Work[dict[str, _Vector]]:
    """The vectors that other chunks have for some of the texts, by hash."""
    rows = yield from fetch(MADE, {**named, "hashes": [hash_of(text) for text in texts]})
    return {str(hash_): _Vector(int(dimension), bytes(data)) for hash_, dimension, data in rows}


def _put(
    named: Mapping[str, object],
    vectors: Mapping[int, _Vector],
    texts: Mapping[str, Sequence[int]],
) -> Work[int]:
    """Store vectors of chunks that still exist; return their number."""
    if not vectors:
        return 0
    hashes = {chunk: hash_of(text) for text, chunks in texts.items() for chunk in chunks}
    rows = yield from fetch(THERE, {"numbers": sorted(vectors)})
    there = [int(row[0]) for row in rows]
    if there:
        yield from change(CLEAR, {"numbers": there})
        yield from execute(
            PUT,
            *(
                {
                    **named,
                    "chunk": chunk,
                    "dimension": vectors[chunk].dimension,
                    "text_hash": hashes[chunk],
                    "vector": vectors[chunk].data,
                }
                for chunk in there
            ),
        )
    return len(there)
