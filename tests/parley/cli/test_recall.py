"""`parley recall`: what a question brings up, and what each arm said of it."""

from pathlib import Path

from tests.parley.cli.kit import parley
from tests.parley.cli.test_memory import ADA, filled, lines


async def test_candidates_are_shown_with_each_arm_s_rank_and_score(tmp_path: Path) -> None:
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


async def test_nothing_is_said_to_be_nothing(tmp_path: Path) -> None:
    folder = await filled(tmp_path, "sqlite:///parley.db")

    nothing = await parley("recall", "submarines", "--person", ADA, cwd=folder)
    nobody = await parley("recall", "dogs", cwd=folder)
    assert (nothing.status, nothing.out) == (1, "Nothing fits.\n")
    assert nobody.status == 2
    assert "--person" in nobody.err
