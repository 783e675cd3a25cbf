"""Runs a model on this machine: loaded on first use, in its own threads.

onnxruntime costs 1.5 s and 300 MB, so it is imported with the first text. Conversation and
background work share one session but have a thread each, so a question never waits for a batch.
"""

import asyncio
import importlib.util
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from gateway.errors import ModelRefused, ModelUnavailable
from memory.embeddings.catalogue import LocalModel

Loaded = TypeVar("Loaded")
Result = TypeVar("Result")

INSTALL: Final = 'pip install "fastembed>=0.9.1,<0.10"'
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
        self._asked = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._behind = ThreadPoolExecutor(
            1, thread_name_prefix="model-background", initializer=_give_way
        )
        self._waiting = 0

    async def run(self, work: Callable[[Loaded], Result], *, background: bool = False) -> Result:
        """Return the result of `work(model)`. Raises `ModelRefused` if the model or its libraries
        are missing or cannot be loaded, `ModelUnavailable` if too many calls wait."""
        if self._waiting >= MAX_WAITING:
            raise ModelUnavailable(f"too many texts wait for {self._model.name}")
        self._waiting += 1
        try:
            pool = self._behind if background else self._asked
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(pool, lambda: work(self._there()))
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Stop; calls that have not begun are cancelled."""
        for pool in (self._asked, self._behind):
            pool.shutdown(wait=False, cancel_futures=True)

    def _there(self) -> Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._begun()
            return self._loaded

    def _begun(self) -> Loaded:
        if missing := self._model.missing(self._models):
            folder = self._model.folder(self._models)
            raise ModelRefused(f"{folder} has no {missing[0]}; run parley models pull")
        if not installed():
            raise ModelRefused(f"{self._model.name} needs libraries; run {INSTALL}")
        try:
            return self._load(self._model.folder(self._models))
        except Exception as error:
            raise ModelRefused(f"{self._model.name} cannot be loaded: {error}"[:500]) from error


def floats(rows: Sequence[Any]) -> list[tuple[float, ...]]:
    """Return numpy's rows as plain numbers."""
    return [tuple(row.tolist()) for row in rows]


def _give_way() -> None:
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, 0, LOWER)  # of this thread only, on Linux
