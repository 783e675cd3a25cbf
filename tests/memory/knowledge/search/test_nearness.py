"""Searches by meaning: who may read, what is fused, what remains without a model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from structlog.testing import capture_logs

from db import Statement
from gateway.errors import ModelUnavailable
from memory.knowledge.access import KnowledgeAccess
from memory.knowledge.model import FileKind, KnowledgeQuery
from memory.knowledge.ports import Batch
from memory.knowledge.search import Searcher
from memory.knowledge.stores.nearest_chunks import PAUSE_SECONDS, ModelNearness
from memory.knowledge.stores.vectors import SqlChunkVectors
from memory.model.record import Embedding
from tests.memory.knowledge.search.conftest import COMMIT, MEMBER, Library
from tests.memory.knowledge.values import AT
from tests.memory.knowledge.vectors import MeaningModel, vector_of

PUBLIC = KnowledgeAccess("default", ("slack:main:T1",), public=True, member=True)
OTHER_PROJECT = KnowledgeAccess("default", ("slack:main:T2",), public=False, member=True)
OTHER_TENANT = KnowledgeAccess("other", ("slack:main:T1",), public=False, member=True)
OUTSIDE = KnowledgeAccess("default")


@dataclass
class Meaning:
    """A library that is searched by words and by meaning."""

    library: Library
    model: MeaningModel
    nearness: ModelNearness
    at: float = 0.0

    async def embed(self) -> None:
        vectors, last = SqlChunkVectors(self.library.database), -1
        claim = await vectors.claim("m", 0, AT)
        while claim.last != last:
            some = {one: Embedding("m", vector_of(one.text)) for one in claim.texts}
            await vectors.put("m", some)
            last = claim.last
            claim = await vectors.claim("m", last, AT)

    async def paths(
        self, text: str, *kinds: FileKind, access: KnowledgeAccess = MEMBER, **query: object
    ) -> list[str]:
        searcher = Searcher(self.library.database, self.library.words, nearness=self.nearness)
        asked = KnowledgeQuery(text, frozenset(kinds), **query)  # type: ignore[arg-type] # as named
        return [hit.path for hit in await searcher.search(access, asked)]


@pytest.fixture
def meaning(library: Library) -> Meaning:
    model = MeaningModel()
    made = Meaning(library, model, ModelNearness(library.database, model))
    made.nearness = ModelNearness(library.database, model, now=lambda: made.at)
    return made


async def test_a_text_without_the_words_is_found_by_its_meaning(meaning: Meaning) -> None:
    await meaning.library.add({"a.py": "purrs like a kitten", "b.py": "drives a car"})
    assert await meaning.paths("cat") == []
    await meaning.embed()
    assert (await meaning.paths("cat"))[0] == "a.py"


async def test_words_and_vectors_count_both(meaning: Meaning) -> None:
    texts = {"words.py": "cat", "meaning.py": "kitten", "both.py": "cat kitten", "none.py": "car"}
    await meaning.library.add(texts)
    await meaning.embed()
    found = await meaning.paths("cat")
    assert set(found[:2]) == {"words.py", "both.py"}
    assert found[2:] == ["meaning.py", "none.py"]


async def test_a_named_file_comes_first(meaning: Meaning) -> None:
    await meaning.library.add({"src/a.py": "drives", "b.py": "a cat and a dog", "c.py": "dog cat"})
    await meaning.embed()
    assert (await meaning.paths("cat dog in src/a.py"))[0] == "src/a.py"


@pytest.mark.parametrize("access", [PUBLIC, OTHER_PROJECT, OTHER_TENANT, OUTSIDE])
async def test_a_vector_never_leads_to_a_repository_without_access(
    meaning: Meaning, access: KnowledgeAccess
) -> None:
    """The matrix is in memory already, by a search of somebody who may read."""
    private = {f"private{number}.py": f"kitten {number}" for number in range(20)}
    await meaning.library.add(private, rooms=())
    open_: dict[str, Any] = {"tenant": access.tenant, "project": "", "private": False, "id": "open"}
    await meaning.library.add({"open.py": "a tree"}, **open_)
    await meaning.embed()
    assert len(await meaning.paths("cat", limit=50)) >= 20
    for text in ("cat", "kitten 3", "private3.py"):
        assert await meaning.paths(text, access=access, limit=50) in ([], ["open.py"])


async def test_a_nearest_chunk_of_another_partition_is_not_read(meaning: Meaning) -> None:
    """The rule is in the statement that reads chunks: a wrong answer of the vectors shows
    nothing."""
    await meaning.library.add({"private.py": "a kitten"}, rooms=())
    await meaning.library.add({"open.py": "a tree"}, id="open", project="", private=False)
    rows = await meaning.library.database.fetch(Statement("SELECT number FROM knowledge_chunks"))

    class Everything:
        async def vector(self, text: str) -> Embedding:
            return Embedding("m", vector_of(text))

        async def nearest(
            self, partitions: Sequence[str], vector: Embedding, limit: int
        ) -> dict[int, float]:
            return {int(row[0]): 0.9 for row in rows}

    searcher = Searcher(meaning.library.database, meaning.library.words, nearness=Everything())
    hits = await searcher.search(OUTSIDE, KnowledgeQuery("cat"))
    assert [hit.path for hit in hits] == ["open.py"]


async def test_an_access_that_ends_counts_at_once(meaning: Meaning) -> None:
    await meaning.library.add({"a.py": "a kitten"})
    await meaning.embed()
    assert await meaning.paths("cat") == ["a.py"]
    await meaning.library.repositories.forget("r1")
    assert await meaning.paths("cat") == []


async def test_a_file_that_a_commit_removed_is_not_found(meaning: Meaning) -> None:
    await meaning.library.add({"a.py": "a kitten", "b.py": "a tree"})
    await meaning.embed()
    files = meaning.library.files
    await files.begin("r1", "main", followed=True, target=COMMIT, rules="")
    await files.write("r1", "main", COMMIT, Batch(removed=["a.py"]), AT)
    assert await meaning.paths("cat") == ["b.py"]


async def test_filters_narrow_the_search_by_meaning(meaning: Meaning) -> None:
    kittens = {f"{number}.py": f"kitten {number}" for number in range(30)}
    adr = {"docs/adr/1-animals.md": "# Animals\n\n## Status\n\nAccepted\n\n## Decision\n\nPuppy.\n"}
    await meaning.library.add(kittens | adr | {"services/pay/a.py": "an oak"})
    await meaning.embed()
    assert await meaning.paths("cat", FileKind.DECISION) == ["docs/adr/1-animals.md"]
    assert await meaning.paths("cat", services=("pay",)) == ["services/pay/a.py"]


async def test_vectors_count_when_most_chunks_have_one(meaning: Meaning) -> None:
    """Otherwise files without vectors would stand below the others for that reason alone."""
    await meaning.library.add({"a.py": "purrs like a kitten"})
    await meaning.embed()
    await meaning.library.add({f"{number}.py": f"text {number}" for number in range(9)}, id="r2")
    assert await meaning.paths("cat") == []
    await meaning.embed()
    assert (await meaning.paths("cat"))[0] == "a.py"


async def test_without_its_model_a_search_uses_words_for_a_while(meaning: Meaning) -> None:
    await meaning.library.add({"a.py": "a kitten", "b.py": "a cat"})
    await meaning.embed()
    meaning.model.error = ModelUnavailable("no answer")
    with capture_logs() as logs:
        assert await meaning.paths("cat") == ["b.py"]
    assert logs[0]["event"] == "knowledge_search_without_vectors"
    meaning.model.error = None
    assert await meaning.paths("cat") == ["b.py"]
    meaning.at += PAUSE_SECONDS
    assert set(await meaning.paths("cat")) == {"a.py", "b.py"}


async def test_a_slow_model_does_not_delay_a_search(meaning: Meaning) -> None:
    await meaning.library.add({"b.py": "a cat"})

    class Slow(MeaningModel):
        async def embed(self, texts: Sequence[str]) -> list[Embedding]:
            await asyncio.sleep(3_600)
            return []

    meaning.nearness = ModelNearness(meaning.library.database, Slow(), seconds=0.01)
    assert await meaning.paths("cat") == ["b.py"]


async def test_searches_at_once_find_the_same(meaning: Meaning) -> None:
    await meaning.library.add({f"{number}.py": f"kitten {number}" for number in range(30)})
    await meaning.embed()
    found = await asyncio.gather(*(meaning.paths("cat") for _ in range(8)))
    assert all(one == found[0] for one in found)
    assert len(found[0]) == 10
