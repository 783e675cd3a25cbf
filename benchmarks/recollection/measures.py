"""Measures of a ranking."""

import math
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

CUTS: Final = (5, 10, 20)
NDCG_AT: Final = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """One question: the share of what answers it among the first 5, 10 and 20; nDCG@10 with every
    answer counting the same; milliseconds."""

    recall: tuple[float, ...]
    ndcg: float
    ms: float


def measured(results: Sequence[str], relevant: Collection[str], ms: float) -> Measured:
    """`results` best first; `relevant` is not empty."""
    expected = set(relevant)
    shares = tuple(len(expected.intersection(results[:cut])) / len(expected) for cut in CUTS)
    gains = [1 / math.log2(place + 2) for place in range(NDCG_AT)]
    gained = math.fsum(
        gain for gain, id_ in zip(gains, results[:NDCG_AT], strict=False) if id_ in expected
    )
    return Measured(shares, gained / math.fsum(gains[: len(expected)]), ms)


def summary(all_of: Sequence[Measured]) -> dict[str, float]:
    """The means over questions, and how long half and 95 of 100 took at most."""
    if not all_of:
        return {}
    figures = {
        f"recall@{cut}": round(statistics.fmean(one.recall[place] for one in all_of), 4)
        for place, cut in enumerate(CUTS)
    }
    figures[f"ndcg@{NDCG_AT}"] = round(statistics.fmean(one.ndcg for one in all_of), 4)
    times = sorted(one.ms for one in all_of)
    figures["p50_ms"] = round(times[len(times) // 2], 2)
    figures["p95_ms"] = round(times[min(len(times) - 1, int(len(times) * 0.95))], 2)
    return figures
