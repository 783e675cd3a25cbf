"""all-MiniLM-L6-v2 on this machine, through fastembed and onnxruntime."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory.embeddings.catalogue import EMBEDDING
from memory.embeddings.runtime import Runtime, floats
from memory.model.record import Embedding

if TYPE_CHECKING:
    from fastembed import TextEmbedding

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
