"""Models of recall, and the measurement of every recall."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from gateway.observe.metrics import RecallMeasurement
from gateway.ports import Clock
from memory.embeddings.catalogue import EMBEDDING, RERANKING, LocalModel
from memory.embeddings.local import LocalEmbedder, LocalReranker, installed
from memory.embeddings.openai import DEFAULT_MODEL, OpenAiEmbedder
from memory.model.scope import AccessScope
from memory.ports.recall import BackgroundEmbedder, Embedder, Query, Recall, Recollection, Reranker
from parley.config import Settings
from parley.config.sections import sqlite_file
from parley.python_environment import install_command

FOLDER: Final = "models"
BY_WORDS: Final = "memories are found by their words only"

log = structlog.get_logger(__name__)

Action = Callable[[], Awaitable[None]]


class RecallModels(Struct, frozen=True):
    """The models of recall; each may be None. `behind` is the same model as `embedder`, for
    background work."""

    embedder: Embedder | None = None
    behind: BackgroundEmbedder | None = None
    reranker: Reranker | None = None
    warms: tuple[Action, ...] = ()
    closes: tuple[Action, ...] = ()

    async def warm(self) -> None:
        """Load the models, which takes seconds. Raises `ModelError` subclasses."""
        for warm in self.warms:
            await warm()

    async def close(self) -> None:
        """Release threads and connections."""
        for close in self.closes:
            await close()


def recall_models(settings: Settings) -> RecallModels:
    """The configured models that are installed. They are neither loaded nor downloaded. Raises
    `ConfigurationError` where the library of `openai` is not installed."""
    section = settings.memory
    if not section.enabled:
        return RecallModels()
    for model in _local_models(settings):
        if problem := problem_of(settings, model):
            log.info("model_not_used", problem=problem, effect=BY_WORDS, hint=advice_for(settings))
    reranker = LocalReranker(models_folder(settings)) if _is_usable(settings, RERANKING) else None
    closes = (reranker.close,) if reranker else ()
    warms = (reranker.warm,) if reranker else ()
    embedder: LocalEmbedder | OpenAiEmbedder
    if section.embedding_provider == "openai":
        key = section.embedding.api_key
        text = key.get_secret_value() if key else ""
        embedder = OpenAiEmbedder(text, section.embedding.name, section.embedding.base_url or "")
    elif _is_usable(settings, EMBEDDING):
        embedder = LocalEmbedder(models_folder(settings))
    else:
        return RecallModels(reranker=reranker, warms=warms, closes=closes)
    return RecallModels(
        embedder, embedder, reranker, (embedder.warm, *warms), (*closes, embedder.close)
    )


def models_folder(settings: Settings) -> Path:
    """The folder of the models: the configured one, or one beside the database."""
    if settings.memory.models_folder:
        return Path(settings.memory.models_folder).expanduser()
    database = sqlite_file(settings.database.url)
    return Path(database).with_name(FOLDER) if database else Path("data") / FOLDER


def problem_of(settings: Settings, model: LocalModel) -> str:
    """The reason why a model cannot be used on this machine; empty when it can."""
    if missing := model.missing(models_folder(settings)):
        return f"{model.folder(models_folder(settings))} has no {missing[0]}"
    return "" if installed() else f"the libraries for {model.name} are not installed"


def embedding_problem(settings: Settings) -> str:
    """The reason why no model makes vectors of chunks of repositories; empty when one does."""
    memory, vectors = settings.memory, settings.knowledge.vectors
    if vectors == "none":
        return "knowledge.vectors is none"
    if memory.embedding_provider == "none" or not memory.enabled:
        return "no embedding model is configured"
    if memory.embedding_provider != "local":
        return "" if vectors == "any" else "knowledge.vectors allows models on this machine only"
    problem = problem_of(settings, EMBEDDING)
    return f"{problem}. {advice_for(settings)}" if problem else ""


def vector_model(settings: Settings) -> str:
    """The name of the model that makes vectors; empty without one."""
    match settings.memory.embedding_provider:
        case "local":
            return EMBEDDING.name
        case "openai":
            return f"openai/{settings.memory.embedding.name or DEFAULT_MODEL}"
        case _:
            return ""


def advice_for(settings: Settings) -> str:
    """The steps that make the configured models usable."""
    fetch = any(model.missing(models_folder(settings)) for model in _local_models(settings))
    steps = ["`parley models pull`"] if fetch else []
    return "Run " + " and ".join(
        steps if installed() else [*steps, f"`{install_command('models')}`"]
    )


def _local_models(settings: Settings) -> list[LocalModel]:
    section = [EMBEDDING] if settings.memory.embedding_provider == "local" else []
    return [*section, RERANKING] if settings.memory.rerank else section


def _is_usable(settings: Settings, model: LocalModel) -> bool:
    return model in _local_models(settings) and not problem_of(settings, model)


class WatchedRecall:
    """Implements `memory.ports.recall.Recall` around another one, and passes a measurement of each
    call to `report`, which neither waits nor raises."""

    def __init__(
        self, recall: Recall, clock: Clock, report: Callable[[RecallMeasurement], None]
    ) -> None:
        self._recall = recall
        self._clock = clock
        self._report = report

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        """The result of the other recall. Raises `StoreUnavailable`."""
        began, ended, recollection = self._clock.monotonic(), "ok", Recollection()
        try:
            recollection = await self._recall.recall(access, query)
        except asyncio.CancelledError:
            ended = "stopped"
            raise
        except Exception as error:
            ended = type(error).__name__
            raise
        finally:
            self._report(measurement_of(recollection, ended, self._clock.monotonic() - began))
        return recollection


def measurement_of(recollection: Recollection, ended: str, seconds: float) -> RecallMeasurement:
    """The measurement of a recall, without content."""
    return RecallMeasurement(
        seconds,
        ended,
        steps=[(stage.name, stage.ms / 1000) for stage in recollection.stages],
        candidates=recollection.searches.items(),
        results=len(recollection.results),
        notes=recollection.notes,
    )
