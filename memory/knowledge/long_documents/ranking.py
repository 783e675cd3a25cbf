"""Ranking of passages by the words of a question: BM25, as chunks of repositories are ranked."""

from collections.abc import Sequence

from msgspec import Struct

from memory.knowledge.long_documents.words import PART, AskedWord
from memory.knowledge.ranking import ChunkStatistics, FoundChunk, use


class RankedPassage(Struct, frozen=True):
    """The number of a passage with its score, and the weighted share of the question's words that
    it has, 0 to 1."""

    number: int
    score: float
    share: float


def ranked_passages(
    asked: Sequence[AskedWord], found: Sequence[FoundChunk], known: ChunkStatistics
) -> list[RankedPassage]:
    """Return the passages that have a word of the question, best first; of two alike the one that
    was stored first. A word counts as its best form; as a part of a compound it counts less."""
    usual = max(known.words / max(known.chunks, 1), 1.0)
    weights = [_weight(word, known) for word in asked]
    total = sum(weights) or 1.0
    ranked = []
    for chunk in found:
        uses = [_use(word, chunk, known, usual) for word in asked]
        score = sum(weight * used for weight, used in zip(weights, uses, strict=True))
        has = sum(weight for weight, used in zip(weights, uses, strict=True) if used)
        if score > 0:
            ranked.append(RankedPassage(chunk.number, score, has / total))
    return sorted(ranked, key=lambda one: (-one.score, one.number))


def _weight(word: AskedWord, known: ChunkStatistics) -> float:
    """The weight of the word's most common form; of a word that no passage has, that of the less
    common part of the pair that is used."""
    having = max(known.having.get(one, 0) for one in word.whole)
    if not having and (pair := _pair(word, known)):
        having = min(known.having.get(one, 0) for one in pair if known.having.get(one, 0))
    return ChunkStatistics(known.chunks, known.words, {"": having}).weight("")


def _use(word: AskedWord, chunk: FoundChunk, known: ChunkStatistics, usual: float) -> float:
    whole = max(use(chunk, one, usual) for one in word.whole)
    return whole or PART * sum(use(chunk, one, usual) for one in _pair(word, known))


def _pair(word: AskedWord, known: ChunkStatistics) -> tuple[str, ...]:
    """The parts of a compound: the first pair of which the documents have both words, or else the
    pair with the longest word that they have."""
    best: tuple[str, ...] = ()
    longest = 0
    for pair in word.splits:
        there = [one for one in pair if known.having.get(one, 0)]
        if len(there) == len(pair):
            return pair
        if there and len(there[0]) > longest:
            best, longest = pair, len(there[0])
    return best
