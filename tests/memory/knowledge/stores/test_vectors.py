"""Vectors of chunks on both databases: claims, identical texts, deletion with the chunk."""

import asyncio
from datetime import timedelta

from structlog.testing import capture_logs

from db import Statement
from memory.knowledge.model import FileKind
from memory.knowledge.ports import MAX_CLAIMED, Batch, ChunkClaim
from memory.knowledge.schema import partition_of
from memory.knowledge.stores.nearest_chunks import NearestChunks
from memory.knowledge.stores.vectors import CLAIMED_FOR, SqlChunkVectors, packed
from memory.model.record import Embedding
from tests.memory.knowledge.search.conftest import COMMIT, Library, library
from tests.memory.knowledge.values import AT
from tests.memory.knowledge.vectors import vector_of

__all__ = ["library"]  # a fixture of the tests here

STORED = Statement("""
    SELECT c.text, v.model, v.vector FROM knowledge_vectors v
    LEFT JOIN knowledge_chunks c ON c.number = v.chunk ORDER BY c.text
""")
LATER = AT + CLAIMED_FOR + timedelta(seconds=1)


async def made(vectors: SqlChunkVectors, model: str = "m", after: int = 0) -> int:
    """Make the vectors of the next chunks; return the number of chunks."""
    claim = await vectors.claim(model, after, AT)
    some = {one: Embedding(model, vector_of(one.text)) for one in claim.texts}
    return await vectors.put(model, some) + claim.copied


async def stored(library: Library) -> list[tuple[str, str]]:
    return [(text, model) for text, model, _ in await library.database.fetch(STORED)]


async def remove(library: Library, *paths: str) -> None:
    """Ingest a commit without some files."""
    await library.files.begin("r1", "main", followed=True, target=COMMIT, rules="")
    await library.files.write("r1", "main", COMMIT, Batch(removed=paths), AT)
    await library.files.finish("r1", "main", COMMIT, AT)
    while await library.files.sweep("r1"):
        pass


async def test_a_vector_is_stored_in_half_precision(library: Library) -> None:
    await library.add({"a.py": "a cat"})
    vectors = SqlChunkVectors(library.database)
    assert await vectors.embedded("m") == (0, 1)
    assert await made(vectors) == 1
    ((text, model, data),) = await library.database.fetch(STORED)
    assert (text, model, bytes(data)) == ("a cat", "m", packed(vector_of("a cat")))
    assert len(data) == 2 * len(vector_of("a cat"))
    assert await vectors.embedded("m") == (1, 1)
    assert await vectors.embedded_of("m", "r1") == 1
    assert await vectors.embedded_of("m", "r2") == 0
    assert (await vectors.claim("m", 0, AT)).texts == ()


async def test_the_model_reads_names_and_headings_with_the_text(library: Library) -> None:
    await library.add({"a.py": "def purr():\n    pass\n", "b.md": "# Cats\n\n## Food\n\nFish.\n"})
    claim = await SqlChunkVectors(library.database).claim("m", 0, AT)
    texts = [one.text for one in claim.texts]
    assert "purr\ndef purr():\n    pass\n" in texts
    assert any(text.startswith("Cats") and "Fish." in text for text in texts)


async def test_processes_claim_different_chunks(library: Library) -> None:
    await library.add({f"{number}.py": f"text {number}" for number in range(3 * MAX_CLAIMED)})
    one, other = SqlChunkVectors(library.database), SqlChunkVectors(library.database)
    claims = await asyncio.gather(*(each.claim("m", 0, AT) for each in (one, other, one, other)))
    chunks = [chunk for claim in claims for text in claim.texts for chunk in text.chunks]
    assert len(chunks) == len(set(chunks)) == 3 * MAX_CLAIMED
    assert sorted(len(claim.texts) for claim in claims) == [0, *[MAX_CLAIMED] * 3]


async def test_claims_of_an_interrupted_process_end(library: Library) -> None:
    await library.add({"a.py": "a cat"})
    vectors = SqlChunkVectors(library.database)
    (text,) = (await vectors.claim("m", 0, AT)).texts
    assert (await vectors.claim("m", 0, AT)).texts == ()
    assert (await vectors.claim("m", 0, LATER)).texts == (text,)
    await vectors.release([text])
    assert (await vectors.claim("m", 0, AT)).texts == (text,)


async def test_an_identical_text_is_given_out_once(library: Library) -> None:
    await library.add({"a.py": "a cat", "b.js": "a cat"})
    vectors = SqlChunkVectors(library.database)
    claim = await vectors.claim("m", 0, AT)
    (text,) = claim.texts
    assert len(text.chunks) == 2
    assert await vectors.put("m", {text: Embedding("m", vector_of("a cat"))}) == 2

    await library.add({"c.py": "a cat"}, id="r2")
    assert await vectors.claim("m", claim.last, AT) == ChunkClaim((), claim.last + 1, 1)
    assert await stored(library) == [("a cat", "m")] * 3


