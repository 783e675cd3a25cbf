"""Ranking of files by their chunks: BM25, vectors, and rules for code and documents.

A file's score by words is the sum of its chunks', of which each further one counts half as much as
the one before, with what its path and its names add, times factors for what it is. Its score by
vectors is the sum of its chunks' in the same way. Each is divided by that of the best file, and
both are added. Every rule is a field of `RankingRules` and has a value that switches it off.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from memory.knowledge.model import FileKind
from memory.knowledge.question import KnowledgeQuestion
from memory.knowledge.splitting.kinds import DOCUMENTS
from memory.knowledge.words import DEFINED, count_in, last_name, whole_word, words_of
from memory.stores.word_ranking import LENGTH, SATURATION, rarity

FULL: Final = SATURATION + 1
"""The score of a word of weight 1 in a short text that repeats it without end."""
ABOVE: Final = 1.001
"""The score of a decision that is lifted, as a multiple of that of the one that it replaces."""
ALONE: Final = 4.0
"""The factor of `exact` where a name with capitals or signs is the whole question."""
MAX_SUMMED: Final = 20
"""Chunks of a file that count."""
NEARNESS_POWER: Final = 1.5
"""A cosine counts by this power: texts that have nothing in common still have a small one."""
_DESCRIBING: Final = DOCUMENTS | frozenset(
    ["", "html", "json", "yaml", "toml", "xml", "css", "make", "dockerfile", "sql"]
)
"""Languages of documents and of data."""
_ASIDE_FOLDERS: Final = frozenset(
    """
    test tests spec specs testing testdata fixture fixtures mocks
    example examples demo demos sample samples benchmark benchmarks bench benches
    vendor vendored third_party third-party node_modules dist build generated gen
    """.split()  # noqa: SIM905 - reads better
)
_ASIDE_NAME: Final = re.compile(
    r"(?:test_|conftest\.)|.*?(?:[._-](?:tests?|specs?|mocks?|generated|min|pb)\.|_pb2|\.d\.ts\Z)"
)
_ASIDE_ENDINGS: Final = ("Test", "Tests", "Spec", "TestCase", "IT", "Benchmark")


class RankingRules(Struct, frozen=True):
    """The weights of the rules, in units of a word's weight, and factors from 0 to 1.

    `definition` and `file_name` count once for each name of the question that a chunk defines, or
    that a file is called; `exact` counts again for a name that is written letter for letter so in
    the question: `FromRequest` is not `from_request`. `path` counts for a word in the path,
    `symbol` for a word in the names or headings of a chunk. `further` is the factor of each further
    chunk. `aside` is the factor of tests, examples and what others wrote, `document` that of
    documents and data where code is asked for, and of code where an explanation is;
    `other_language` that of code in another language than the one that is named. `replaced`: a
    decision that another one replaces stands below that. `nearness` is the weight of the score by
    vectors, where chunks have vectors. 0 switches a weight off, 1 a factor; `further` is switched
    off by 0.
    """

    definition: float = 1.0
    file_name: float = 1.0
    path: float = 1.0
    symbol: float = 0.5
    further: float = 0.5
    aside: float = 0.4
    document: float = 0.5
    replaced: bool = True
    other_language: float = 0.5
    qualified: float = 1.0
    exact: float = 1.0
    nearness: float = 1.0


class FoundChunk(Struct, frozen=True):
    """A chunk that has words of the question, or whose vector is near. `words` are its filed words,
    `length` their number. `nearness` is the cosine of its vector and the question's, 0 if it is not
    among the nearest."""

    number: int
    length: int
    words: str
    symbol: str
    heading: str
    nearness: float = 0.0


@dataclass(slots=True)
class FoundFile:
    """A file with the chunks that were found. `number` is that of its row; `superseded_by` is the
    path of the decision that replaces it, or what the file says of it."""

    number: int
    repository: str
    path: str
    kind: FileKind
    language: str
    status: str
    superseded_by: str
    named: bool = False
    """True if the question has its path."""
    chunks: list[FoundChunk] = field(default_factory=list)


class ChunkStatistics(Struct, frozen=True):
    """The number of chunks and words in the searched partitions, and of chunks with each word."""

    chunks: int
    words: int
    having: Mapping[str, int]

    def weight(self, word: str) -> float:
        """BM25's weight of a word."""
        having = self.having.get(word, 0)
        return rarity(having, max(self.chunks, having, 1))


class Ranked(Struct, frozen=True):
    """A file with its score and its best chunk."""

    file: FoundFile
    chunk: FoundChunk
    score: float


def ranked(
    question: KnowledgeQuestion,
    files: Iterable[FoundFile],
    known: ChunkStatistics,
    rules: RankingRules,
) -> list[Ranked]:
    """Return the files with a chunk, best first; of two alike the one whose path sorts first."""
    weights = {word: known.weight(word) for word in question.words}
    names = {name: known.weight(DEFINED + name) for name in question.names}
    most = known.weight("")
    usual = max(known.words / max(known.chunks, 1), 1.0)
    results = []
    for file in files:
        if not file.chunks:
            continue
        scores = sorted(
            ((_chunk(one, question, weights, names, usual, rules), one) for one in file.chunks),
            key=lambda scored: (-scored[0], scored[1].number),
        )
        total = _summed([score for score, _ in scores], rules)
        total += _path(file, weights, names, most, rules)
        results.append(Ranked(file, scores[0][1], total * _factor(file, question, rules)))
    if rules.nearness:
        results = _with_nearness(results, question, rules)
    first = FULL * most * 10
    results = [replace(one, score=one.score + first) if one.file.named else one for one in results]
    if rules.replaced:
        results = _below_what_replaces_them(results)
    return sorted(results, key=lambda one: (-one.score, one.file.path, one.file.repository))


