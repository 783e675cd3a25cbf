"""The models of recall, by the configuration and by the installed files."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from db.errors import StoreUnavailable
from gateway.observe.metrics import RecallMeasurement
from memory.embeddings.catalogue import EMBEDDING, RERANKING, LocalModel
from memory.model.scope import AccessScope
from memory.ports.recall import Query, RecallStage, Recollection
from parley.config import Settings
from parley.config.memory import EmbeddingSection, MemorySection
from parley.config.sections import DatabaseSection
from parley.wiring.recall import WatchedRecall, advice_for, models_folder, problem_of, recall_models
from tests.memory.stores.records import AT, access
from tests.support.clock import FakeClock


def settings(folder: Path, **memory: Any) -> Settings:
    database = DatabaseSection(url=f"sqlite:///{folder}/parley.db")
    return Settings(database=database, memory=MemorySection(**memory))


def put(model: LocalModel, models: Path) -> None:
    for name in model.files:
        path = model.folder(models) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", "utf-8")


async def test_without_model_files_recall_uses_words_and_reports_why(tmp_path: Path) -> None:
    chosen = settings(tmp_path, rerank=True)
    models = recall_models(chosen)
    assert (models.embedder, models.behind, models.reranker) == (None, None, None)
    assert problem_of(chosen, EMBEDDING).endswith("has no model.onnx")
    assert advice_for(chosen) == "Run `parley models pull`"
    await models.close()


async def test_installed_models_are_used_and_the_reranker_only_if_enabled(tmp_path: Path) -> None:
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


async def test_an_embedding_service_is_identified_by_its_model(tmp_path: Path) -> None:
    service = EmbeddingSection(
        name="nomic", api_key=SecretStr("k"), base_url="http://localhost:1/v1"
    )
    chosen = settings(tmp_path, embedding_provider="openai", embedding=service)
    models = recall_models(chosen)
    assert models.embedder is not None
    assert models.embedder.model == "openai/nomic"
    await models.close()


def test_models_are_in_the_folder_of_the_database_or_in_the_configured_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert models_folder(settings(tmp_path)) == tmp_path / "models"
    assert models_folder(settings(tmp_path, models_folder="~/m")) == tmp_path / "m"
    elsewhere = Settings(database=DatabaseSection(url="postgresql://u@h/d"))
    assert models_folder(elsewhere) == Path("data/models")


class Recalling:
    """Implements `Recall` with what it is given."""

    def __init__(self, answer: Callable[[], Awaitable[Recollection]]) -> None:
        self._answer = answer

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        return await self._answer()


async def test_steps_and_candidates_are_reported_as_metrics() -> None:
    clock, seen = FakeClock(), list[RecallMeasurement]()

    async def answer() -> Recollection:
        await clock.advance(0.5)
        stages = (RecallStage("bm25", 2.0), RecallStage("scoring", 0.5))
        return Recollection((), {"bm25": 3}, ("no_model",), stages)

    matches = await WatchedRecall(Recalling(answer), clock, seen.append).recall(
        access(), Query("why", AT)
    )
    assert matches.notes == ("no_model",)
    (one,) = seen
    assert (one.seconds, one.ended, one.results) == (0.5, "ok", 0)
    assert list(one.steps) == [("bm25", 0.002), ("scoring", 0.0005)]
    assert list(one.candidates) == [("bm25", 3)]
    assert list(one.notes) == ["no_model"]


async def test_a_failure_is_reported_and_raised_to_the_caller() -> None:
    seen: list[RecallMeasurement] = []

    async def fail() -> Recollection:
        raise StoreUnavailable("away")

    watched = WatchedRecall(Recalling(fail), FakeClock(), seen.append)
    with pytest.raises(StoreUnavailable):
        await watched.recall(access(), Query("why", AT))
    assert [one.ended for one in seen] == ["StoreUnavailable"]


async def test_a_cancelled_recall_is_reported_as_stopped() -> None:
    seen, begun = list[RecallMeasurement](), asyncio.Event()

    async def hang() -> Recollection:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    watched = WatchedRecall(Recalling(hang), FakeClock(), seen.append)
    asking = asyncio.create_task(watched.recall(access(), Query("why", AT)))
    await begun.wait()
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    assert [one.ended for one in seen] == ["stopped"]