async def test_another_model_replaces_the_vectors(library: Library) -> None:
    await library.add({"a.py": "a cat"})
    vectors = SqlChunkVectors(library.database)
    await made(vectors)
    assert await made(vectors, "n") == 1
    assert await stored(library) == [("a cat", "n")]


async def test_a_deleted_chunk_has_no_vector(library: Library) -> None:
    await library.add({"a.py": "a cat", "b.py": "a dog"})
    vectors = SqlChunkVectors(library.database)
    await made(vectors)
    await remove(library, "a.py")
    assert await stored(library) == [("a dog", "m")]
    await library.repositories.forget("r1")
    assert await stored(library) == []


async def test_a_chunk_that_is_deleted_meanwhile_gets_no_vector(library: Library) -> None:
    await library.add({"a.py": "a cat"})
    vectors = SqlChunkVectors(library.database)
    (text,) = (await vectors.claim("m", 0, AT)).texts
    await library.repositories.forget("r1")
    assert await vectors.put("m", {text: Embedding("m", vector_of("a cat"))}) == 0
    assert await stored(library) == []


async def test_a_deletion_and_new_vectors_at_once_leave_none(library: Library) -> None:
    await library.add({f"{number}.py": f"text {number}" for number in range(MAX_CLAIMED)})
    vectors = SqlChunkVectors(library.database)
    claim = await vectors.claim("m", 0, AT)
    some = {one: Embedding("m", vector_of(one.text)) for one in claim.texts}
    await asyncio.gather(library.repositories.forget("r1"), vectors.put("m", some))
    assert await stored(library) == []


async def test_the_problem_of_a_model_is_kept(library: Library) -> None:
    vectors = SqlChunkVectors(library.database)
    assert await vectors.problem("m") == ""
    await vectors.note_problem("m", "no file", AT)
    await vectors.note_problem("n", "another one", AT)
    assert await vectors.problem("m") == "no file"
    await vectors.note_problem("m", "", AT)
    assert await vectors.problem("m") == ""


CODE = partition_of("r1", FileKind.CODE)


async def near(nearest: NearestChunks, text: str, *partitions: str, model: str = "m") -> list[int]:
    query = Embedding(model, vector_of(text))
    return list(await nearest.nearest(partitions or (CODE,), query, 10))


async def test_the_nearest_chunks_come_first(library: Library) -> None:
    await library.add({"a.py": "a cat", "b.py": "a dog", "c.py": "a car"})
    vectors, nearest = SqlChunkVectors(library.database), NearestChunks(library.database)
    assert await near(nearest, "kitten") == []
    await made(vectors)
    first, *_ = await nearest.nearest((CODE,), Embedding("m", vector_of("a puppy")), 10)
    (row,) = await library.database.fetch(
        Statement("SELECT text FROM knowledge_chunks WHERE number = :number"), {"number": first}
    )
    assert row == ("a dog",)
    assert len(await near(nearest, "kitten")) == 3
    assert await near(nearest, "kitten", "another") == []
    assert await near(nearest, "kitten", model="n") == []


async def test_deleted_and_new_chunks_are_seen_by_the_next_search(library: Library) -> None:
    await library.add({f"{number}.py": f"cat {number}" for number in range(10)})
    vectors, nearest = SqlChunkVectors(library.database), NearestChunks(library.database)
    await made(vectors)
    before = await near(nearest, "cat")
    await remove(library, *(f"{number}.py" for number in range(4)))
    assert set(await near(nearest, "cat")) < set(before)
    await library.add({"new.py": "kitten"})
    await made(vectors)
    after = await near(nearest, "cat")
    assert len(after) == 7
    assert set(after) - set(before)


async def test_the_vectors_in_memory_have_a_bound(library: Library) -> None:
    """Chunks that do not fit into memory together are not compared; what others need is read
    again."""
    large = {f"{number}.py": f"cat {number}" for number in range(3 * MAX_CLAIMED)}
    await library.add(large)
    await library.add({"a.py": "a cat"}, id="r2")
    vectors = SqlChunkVectors(library.database)
    while await made(vectors):
        pass
    small = NearestChunks(library.database, max_bytes=1_200)
    assert small.max_vectors(5) < len(large)
    other = partition_of("r2", FileKind.CODE)
    with capture_logs() as logs:
        assert await near(small, "cat", CODE, other) == []
    assert logs[0]["event"] == "chunk_vectors_beyond_memory"
    (only,) = await near(small, "cat", other)
    assert only > len(large)
    assert small.size <= 1_200
    assert len(await near(NearestChunks(library.database), "cat", CODE, other)) == 10


async def test_vectors_are_not_compared_while_many_are_missing(library: Library) -> None:
    await library.add({f"{number}.py": f"cat {number}" for number in range(MAX_CLAIMED + 2)})
    vectors, nearest = SqlChunkVectors(library.database), NearestChunks(library.database)
    await made(vectors)
    assert await near(nearest, "cat") == []
    await made(vectors)
    assert len(await near(nearest, "cat")) == 10
