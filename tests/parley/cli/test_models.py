"""`parley models`: installed models, downloads, and the report of the doctor."""

import json
from pathlib import Path

import pytest

from gateway.ports.clock import SystemClock
from memory.embeddings.catalogue import EMBEDDING
from memory.model.record import Embedding
from memory.ports.memories import TextVector
from parley.config import from_mapping
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley, parley_alone
from tests.parley.cli.test_memory import filled


async def test_missing_models_are_listed_and_doctor_gives_advice(tmp_path: Path) -> None:
    listed = await parley_alone("models", "list", cwd=tmp_path)
    assert listed.status == 0
    assert "all-MiniLM-L6-v2          missing, 91 MB" in listed.out
    assert "Vectors: There is no database at data/parley.db yet" in listed.out
    asked = await parley("doctor", cwd=tmp_path)
    assert "note    recall: memories are found by their words only" in asked.out
    assert "Run `parley models pull`, or set memory.embedding_provider to none." in asked.out


async def test_an_installed_model_is_named(tmp_path: Path) -> None:
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


async def test_after_a_change_of_the_model_the_progress_of_the_vectors_is_shown(
    tmp_path: Path,
) -> None:
    folder = await filled(tmp_path, "sqlite:///parley.db")
    models = folder / "models" / EMBEDDING.name
    models.mkdir(parents=True)
    for name in EMBEDDING.files:
        (models / name).write_text("{}", "utf-8")
    url = f"sqlite:///{folder}/parley.db"
    storage = Storage(from_mapping({"database": {"url": url}}), SystemClock())
    await storage.start()

    async def embed(model: str, limit: int) -> int:
        memories = storage.memory.memories
        some = await memories.unembedded(model, limit)
        return await memories.embed(
            [TextVector(one.id, one.text, Embedding(model, (1.0, 0.0))) for one in some]
        )

    async def told() -> str:
        return (await parley("models", "list", cwd=folder)).out.splitlines()[-1]

    every = await embed("the one before", 100)
    assert every > 2
    assert await told() == f"Vectors of {EMBEDDING.name}: 0 of {every} memories (0 %)."
    assert await embed(EMBEDDING.name, 2) == 2
    assert f": 2 of {every} memories" in await told()
    assert await embed(EMBEDDING.name, 100) == every - 2
    assert await told() == f"Vectors of {EMBEDDING.name}: {every} of {every} memories (100 %)."
    await storage.stop()


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("pull", "--from", "http://127.0.0.1:9"), 1, "127.0.0.1 cannot be reached"),
        (("pull", "gpt"), 2, "There is no model gpt."),
    ],
)
async def test_a_failed_download_is_reported(
    tmp_path: Path, arguments: tuple[str, ...], status: int, text: str
) -> None:
    ended = await parley("models", *arguments, cwd=tmp_path)
    assert (ended.status, ended.out) == (status, "")
    assert text in ended.err
