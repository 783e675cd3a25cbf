"""Chooses the models of recall by the configuration, and says what stands in the way of them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from memory.embeddings.catalogue import EMBEDDING, RERANKING, LocalModel
from memory.embeddings.local import LocalEmbedder
from memory.embeddings.openai import OpenAiEmbedder
from memory.embeddings.reranker import LocalReranker
from memory.embeddings.runtime import INSTALL, installed
from memory.ports.recall import BackgroundEmbedder, Embedder, Reranker
from parley.config import Settings
from parley.config.sections import sqlite_file

FOLDER: Final = "models"
BY_WORDS: Final = "memories are found by their words only"

log = structlog.get_logger(__name__)

Action = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class RecallModels:
    """What recall may use; None is done without. `behind` is the same model as `embedder`, for
    work that nobody waits for."""

    embedder: Embedder | None = None
    behind: BackgroundEmbedder | None = None
    reranker: Reranker | None = None
    warms: tuple[Action, ...] = ()
    closes: tuple[Action, ...] = ()

    async def warm(self) -> None:
        """Load what there is, which takes seconds. Raises `ModelError` subclasses."""
        for warm in self.warms:
            await warm()

    async def close(self) -> None:
        """Let go of threads and connections."""
        for close in self.closes:
            await close()


def recall_models(settings: Settings) -> RecallModels:
    """The configured models, as far as they are here. Nothing is loaded and nothing is fetched.
    Raises `ConfigurationError` where the library of `openai` is not installed."""
    wanted = settings.memory
    if not wanted.enabled:
        return RecallModels()
    for model in _wanted_here(settings):
        if problem := problem_of(settings, model):
            log.info("model_not_used", problem=problem, effect=BY_WORDS, hint=advice_for(settings))
    reranker = LocalReranker(models_folder(settings)) if _here(settings, RERANKING) else None
    closes = (reranker.close,) if reranker else ()
    warms = (reranker.warm,) if reranker else ()
    made: LocalEmbedder | OpenAiEmbedder
    if wanted.embedding_provider == "openai":
        key = wanted.embedding.api_key
        text = key.get_secret_value() if key else ""
        made = OpenAiEmbedder(text, wanted.embedding.name, wanted.embedding.base_url or "")
    elif _here(settings, EMBEDDING):
        made = LocalEmbedder(models_folder(settings))
    else:
        return RecallModels(reranker=reranker, warms=warms, closes=closes)
    return RecallModels(made, made, reranker, (made.warm, *warms), (*closes, made.close))


def models_folder(settings: Settings) -> Path:
    """Where the models of this machine lie: the configured folder, or one beside the database."""
    if settings.memory.models_folder:
        return Path(settings.memory.models_folder).expanduser()
    database = sqlite_file(settings.database.url)
    return Path(database).with_name(FOLDER) if database else Path("data") / FOLDER


def problem_of(settings: Settings, model: LocalModel) -> str:
    """What stands in the way of a model on this machine; empty for nothing."""
    if missing := model.missing(models_folder(settings)):
        return f"{model.folder(models_folder(settings))} has no {missing[0]}"
    return "" if installed() else f"the libraries for {model.name} are not installed"


def advice_for(settings: Settings) -> str:
    """What to do so that the wanted models can be used."""
    fetch = any(model.missing(models_folder(settings)) for model in _wanted_here(settings))
    steps = ["`parley models pull`"] if fetch else []
    return "Run " + " and ".join(steps if installed() else [*steps, f"`{INSTALL}`"])


def _wanted_here(settings: Settings) -> list[LocalModel]:
    wanted = [EMBEDDING] if settings.memory.embedding_provider == "local" else []
    return [*wanted, RERANKING] if settings.memory.rerank else wanted


def _here(settings: Settings, model: LocalModel) -> bool:
    return model in _wanted_here(settings) and not problem_of(settings, model)
