"""The rules of recall: weights, bounds and limits.

The weights were chosen by measurement (`docs/reference/search-quality.md`).
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct, field

MAX_DEPTH: Final = 200
"""Candidates of one search."""
MAX_SPREAD: Final = 3
"""Turns before and after a candidate to which it lends its score."""


class Fusion(StrEnum):
    """The way to fuse two lists of candidates: by their scores, or by their ranks."""

    SCORES = "scores"
    RANKS = "ranks"


class SearchRules(Struct, frozen=True):
    """Finding and fusing candidates.

    `depth` candidates of each search, 1 to 200. `lexical` and `vector` are their weights, of which
    the ratio counts. `k` is the constant of reciprocal rank fusion. `embed_seconds`: how long a
    question's vector is waited for; after a failure the search by vector is paused for
    `pause_seconds`. With `feedback`, the best so many memories (no turns: they are too short) pull
    the question's vector towards themselves, by `feedback_weight`, and vectors are asked again.
    What is less alike than `least_alike`, a cosine, has nothing to do with the question: nothing is
    recalled for a "hello".

    Nothing is recalled either if all matches may be there by chance. The best certainty of a search
    by words (`SearchHit.certainty`) has to be `certain` where vectors found nothing. Otherwise it
    has to be `certain_alone`, or `certain_together` with `alike` times the best certainty of the
    search by vectors. A date in the question, which may be in no text, adds `dated`.
    """

    depth: int = 50
    fusion: Fusion = Fusion.SCORES
    lexical: float = 0.55
    vector: float = 0.45
    k: int = 60
    embed_seconds: float = 1.0
    pause_seconds: float = 30.0
    feedback: int = 3
    feedback_weight: float = 0.8
    least_alike: float = 0.2
    certain: float = 0.25
    certain_alone: float = 0.6
    certain_together: float = 0.85
    alike: float = 2.0
    dated: float = 0.1

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= MAX_DEPTH:
            raise ValueError(f"depth must be 1 to {MAX_DEPTH}, not {self.depth}")
        if self.k < 1:
            raise ValueError(f"k must be at least 1, not {self.k}")
        if min(self.lexical, self.vector) < 0 or self.lexical + self.vector <= 0:
            raise ValueError("the weights must not be negative, and one has to be above 0")


class Weights(Struct, frozen=True):
    """The weights of features besides the searches; 0 switches one off.

    A candidate lends its score to the turns after (`after`, nearest first) and before it. A
    question lends `answer` more to the next turn, and counts less itself, by `question`; the
    `spreading` best candidates lend. A turn of the named speaker counts 1 + `speaker` times, one of
    the named day 1 + `date` times. Short turns count less: the logarithm of their words up to
    `long_turn`, to the power of `length`. `standing` weighs memories that are no turns and have no
    neighbours; `project` and `everybody` weigh what is not the person's own. `recency` is the share
    of a turn's score that halves every `half_life_days`.
    """

    after: tuple[float, ...] = (0.6, 0.4)
    before: tuple[float, ...] = (0.4, 0.3)
    answer: float = 0.2
    question: float = 0.2
    spreading: int = 16
    speaker: float = 1.0
    date: float = 2.0
    length: float = 1.0
    long_turn: int = 60
    standing: float = 0.4
    project: float = 0.9
    everybody: float = 0.8
    recency: float = 0.3
    half_life_days: float = 30.0

    def __post_init__(self) -> None:
        if max(len(self.after), len(self.before)) > MAX_SPREAD:
            raise ValueError(
                f"a turn shares its score with at most {MAX_SPREAD} turns on each side"
            )
        if not 0 <= self.recency <= 1 or not 0 <= self.question <= 1:
            raise ValueError("recency and question must be 0 to 1")

    @property
    def span(self) -> int:
        """The number of turns before and after a candidate that are read."""
        return max(len(self.after), len(self.before))


class RecallLimits(Struct, frozen=True):
    """The limits of one recall; `tokens` is the total, with labels."""

    episodic: int = 10
    semantic: int = 20
    tokens: int = 4_000


class RecallRules(Struct, frozen=True):
    """Everything together. `rerank` candidates are given to a reranker where there is one, and its
    word counts `rerank_weight`, 0 to 1."""

    searches: SearchRules = field(default_factory=SearchRules)
    weights: Weights = field(default_factory=Weights)
    limits: RecallLimits = field(default_factory=RecallLimits)
    rerank: int = 50
    rerank_weight: float = 0.5
