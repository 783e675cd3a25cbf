"""Ports of recall: search by words and by vectors, embedding and reranking models.

`memory/stores/` implements the searches and `memory/embeddings/` the models. The filter is part of
the query, so the first `limit` hits are the first ones that this person may see here.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct, field

from memory.model.recollection import Recollection
from memory.model.record import Embedding
from memory.model.scope import AccessScope
from memory.ports.memories import Filter

MAX_RESULTS: Final = 100


class Query(Struct, frozen=True):
    """A question to memory. `at` is the time of the question; `limit` is 1 to 100.

    `unfinished`: the question is still being typed, and its last word may go on. `filters` narrows
    the search; its text and limit are ignored, and it defaults to what is true at the time `at`.
    """

    text: str
    at: datetime
    limit: int = 30
    unfinished: bool = False
    filters: Filter = field(default_factory=Filter)

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_RESULTS:
            raise ValueError(f"limit must be 1 to {MAX_RESULTS}, not {self.limit}")


class Hit(Struct, frozen=True):
    """A candidate of one search; scores are comparable within one list only."""

    id: str
    score: float


class Recall(Protocol):
    """Answers questions to memory."""

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        """Return visible matches, best first. Raises `StoreUnavailable`."""
        ...


class Embedder(Protocol):
    """Makes vectors of unit length."""

    @property
    def model(self) -> str:
        """The model's name; vectors of different models are never compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Return one vector per text, in order. Raises `ModelError`."""
        ...


class Reranker(Protocol):
    """Scores how well texts answer a query, with a cross-encoder."""

    async def judge(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order; higher is better."""
        ...


class BackgroundEmbedder(Protocol):
    """Makes vectors in background work."""

    @property
    def model(self) -> str: ...

    async def embed_in_background(self, texts: Sequence[str]) -> list[Embedding]:
        """Return one vector per text, in order. Raises `ModelError`."""
        ...
