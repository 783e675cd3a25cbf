"""Weights chosen without the collection that they are measured on.

A list of settings, drawn once by a fixed seed around the default, goes over every collection. Each
collection is then measured with the setting that was best on all the others, and the mean over all
questions is what a new collection can expect.
"""

import random
import statistics
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final

from msgspec.structs import fields

from benchmarks.recollection.cached import CachedSearches
from benchmarks.recollection.filled import Library
from benchmarks.recollection.measures import CUTS, Measured
from benchmarks.recollection.runs import Answered, answered
from gateway.immutable import replace
from memory.ports.recall import Embedder
from memory.recall.rules import Fusion, RecallRules

SETTINGS: Final = 24
CHANGED: Final = 0.5
"""The share of the weights of a setting that are drawn; the others are those of the default."""
SEARCHES: Final[dict[str, Sequence[Any]]] = {
    "vector": (0.25, 0.35, 0.55, 0.8),
    "fusion": (Fusion.SCORES, Fusion.SCORES, Fusion.RANKS),
    "feedback": (0, 5),
    "feedback_weight": (0.4, 1.2),
}
WEIGHTS: Final[dict[str, Sequence[Any]]] = {
    "after": ((0.4, 0.2), (0.5, 0.3), (0.7, 0.5)),
    "before": ((0.2, 0.1), (0.3, 0.2), (0.5, 0.4)),
    "answer": (0.0, 0.4),
    "question": (0.0, 0.4),
    "speaker": (0.5, 1.5),
    "date": (1.0, 3.0),
    "length": (0.5, 0.75),
    "standing": (0.3, 0.6, 0.9),
}


def settings(rules: RecallRules) -> list[RecallRules]:
    """The default's neighbourhood: the recency and the limits stay as they are specified."""
    draw = random.Random(5)

    def drawn(grid: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        return {name: draw.choice(grid[name]) for name in grid if draw.random() < CHANGED}

    return [
        replace(
            rules,
            searches=replace(rules.searches, **drawn(SEARCHES)),
            weights=replace(rules.weights, **drawn(WEIGHTS)),
        )
        for _ in range(SETTINGS)
    ]


async def held_out(full: Library, embedder: Embedder | None) -> list[str]:
    """A line for every collection and one for all."""
    names = [corpus.name for corpus in full.corpora]
    tried: list[dict[str, list[Measured]]] = []
    for _, answers in await _each_setting(full, embedder):
        by_corpus: dict[str, list[Measured]] = {name: [] for name in names}
        for one in answers:
            by_corpus[one.corpus].append(one.measured)
        tried.append(by_corpus)
    lines, all_of = [], []
    for name in names:
        others = [other for other in names if other != name]
        best = max(tried, key=lambda run, others=others: _worth(run, others))  # type: ignore[misc] # default
        all_of += best[name]
        lines.append(f"held out {name:12} setting {tried.index(best):2}  {_line(best[name])}")
    return [*lines, f"held out {'all':12} {'':11} {_line(all_of)}"]


async def corpora_left_out(groups: Mapping[str, Library], embedder: Embedder | None) -> list[str]:
    """A line for each group of collections, as `left_out_table`; then the changes of the settings
    that it names."""
    scores = {
        name: [_score(full, answers) for _, answers in await _each_setting(full, embedder)]
        for name, full in groups.items()
    }
    tried = [RecallRules(), *settings(RecallRules())]
    places = {best_on(scores)}
    for name, own in scores.items():
        places |= {best_on(_without(scores, name)), own.index(max(own))}
    changes = [f"setting {place}: {_difference(tried[place])}" for place in sorted(places)]
    return [*left_out_table(scores), *changes]


def left_out_table(scores: Mapping[str, Sequence[float]]) -> list[str]:
    """Each corpus with its score by the first setting, which is the default, by the setting that is
    best on the other corpora, and by its own best setting. `scores` are those of each setting, of
    two corpora at least."""
    lines = [f"{'left out':12} {'default':>8} {'chosen':>14} {'best possible':>14}"]
    for name, own in scores.items():
        chosen, best = best_on(_without(scores, name)), own.index(max(own))
        lines.append(
            f"{name:12} {own[0]:8.3f} {f'{own[chosen]:.3f} ({chosen})':>14}"
            f" {f'{own[best]:.3f} ({best})':>14}"
        )
    return [*lines, f"best on all: setting {best_on(scores)}"]


def best_on(scores: Mapping[str, Sequence[float]]) -> int:
    """Return the place of the setting with the best mean of its shares of each corpus' best score;
    the first of equal ones."""
    places = range(len(next(iter(scores.values()))))
    return max(
        places,
        key=lambda place: statistics.fmean(of[place] / (max(of) or 1.0) for of in scores.values()),
    )


def _without(scores: Mapping[str, Sequence[float]], name: str) -> dict[str, Sequence[float]]:
    return {other: of for other, of in scores.items() if other != name}


async def _each_setting(
    full: Library, embedder: Embedder | None
) -> list[tuple[RecallRules, list[Answered]]]:
    """The default first. Every search is asked once."""
    stores = copy(full.stores)
    stores.recall = CachedSearches(stores.recall)
    cached = replace(full, stores=stores)
    return [
        (rules, await answered(cached, embedder, rules))
        for rules in [RecallRules(), *settings(RecallRules())]
    ]


def _score(full: Library, answers: Sequence[Answered]) -> float:
    """Return the mean of recall@5 and recall@10 of chats, and nDCG@10 of documents."""
    of = [one.measured for one in answers]
    if any(document.role for corpus in full.corpora for document in corpus.documents):
        return statistics.fmean(statistics.fmean(one.recall[:2]) for one in of) if of else 0.0
    return statistics.fmean(one.ndcg for one in of) if of else 0.0


def _difference(rules: RecallRules) -> str:
    default = RecallRules()
    pairs = ((rules.searches, default.searches), (rules.weights, default.weights))
    return (
        ", ".join(
            f"{field.name} {getattr(one, field.name)}"
            for one, other in pairs
            for field in fields(one)
            if getattr(one, field.name) != getattr(other, field.name)
        )
        or "the default"
    )


def _worth(run: dict[str, list[Measured]], names: Sequence[str]) -> float:
    of = [one for name in names for one in run[name]]
    return statistics.fmean(one.recall[0] + one.recall[1] for one in of) if of else 0.0


def _line(of: Sequence[Measured]) -> str:
    return "  ".join(
        f"recall@{cut} {statistics.fmean(one.recall[place] for one in of):.3f}"
        for place, cut in enumerate(CUTS)
        if of
    )
