"""Ports of recall: search by words and by vectors, embedding and reranking models; its results.

`memory/stores/` implements the searches and `memory/embeddings/` the models. The filter is part of
the query, so the first `limit` hits are the first ones that this person may see here.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final, Protocol

from msgspec import Struct, field

from memory.model.record import Embedding, Record
from memory.model.scope import AccessScope
from memory.ports.memories import Filter


class RecallStage(Struct, frozen=True):
    """A step of recall and its duration."""

    name: str
    """The name of the step."""
    ms: float
    """Its duration in milliseconds."""


class Recalled(Struct, frozen=True):
    """A memory that answers a question, without secrets.

    `score` is 0 to 1. `source_scores` and `source_ranks` (from 1) are those of each method ("bm25",
    "vector", "reranker"); both are empty for a turn that was added as a neighbour. `label`
    describes its reliability for the model, empty for the person's own words.
    """

    record: Record
    """The memory, with its text as it may be shown."""
    score: float
    source_scores: Mapping[str, float]
    source_ranks: Mapping[str, int]
    label: str = ""

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.record.id


class Recollection(Struct, frozen=True):
    """The results of a question, best first.

    `searches` are those that answered, with their numbers of candidates. `notes` give reasons for
    missing parts: "no_model", "model_failed", "model_slow", "model_paused", "exact",
    "reranker_failed"; "unrelated" if no candidate is about the subject of the question; for a
    question with a time the values of `memory.recall.time_listing.Answer`. Of the `candidates`,
    `left_out` were beyond a limit and `repeats` repeated another result.
    """

    results: tuple[Recalled, ...] = ()
    searches: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    stages: tuple[RecallStage, ...] = ()
    """The steps in order."""
    candidates: int = 0
    left_out: int = 0
    repeats: int = 0
    tokens: int = field(default=0)
    """The estimated tokens of the results."""

    @property
    def ms(self) -> float:
        """The total duration in milliseconds."""
        return sum(stage.ms for stage in self.stages)


MAX_RESULTS: Final = 100


class Query(Struct, frozen=True):
    """A question to memory. `at` is the time of the question; `limit` is 1 to 100.

    `unfinished`: the question is still being typed, and its last word may go on. `filters` narrows
    the search; its text and limit are ignored, and it defaults to what is true at the time `at`.
    `zone` is the one in which the person counts days, and `languages` are those that the question
    may be written in, the likeliest first.
    """

    text: str
    at: datetime
    limit: int = 30
    unfinished: bool = False
    filters: Filter = field(default_factory=Filter)
    zone: tzinfo = UTC
    languages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_RESULTS:
            raise ValueError(f"limit must be 1 to {MAX_RESULTS}, not {self.limit}")


class SearchHit(Struct, frozen=True):
    """A candidate of one search; scores are comparable within one list only."""

    id: str
    """The id of the memory."""
    score: float
    """The score; a higher one is better."""
    certainty: float = 1.0
    """The certainty that the memory is not found by chance, 0 to 1: by words, the weighted share of
    the question's words that it contains; by vectors, the cosine above the least one. In few
    memories a smaller value is as certain (`word_ranking.certainty`)."""


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
