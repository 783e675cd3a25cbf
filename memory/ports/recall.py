"""The seams of recall: two arms that find candidates, a model that makes vectors, one that judges.

`memory/stores/` implements the arms, `memory/embeddings/` the models. Everything of a person is
reached
through an `AccessScope`, and the filter is in the query, so that the first `limit` are the first of
what
this person may see here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.model.recollection import Recollection
from memory.model.record import Embedding, Record
from memory.model.scope import AccessScope
from memory.ports import Filter
from memory.recall.query import Query


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate of one arm; a higher score is better, and comparable within one list only."""

    id: str
    score: float


class RecallStore(Protocol):
    """Finds candidates. Every method raises `gateway.errors.StoreUnavailable`."""

    async def lexical(
        self, access: AccessScope, query: str, wanted: Filter, limit: int
    ) -> list[Hit]:
        """By the words of `query` (BM25), best first; `wanted.text` is not looked at.

        With `wanted.unfinished` the last word may go on, as somebody types.
        """
        ...

    async def nearest(
        self, access: AccessScope, query: Embedding, wanted: Filter, limit: int
    ) -> list[Hit]:
        """By cosine similarity to vectors of the same model, best first."""
        ...

    async def neighbours(
        self, access: AccessScope, ids: Sequence[str], span: int, alone: Sequence[str] = ()
    ) -> list[Record]:
        """These memories and, of turns, up to `span` turns before and after each in the same
        conversation, and those `alone`, as far as they may be seen; oldest first within a
        conversation."""
        ...


class Recall(Protocol):
    """Finds what is remembered about something; a `Retriever` is one."""

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        """What fits and may be seen here, best first. Raises `gateway.errors.StoreUnavailable`."""
        ...


class Embedder(Protocol):
    """Makes vectors of unit length."""

    @property
    def model(self) -> str:
        """Its name; vectors of different names are never compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector per text, in their order. Raises `gateway.errors.ModelError` subclasses where
        the model cannot be used."""
        ...


class Reranker(Protocol):
    """Judges how well texts answer a query, with a cross-encoder."""

    async def judge(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in their order; higher is better."""
        ...
