"""Ranks matches by their words, in two ways.

`ranked` gives the weighted share of the asked words that a memory contains: the certainty of a
match, by which candidates are chosen. `bm25` also counts repetitions and the length of the text:
the quality of a match.

The weight of a word is ln(1 + N / n), where n memories contain it and N contain the most common of
the words; a word without matches counts as half a memory. The score is the sum of matched weights
divided by the sum of all. Only the searched partitions count; of equal scores the newer comes
first.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from memory.ports.recall import SearchHit
from memory.text.terms import Term

MAX_CANDIDATES: Final = 1_000
"""Memories that are weighed in one search, unless its rarest word is more common."""
MAX_WEIGHED: Final = 5_000
"""Memories that are weighed for one word: the newest."""
CHUNK: Final = 100
"""Memories that are read closely at a time."""
WEIGHED_CLOSELY: Final = 150
"""Candidates whose words are counted for `bm25`."""
MAX_CLOSE: Final = 60
"""Candidates that are compared word by word with a statement."""
BREVITY: Final = 4
"""Words that are added to the length of a text: a short one is not the closest for that alone."""
ALL: Final = 1 - 1e-9
SATURATION: Final = 1.2
LENGTH: Final = 0.75
"""BM25's usual k1 and b."""
FEW: Final = 8
"""Memories up to which every match is certain."""
MANY: Final = 600
"""Memories from which on the certainty of a match no longer depends on their number."""


class WordStatistics(Struct, frozen=True):
    """The number of memories and words in the searched partitions, and of memories with each
    word."""

    memories: int
    words: int
    having: tuple[int, ...]


class WordCandidate(NamedTuple):
    """A memory with its filed words."""

    number: int
    id: str
    words: str
    length: int


class WordUse(Struct, frozen=True):
    """The memories with a word. A common word is in more of them than `memories` says: `span` is
    the range of numbers in which so many are, 0 for another word."""

    memories: int
    span: int = 0


def rarity(having: int, total: int) -> float:
    """BM25's weight of a word that `having` of `total` texts have: ln(1 + (N - n + 0.5) / (n +
    0.5))."""
    return math.log1p((total - having + 0.5) / (having + 0.5))


def certainty(share: float, memories: int) -> float:
    """Return how certain a match with this share of the asked words is, 0 to 1.

    The more memories there are, the larger is the share that one of them has by chance: it grows
    with the logarithm of their number, from `FEW`, where every match is certain, to `MANY`.
    """
    chance = math.log(max(memories, FEW) / FEW) / math.log(MANY / FEW)
    return 1.0 if share >= chance else share / min(chance, 1.0)


def bm25(
    candidates: Iterable[WordCandidate],
    terms: Sequence[Term],
    known: WordStatistics,
    shares: Mapping[int, float],
) -> list[SearchHit]:
    """Return hits with scores above 0, best first; of two alike the newer comes first. A word that
    may be unfinished counts once at most. `shares` are those of the candidates' numbers, as
    `ranked` returns them."""
    total = max(known.memories, *known.having, 1)
    weights = [rarity(n, total) * (SATURATION + 1) for n in known.having]
    weighed = list(zip(weights, terms, strict=True))
    spelt = [(weight, f" {term.text} ") for weight, term in weighed if not term.prefix]
    begun = [(weight, term) for weight, term in weighed if term.prefix]
    usual = max(known.words / total, 1.0)
    scored = []
    for one in candidates:
        padded = f" {one.words} "
        apart = f" {one.words.replace(' ', '  ')} "  # "bye bye" is twice " bye " only there
        pivot = SATURATION * (1 - LENGTH + LENGTH * one.length / usual)
        score = 0.0
        for weight, word in spelt:  # spelt out: gone through some thousand times a question
            if word in padded:
                count = apart.count(word)
                score += weight * count / (count + pivot)
        for weight, term in begun:
            if term.stands_in(padded):
                score += weight / (1 + pivot)
        scored.append((score, one.number, one.id))
    return [
        SearchHit(id_, score, certainty(shares.get(number, 0.0), known.memories))
        for score, number, id_ in sorted(scored, reverse=True)
    ]


def closest(
    candidates: Iterable[WordCandidate], terms: Sequence[Term], uses: Sequence[WordUse], total: int
) -> list[tuple[int, float]]:
    """Return numbers and scores (above 0, to 1), best first: the weighted share of a statement's
    words that a text contains, less where it is longer than the statement. `total` is the number of
    memories among which the candidates are."""
    weights = _weights(uses, total)
    weighed = [pair for pair in zip(weights, terms, strict=True) if pair[0]]
    whole = math.fsum(weights) or 1.0
    spelt = [(weight, f" {term.text} ") for weight, term in weighed if not term.prefix]
    begun = [(weight, term) for weight, term in weighed if term.prefix]
    usual = len(terms) + BREVITY
    scored = []
    for one in candidates:
        padded = f" {one.words} "
        shared = sum([weight for weight, word in spelt if word in padded])
        shared += sum([weight for weight, term in begun if term.stands_in(padded)])
        longer = max(1.0, math.sqrt((one.length + BREVITY) / usual))
        if shared > 0:
            scored.append((min(1.0, shared / whole) / longer, one.number))
    return [(number, score) for score, number in sorted(scored, reverse=True)]


def _weights(uses: Sequence[WordUse], total: int) -> list[float]:
    """Return the weight of each word, 0 without a memory. The most common word is taken to be in
    every memory, and the others in as many as their spans say."""
    dense = min((use.span for use in uses if use.span), default=0)
    total = max(total, *(use.memories for use in uses))
    return [
        math.log1p(total / max(use.memories, total * dense / use.span if use.span else 0))
        if use.memories
        else 0.0
        for use in uses
    ]


def chosen(counts: Sequence[int], enough: int = MAX_CANDIDATES) -> list[int]:
    """Return the words that select candidates: the rarest, and more while at most `enough` match.
    The others count for the score only."""
    there = sorted((count, word) for word, count in enumerate(counts) if count)
    some: list[int] = []
    total = 0
    for count, word in there:
        if some and total + count > enough:
            break
        some.append(word)
        total += count
    return some


def ranked(hits: Mapping[int, int], counts: Sequence[int]) -> list[tuple[int, float]]:
    """Hits (number: words that are in it as bits) as (number, score), best first. The number grows
    with every memory; `counts` says in how many memories each word is."""
    most = max(counts, default=0) or 1
    weights = [math.log1p(most / (count or 0.5)) for count in counts]
    whole = math.fsum(weights) or 1.0
    scores: dict[int, float] = {}
    for mask in set(hits.values()):
        there = math.fsum(w for word, w in enumerate(weights) if mask >> word & 1)
        scores[mask] = min(1.0, there / whole)
    alike: dict[float, list[int]] = {score: [] for score in scores.values()}
    for number, mask in hits.items():
        alike[scores[mask]].append(number)
    return [
        (number, score)
        for score in sorted(alike, reverse=True)
        for number in sorted(alike[score], reverse=True)
    ]


def whole(hits: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Those of ranked hits that have every word."""
    return [hit for hit in hits if hit[1] > ALL]


def chunks(
    hits: Sequence[tuple[int, float]], after: int | None
) -> Iterator[Sequence[tuple[int, float]]]:
    """The hits after number `after`, in portions; none if that number is not among them."""
    start = 0
    if after is not None:
        places = (place for place, (number, _) in enumerate(hits) if number == after)
        start = next(places, len(hits)) + 1
    for begin in range(start, len(hits), CHUNK):
        yield hits[begin : begin + CHUNK]
