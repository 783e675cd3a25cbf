"""ms-marco-MiniLM-L-6-v2 on this machine, through fastembed and onnxruntime."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory.embeddings.catalogue import RERANKING
from memory.embeddings.runtime import Runtime

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

BATCH: Final = 16
MAX_TEXT: Final = 4_000
MAX_TEXTS: Final = 200
"""Texts of one call; a cross-encoder reads each of them with the question."""
THREADS: Final = 1


class LocalReranker:
    """Implements `memory.ports.recall.Reranker`. `models` is the folder of all models."""

    def __init__(self, models: Path) -> None:
        self._runtime: Runtime[TextCrossEncoder] = Runtime(RERANKING, models, _loaded)

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


def _loaded(folder: Path) -> "TextCrossEncoder":
    from fastembed.rerank.cross_encoder import (  # noqa: PLC0415 - wanted only with a model
        TextCrossEncoder,
    )

    return TextCrossEncoder(RERANKING.fastembed, specific_model_path=str(folder), threads=THREADS)