def _summed(scores: Sequence[float], rules: RankingRules) -> float:
    """The sum of the chunks of a file, the greatest score first."""
    return sum(score * rules.further**place for place, score in enumerate(scores[:MAX_SUMMED]))


def _with_nearness(
    results: Sequence[Ranked], question: KnowledgeQuestion, rules: RankingRules
) -> list[Ranked]:
    """Add the scores by vectors to those by words. A file shows the chunk that is best by the one
    of which the file has more."""
    near = [_nearness(one.file, question, rules) for one in results]
    most_near = max(near, default=0.0)
    if not most_near:
        return list(results)
    most_words = max(one.score for one in results) or 1.0
    fused = []
    for one, nearness in zip(results, near, strict=True):
        by_words, by_vector = one.score / most_words, rules.nearness * nearness / most_near
        nearest = max(one.file.chunks, key=lambda chunk: (chunk.nearness, -chunk.number))
        chunk = nearest if by_vector > by_words else one.chunk
        fused.append(replace(one, chunk=chunk, score=by_words + by_vector))
    return fused


def _nearness(file: FoundFile, question: KnowledgeQuestion, rules: RankingRules) -> float:
    cosines = sorted((max(chunk.nearness, 0.0) for chunk in file.chunks), reverse=True)
    total = _summed([cosine**NEARNESS_POWER for cosine in cosines], rules)
    return total * _factor(file, question, rules)


def _below_what_replaces_them(results: Sequence[Ranked]) -> list[Ranked]:
    """Lift decisions that replace a found one to its score, if theirs is less."""
    lifted: dict[tuple[str, str], float] = {}
    for one in results:
        if one.file.superseded_by:
            key = (one.file.repository, one.file.superseded_by)
            lifted[key] = max(lifted.get(key, 0.0), one.score * ABOVE)
    return [
        replace(one, score=max(one.score, lifted.get((one.file.repository, one.file.path), 0.0)))
        for one in results
    ]


def _chunk(
    chunk: FoundChunk,
    question: KnowledgeQuestion,
    weights: Mapping[str, float],
    names: Mapping[str, float],
    usual: float,
    rules: RankingRules,
) -> float:
    score = sum(weight * use(chunk, word, usual) for word, weight in weights.items())
    if rules.symbol:
        named = _named_words(chunk)
        score += rules.symbol * sum(weight for word, weight in weights.items() if word in named)
    for name, weight in names.items():
        if f" {DEFINED}{name}:" in chunk.words:
            score += rules.definition * weight
            if "." in question.symbol and _defines(chunk, question.symbol):
                score += rules.qualified * weight
    if rules.exact and question.written:
        defined = frozenset(last_name(symbol) for symbol in chunk.symbol.split())
        found = (names[whole_word(one)] for one in question.written if one in defined)
        alone = ALONE if question.symbol and not question.symbol.islower() else 1.0
        score += rules.exact * alone * sum(found)
    return score


def use(chunk: FoundChunk, word: str, usual: float) -> float:
    """Return how much a chunk has of a word, 0 to `FULL`: BM25 without the word's weight. `usual`
    is the mean number of words of a chunk."""
    count = count_in(chunk.words, word)
    if not count:
        return 0.0
    return FULL * count / (count + SATURATION * (1 - LENGTH + LENGTH * chunk.length / usual))


def _named_words(chunk: FoundChunk) -> frozenset[str]:
    names = [last_name(symbol) for symbol in chunk.symbol.split()]
    return frozenset(words_of(" ".join(names)))


def _defines(chunk: FoundChunk, symbol: str) -> bool:
    """True if the last two names of a symbol are those of a definition."""
    asked = [whole_word(name) for name in symbol.split(".")[-2:]]
    defined = ([whole_word(name) for name in one.split(".")[-2:]] for one in chunk.symbol.split())
    return any(names == asked for names in defined)


def _path(
    file: FoundFile,
    weights: Mapping[str, float],
    names: Mapping[str, float],
    most: float,
    rules: RankingRules,
) -> float:
    words = frozenset(words_of(file.path))
    stem = file.path.rpartition("/")[2].partition(".")[0]
    score = rules.path * FULL * sum(weight for word, weight in weights.items() if word in words)
    return score + (rules.file_name * most if whole_word(stem) in names else 0.0)


def _factor(file: FoundFile, question: KnowledgeQuestion, rules: RankingRules) -> float:
    factor = 1.0
    if not question.aside and is_aside(file.path):
        factor *= rules.aside
    if question.explains != (file.language in _DESCRIBING):
        factor *= rules.document
    if (
        question.languages
        and file.kind is FileKind.CODE
        and file.language not in question.languages
    ):
        factor *= rules.other_language
    return factor


def is_aside(path: str) -> bool:
    """True for tests, examples, benchmarks, and for code that others wrote or a program made."""
    *folders, name = path.split("/")
    if any(part.lower().strip("_") in _ASIDE_FOLDERS for part in folders):
        return True
    lower, stem = name.lower(), name.partition(".")[0]
    return _ASIDE_NAME.match(lower) is not None or stem.endswith(_ASIDE_ENDINGS)
