"""The results of recall, and how they were found."""

from collections.abc import Mapping

from msgspec import Struct, field

from memory.model.record import Record


class Stage(Struct, frozen=True):
    """A step of recall and its duration."""

    name: str
    ms: float


class Recalled(Struct, frozen=True):
    """A memory that answers a question, without secrets.

    `score` is 0 to 1. `source_scores` and `source_ranks` (from 1) are those of each method ("bm25",
    "vector", "reranker"); both are empty for a turn that was added as a neighbour. `label`
    describes its reliability for the model, empty for the person's own words.
    """

    record: Record
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
    "reranker_failed". Of the `candidates`, `left_out` were beyond a limit and `repeats` repeated
    another result.
    """

    results: tuple[Recalled, ...] = ()
    searches: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    candidates: int = 0
    left_out: int = 0
    repeats: int = 0
    tokens: int = field(default=0)

    @property
    def ms(self) -> float:
        """The total duration in milliseconds."""
        return sum(stage.ms for stage in self.stages)
