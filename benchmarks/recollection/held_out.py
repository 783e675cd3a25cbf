"""Weights chosen without the collection that they are measured on.

A list of settings, drawn once by a fixed seed around the default, goes over every collection. Each
collection is then measured with the setting that was best on all the others, and the mean over all
questions is what a new collection can expect.
"""

import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from benchmarks.recollection.filled import Library
from benchmarks.recollection.measures import CUTS, Measured
from benchmarks.recollection.runs import answered
from memory.ports.recall import Embedder
from memory.recall.rules import RecallRules

SETTINGS: Final = 24
ARMS: Final[dict[str, Sequence[Any]]] = {"vector": (0.25, 0.4, 0.55, 0.8)}
WEIGHTS: Final[dict[str, Sequence[Any]]] = {
    "after": ((0.4, 0.2), (0.5, 0.3), (0.6, 0.4), (0.7, 0.5)),
    "before": ((0.2, 0.1), (0.3, 0.2), (0.4, 0.3)),
    "answer": (0.0, 0.2, 0.4),
    "question": (0.0, 0.2, 0.4),
    "speaker": (0.5, 1.0, 1.5),
    "date": (1.0, 2.0, 3.0),
    "length": (0.5, 1.0),
}


def settings(rules: RecallRules) -> list[RecallRules]:
    """The default's neighbourhood: the recency and the limits stay as they are specified."""
    draw = random.Random(5)
    result = []
    for _ in range(SETTINGS):
        arms = {name: draw.choice(values) for name, values in ARMS.items()}
        weights = {name: draw.choice(values) for name, values in WEIGHTS.items()}
        result.append(
            replace(
                rules,
                arms=replace(rules.arms, **arms),
                weights=replace(rules.weights, **weights),
            )
        )
    return result


async def held_out(full: Library, embedder: Embedder | None) -> list[str]:
    """A line for every collection and one for all."""
    names = [corpus.name for corpus in full.corpora]
    tried: list[dict[str, list[Measured]]] = []
    for rules in [RecallRules(), *settings(RecallRules())]:
        by_corpus: dict[str, list[Measured]] = {name: [] for name in names}
        for one in await answered(full, embedder, rules):
            by_corpus[one.corpus].append(one.measured)
        tried.append(by_corpus)
    lines, all_of = [], []
    for name in names:
        others = [other for other in names if other != name]
        best = max(tried, key=lambda run, others=others: _worth(run, others))  # type: ignore[misc] # default
        all_of += best[name]
        lines.append(f"held out {name:12} setting {tried.index(best):2}  {_line(best[name])}")
    return [*lines, f"held out {'all':12} {'':11} {_line(all_of)}"]


def _worth(run: dict[str, list[Measured]], names: Sequence[str]) -> float:
    of = [one for name in names for one in run[name]]
    return statistics.fmean(one.recall[0] + one.recall[1] for one in of) if of else 0.0


def _line(of: Sequence[Measured]) -> str:
    return "  ".join(
        f"recall@{cut} {statistics.fmean(one.recall[place] for one in of):.3f}"
        for place, cut in enumerate(CUTS)
        if of
    )
