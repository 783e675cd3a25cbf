"""`parley models`: what is here, what is fetched, and what the doctor says of it."""

import json
from pathlib import Path

import pytest

from memory.models.catalogue import EMBEDDING
from tests.parley.cli.kit import parley


async def test_what_is_missing_is_listed_and_the_doctor_says_what_to_do(tmp_path: Path) -> None:
    listed = await parley("models", "list", cwd=tmp_path)
    assert listed.status == 0
    assert "all-MiniLM-L6-v2          missing, 91 MB" in listed.out
    assert "Vectors: there is no database yet" in listed.out
    asked = await parley("doctor", cwd=tmp_path)
    assert "note    recall: memories are found by their words only" in asked.out
    assert "Run `parley models pull`, or set memory.embedding_provider to none." in asked.out


async def test_a_model_that_is_there_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "models" / EMBEDDING.name
    folder.mkdir(parents=True)
    for name in EMBEDDING.files:
        (folder / name).write_text("{}", "utf-8")
    listed = await parley("models", "list", "--json", cwd=tmp_path)
    rows = [json.loads(line) for line in listed.out.splitlines()]
    assert rows[0] == {"model": EMBEDDING.name, "missing": []}
    assert rows[-1]["model"] in ("", EMBEDDING.name)
    asked = await parley("doctor", cwd=tmp_path)
    assert "ok      recall: all-MiniLM-L6-v2 is here" in asked.out


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("pull", "--from", "http://127.0.0.1:9"), 1, "127.0.0.1 cannot be reached"),
        (("pull", "gpt"), 2, "There is no model gpt."),
    ],
)
async def test_what_cannot_be_fetched_is_said(
    tmp_path: Path, arguments: tuple[str, ...], status: int, text: str
) -> None:
    ended = await parley("models", *arguments, cwd=tmp_path)
    assert (ended.status, ended.out) == (status, "")
    assert text in ended.err
