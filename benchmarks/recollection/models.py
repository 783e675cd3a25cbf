"""The model of a measurement: the one on this machine, asked once for the same text."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from memory.embeddings.catalogue import EMBEDDING
from memory.embeddings.local import LocalEmbedder, installed
from memory.model.record import Embedding
from memory.ports.recall import Embedder

FOLDER: Final = Path("data/models")
MAX_REMEMBERED: Final = 100_000


class Remembered:
    """Gives the vector of a text that was asked for before. For comparing ways of recall, never for
    their times."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: OrderedDict[str, Embedding] = OrderedDict()

    @property
    def model(self) -> str:
        """The model's name."""
        return self._embedder.model

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector per text, in their order."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            made = await self._embedder.embed(new)
            self._known.update(zip(new, made, strict=True))
        embeddings = [self._known[text] for text in texts]
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return embeddings


def found_in(folder: Path | None) -> LocalEmbedder | None:
    """The model in a folder, as `parley models pull` leaves it; else, in a checkout with the
    development dependencies, the one that the tests make; None where there is neither."""
    if not installed():
        return None
    for models in (folder, None if folder else FOLDER, None if folder else made_for_tests()):
        if models is not None and not EMBEDDING.missing(models):
            return LocalEmbedder(models)
    return None


def made_for_tests() -> Path | None:
    """The folder of the model that the tests make, None where its weights are not installed."""
    try:
        from tests.support import minilm  # noqa: PLC0415 - only where development happens

        return minilm.folder()
    except ImportError:
        return None
