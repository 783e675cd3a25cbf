"""Which models recall gets, by the configuration and by what is on this machine."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from memory.embeddings.catalogue import EMBEDDING, RERANKING, LocalModel
from parley.config import Settings
from parley.config.memory import Embedding, Memory
from parley.config.sections import Database
from parley.wiring.recall_models import advice_for, models_folder, problem_of, recall_models


def settings(folder: Path, **memory: Any) -> Settings:
    database = Database(url=f"sqlite:///{folder}/parley.db")
    return Settings(database=database, memory=Memory(**memory))


def put(model: LocalModel, models: Path) -> None:
    for name in model.files:
        path = model.folder(models) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", "utf-8")


async def test_without_files_recall_goes_by_words_and_it_can_be_said_why(tmp_path: Path) -> None:
    chosen = settings(tmp_path, rerank=True)
    models = recall_models(chosen)
    assert (models.embedder, models.behind, models.reranker) == (None, None, None)
    assert problem_of(chosen, EMBEDDING).endswith("has no model.onnx")
    assert advice_for(chosen) == "Run `parley models pull`"
    await models.close()


async def test_what_is_there_is_used_and_the_reranker_only_when_wanted(tmp_path: Path) -> None:
    put(EMBEDDING, tmp_path / "models")
    put(RERANKING, tmp_path / "models")
    models = recall_models(settings(tmp_path))
    assert models.embedder is not None
    assert models.embedder.model == "all-MiniLM-L6-v2"
    same: object = models.embedder
    assert models.behind is same
    assert models.reranker is None
    assert recall_models(settings(tmp_path, rerank=True)).reranker is not None
    assert recall_models(settings(tmp_path, embedding_provider="none")).embedder is None
    assert recall_models(settings(tmp_path, enabled=False)).embedder is None
    await models.close()


async def test_a_service_is_named_by_its_model(tmp_path: Path) -> None:
    service = Embedding(name="nomic", api_key=SecretStr("k"), base_url="http://localhost:1/v1")
    chosen = settings(tmp_path, embedding_provider="openai", embedding=service)
    models = recall_models(chosen)
    assert models.embedder is not None
    assert models.embedder.model == "openai/nomic"
    await models.close()


def test_models_lie_beside_the_database_or_where_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert models_folder(settings(tmp_path)) == tmp_path / "models"
    assert models_folder(settings(tmp_path, models_folder="~/m")) == tmp_path / "m"
    elsewhere = Settings(database=Database(url="postgresql://u@h/d"))
    assert models_folder(elsewhere) == Path("data/models")
