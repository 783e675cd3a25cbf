"""Asks a library every question, one at a time, in one or in many ways."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.recollection.corpora import Ask, Corpus
from benchmarks.recollection.filled import Library
from benchmarks.recollection.measures import CUTS, Measured, measured
from gateway.immutable import replace
from memory.ports.recall import Embedder, Query, Reranker
from memory.recall.retriever import Retriever
from memory.recall.rules import Fusion, RecallLimits, RecallRules, Weights

DEEP: Final = max(CUTS)
UNLIMITED: Final = RecallLimits(episodic=DEEP, semantic=DEEP, tokens=1_000_000)
"""The limits of a measurement of the order: those of a prompt would end it after ten turns."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, what was measured, the ids that were found and the searches that were used."""

    corpus: str
    ask: Ask
    measured: Measured
    results: tuple[str, ...]
    searches: tuple[str, ...]


async def answered(
    library: Library,
    embedder: Embedder | None,
    rules: RecallRules,
    reranker: Reranker | None = None,
) -> list[Answered]:
    """Every question of every collection, through the retriever that the gateway uses."""
    rules = replace(rules, limits=UNLIMITED)
    retriever = Retriever(library.stores.recall, library.stores.memories, embedder, reranker, rules)
    return [
        await _one(library, corpus, ask, retriever)
        for corpus in library.corpora
        for ask in corpus.questions
    ]


async def _one(library: Library, corpus: Corpus, ask: Ask, retriever: Retriever) -> Answered:
    query = Query(ask.text, corpus.now, limit=DEEP, unfinished=ask.unfinished)
    began = time.perf_counter()
    recollection = await retriever.recall(library.access(corpus), query)
    ms = (time.perf_counter() - began) * 1000
    results = tuple(one.id for one in recollection.results)
    expected = [library.kept(corpus, id_) for id_ in ask.relevant]
    return Answered(
        corpus.name, ask, measured(results, expected, ms), results, tuple(recollection.searches)
    )


async def returned(
    library: Library, embedder: Embedder | None, rules: RecallRules
) -> list[tuple[Ask, int]]:
    """Every question with the number of its results within the limits of a prompt."""
    retriever = Retriever(library.stores.recall, library.stores.memories, embedder, None, rules)
    counted = []
    for corpus in library.corpora:
        for ask in corpus.questions:
            query = Query(ask.text, corpus.now, unfinished=ask.unfinished)
            recollection = await retriever.recall(library.access(corpus), query)
            counted.append((ask, len(recollection.results)))
    return counted


def ablations(rules: RecallRules) -> Mapping[str, RecallRules]:
    """The ways that are compared: each search alone, reciprocal ranks, and the default with one
    ingredient after the other taken away."""
    weights, searches = rules.weights, rules.searches
    bare = Weights(
        after=(),
        before=(),
        answer=0.0,
        question=0.0,
        speaker=0.0,
        date=0.0,
        length=0.0,
        standing=1.0,
        project=1.0,
        everybody=1.0,
        recency=0.0,
    )
    plain = replace(searches, feedback=0)

    def on(**changed: object) -> RecallRules:
        return replace(rules, weights=replace(weights, **changed))  # type: ignore[arg-type] # by name

    return {
        "words alone": RecallRules(replace(plain, vector=0.0), bare),
        "likeness alone": RecallRules(replace(plain, lexical=0.0), bare),
        "RRF, k = 60": RecallRules(
            replace(plain, fusion=Fusion.RANKS, lexical=0.5, vector=0.5), bare
        ),
        "scores alone": RecallRules(plain, bare),
        "the default": rules,
        "without likeness": replace(rules, searches=replace(searches, vector=0.0)),
        "without words": replace(rules, searches=replace(searches, lexical=0.0)),
        "ranks instead of scores": replace(rules, searches=replace(searches, fusion=Fusion.RANKS)),
        "without what stands around": on(after=(), before=(), answer=0.0),
        "without more for an answer": on(answer=0.0),
        "questions count in full": on(question=0.0),
        "without speakers": on(speaker=0.0),
        "without dates": on(date=0.0),
        "without length": on(length=0.0),
        "without recency": on(recency=0.0),
        "without feedback": replace(rules, searches=replace(searches, feedback=0)),
    }


def by_kind(answers: Sequence[Answered]) -> dict[str, list[Measured]]:
    """Return the measurements by the kind of question."""
    kinds: dict[str, list[Measured]] = {}
    for one in answers:
        kinds.setdefault(one.ask.kind, []).append(one.measured)
    return dict(sorted(kinds.items()))
