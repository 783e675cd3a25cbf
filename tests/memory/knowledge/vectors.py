"""An embedding model for tests of repositories: a text is the words in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.model.record import Embedding

MEANINGS = (("cat", "kitten"), ("dog", "puppy"), ("car", "engine"), ("tree", "oak"))


@dataclass
class MeaningModel:
    """Implements `Embedder` and `BackgroundEmbedder`: one number for each of `MEANINGS`, and a
    small one for all texts. `more` numbers of 0 make a vector of another dimension."""

    model: str = "m"
    more: int = 0
    error: Exception | None = None
    texts: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.asked += texts
        return self._embedded(texts)

    async def embed_in_background(self, texts: Sequence[str]) -> list[Embedding]:
        self.texts += texts
        return self._embedded(texts)

    def _embedded(self, texts: Sequence[str]) -> list[Embedding]:
        if self.error:
            raise self.error
        return [Embedding(self.model, (*vector_of(text), *[0.0] * self.more)) for text in texts]


def vector_of(text: str) -> tuple[float, ...]:
    """The vector of a text, of length 1."""
    counts = [float(any(word in text for word in words)) for words in MEANINGS]
    numbers = (*counts, 0.1)
    length = sum(number * number for number in numbers) ** 0.5
    return tuple(number / length for number in numbers)
