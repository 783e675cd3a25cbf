"""Models on this machine, through fastembed and onnxruntime: embeddings and reranking.

A model is loaded on first use, in its own threads. onnxruntime costs 1.5 s and 300 MB, so it is
imported with the first text. Conversation and background work share one session but have a thread
each, so a question never waits for a batch.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory.embeddings.catalogue import EMBEDDING
from memory.model.record import Embedding

if TYPE_CHECKING:
    from fastembed import TextEmbedding


import asyncio
import importlib.util
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gateway.errors import LibraryMissing, ModelRefused, ModelUnavailable
from memory.embeddings.catalogue import RERANKING, LocalModel

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder


Loaded = TypeVar("Loaded")
Result = TypeVar("Result")

MAX_WAITING: Final = 256
"""Calls that may wait for a thread; one more is refused at once."""
LOWER: Final = 10
"""The niceness of the background thread, if the system allows it."""


def installed() -> bool:
    """True if the libraries are installed; does not import them."""
    return importlib.util.find_spec("fastembed") is not None


class Runtime(Generic[Loaded]):
    """A model from a folder. `load` loads it from the folder, once, in a thread."""

    def __init__(self, model: LocalModel, models: Path, load: Callable[[Path], Loaded]) -> None:
        self._model = model
        self._models = models
        self._load = load
        self._lock = Lock()
        self._loaded: Loaded | None = None
        self._foreground = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._background = ThreadPoolExecutor(
            1, thread_name_prefix="model-background", initializer=_lower_priority
        )
        self._waiting = 0

    async def run(self, work: Callable[[Loaded], Result], *, background: bool = False) -> Result:
        """Return the result of `work(model)`. Raises `ModelRefused` if the model or its libraries
        are missing or cannot be loaded, `ModelUnavailable` if too many calls wait."""
        if self._waiting >= MAX_WAITING:
            raise ModelUnavailable(f"too many texts wait for {self._model.name}")
        self._waiting += 1
        try:
            pool = self._background if background else self._foreground
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(pool, lambda: work(self._load_once()))
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Stop; calls that have not begun are cancelled."""
        for pool in (self._foreground, self._background):
            pool.shutdown(wait=False, cancel_futures=True)

    def _load_once(self) -> Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._begun()
            return self._loaded

    def _begun(self) -> Loaded:
        if missing := self._model.missing(self._models):
            folder = self._model.folder(self._models)
            raise ModelRefused(f"{folder} has no {missing[0]}; run parley models pull")
        if not installed():
            raise ModelRefused(str(LibraryMissing(self._model.name, ("fastembed",), "models")))
        try:
            return self._load(self._model.folder(self._models))
        except Exception as error:
            raise ModelRefused(f"{self._model.name} cannot be loaded: {error}"[:500]) from error


def floats(rows: Sequence[Any]) -> list[tuple[float, ...]]:
    """Return numpy's rows as plain numbers."""
    return [tuple(row.tolist()) for row in rows]


def _lower_priority() -> None:
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, 0, LOWER)  # of this thread only, on Linux


BATCH: Final = 16
"""Texts of one batch; they are padded to the longest."""
MAX_TEXT: Final = 4_000
"""Characters of a text that are read; the model uses about its first 256 words."""
THREADS: Final = 1
"""Threads of one call; two calls may run at once, and other work needs the remaining cores."""


class LocalEmbedder:
    """Implements `memory.ports.recall.Embedder`. `models` is the folder of all models."""

    def __init__(self, models: Path) -> None:
        self._runtime: Runtime[TextEmbedding] = Runtime(EMBEDDING, models, _loaded)

    @property
    def model(self) -> str:
        """The model's name."""
        return EMBEDDING.name

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector per text, in their order."""
        return await self._embed(texts, background=False)

    async def embed_in_background(self, texts: Sequence[str]) -> list[Embedding]:
        """Return vectors without delaying questions."""
        return await self._embed(texts, background=True)

    async def warm(self) -> None:
        """Load the model now, so that no question waits for that."""
        await self.embed_in_background([" "])

    async def close(self) -> None:
        """Stop the threads."""
        self._runtime.close()

    async def _embed(self, texts: Sequence[str], *, background: bool) -> list[Embedding]:
        shortened = [text[:MAX_TEXT] or " " for text in texts]
        if not shortened:
            return []
        rows = await self._runtime.run(
            lambda model: floats(list(model.embed(shortened, batch_size=BATCH))),
            background=background,
        )
        return [Embedding(self.model, row) for row in rows]


def _loaded(folder: Path) -> "TextEmbedding":
    from fastembed import TextEmbedding  # noqa: PLC0415 - 1.2 s, and wanted only with a model

    return TextEmbedding(EMBEDDING.fastembed, specific_model_path=str(folder), threads=THREADS)


MAX_TEXTS: Final = 200
"""Texts of one call; a cross-encoder reads each of them with the question."""


class LocalReranker:
    """Implements `memory.ports.recall.Reranker`. `models` is the folder of all models."""

    def __init__(self, models: Path) -> None:
        self._runtime: Runtime[TextCrossEncoder] = Runtime(RERANKING, models, _loaded_reranker)

    async def judge(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in their order; higher is better. Raises `ValueError` for more than
        200 texts."""
        if len(texts) > MAX_TEXTS:
            raise ValueError(f"at most {MAX_TEXTS} texts are ranked at once, not {len(texts)}")
        if not texts:
            return []
        shortened = [text[:MAX_TEXT] or " " for text in texts]

        def work(model: "TextCrossEncoder") -> list[float]:
            return [float(s) for s in model.rerank(query[:MAX_TEXT], shortened, batch_size=BATCH)]

        return await self._runtime.run(work)

    async def warm(self) -> None:
        """Load the model now, so that no question waits for that."""
        await self.judge(" ", [" "])

    async def close(self) -> None:
        """Stop the threads."""
        self._runtime.close()


def _loaded_reranker(folder: Path) -> "TextCrossEncoder":
    from fastembed.rerank.cross_encoder import (  # noqa: PLC0415 - wanted only with a model
        TextCrossEncoder,
    )

    return TextCrossEncoder(RERANKING.fastembed, specific_model_path=str(folder), threads=THREADS)
