"""A corpus in an index of its own, and its questions."""

import hashlib
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.knowledge.corpora import Corpus
from benchmarks.recollection.measures import Measured, measured
from db import Database
from gateway.immutable import replace
from gateway.ports.clock import SystemClock
from memory.embeddings.backfill import ChunkBackfill
from memory.embeddings.local import LocalEmbedder
from memory.knowledge.access import KnowledgeAccess
from memory.knowledge.model import KnowledgeQuery, Repository, SplitFile
from memory.knowledge.ports import Batch, Nearness, NewFile
from memory.knowledge.ranking import RankingRules
from memory.knowledge.search import Searcher
from memory.knowledge.splitting import split_file
from memory.knowledge.stores.files import SqlFiles
from memory.knowledge.stores.nearest_chunks import ModelNearness
from memory.knowledge.stores.repositories import SqlRepositories
from memory.knowledge.stores.vectors import SqlChunkVectors
from memory.knowledge.stores.word_index import word_index_on
from memory.knowledge.words import filed_words

AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
COMMIT: Final = "0" * 40
BATCH: Final = 200


async def index(database: Database, corpus: Corpus) -> None:
    """Split and index all files of a corpus."""
    words = word_index_on(database)
    await SqlRepositories(database, words).add(_repository(_id(corpus)))
    files = SqlFiles(database, words)
    await files.begin(_id(corpus), "main", followed=True, target=COMMIT, rules="")
    new = [_new(path, split_file(path, text), text) for path, text in corpus.files]
    for begin in range(0, len(new), BATCH):
        batch = Batch(files=new[begin : begin + BATCH])
        await files.write(_id(corpus), "main", COMMIT, batch, AT)
    await files.finish(_id(corpus), "main", COMMIT, AT)


async def embed(database: Database, model: LocalEmbedder) -> tuple[float, int]:
    """Make the vectors of all chunks; return the seconds of processor time, and the chunks."""
    vectors = SqlChunkVectors(database)
    work = ChunkBackfill(vectors, model, SystemClock(), warm=model.warm)
    began = time.process_time()
    while await work.step():
        pass
    return time.process_time() - began, (await vectors.embedded(model.model))[0]


def nearness_on(database: Database, model: LocalEmbedder) -> Nearness:
    """The search by vectors, without a limit of time that a busy machine would exceed."""
    return ModelNearness(database, model, seconds=60)


async def answered(
    database: Database,
    corpus: Corpus,
    rules: RankingRules | None = None,
    nearness: Nearness | None = None,
) -> list[Measured]:
    """Ask all questions of a corpus, one at a time."""
    searcher = Searcher(database, word_index_on(database), rules, nearness)
    access = KnowledgeAccess(_id(corpus), public=False, member=True)
    results = []
    for one in corpus.questions:
        began = time.perf_counter()
        hits = await searcher.search(access, KnowledgeQuery(one.text, corpus.kinds, limit=10))
        ms = (time.perf_counter() - began) * 1000
        results.append(measured([hit.path for hit in hits], one.relevant, ms))
    return results


def switched_off() -> dict[str, RankingRules]:
    """The rules with each of them taken away."""
    every = RankingRules()
    none: dict[str, Any] = dict.fromkeys(
        ("definition", "qualified", "file_name", "path", "symbol", "further", "nearness"), 0.0
    )
    factors = dict.fromkeys(("aside", "document", "other_language"), 1.0)
    alone = {name: replace(every, **{name: value}) for name, value in (none | factors).items()}
    return {**alone, "replaced": replace(every, replaced=False)}


def size_of(file: Path) -> int:
    """Bytes of an SQLite database."""
    return sum(each.stat().st_size for each in file.parent.glob(f"{file.name}*"))


def _id(corpus: Corpus) -> str:
    """The id of a corpus, which has a tenant of its own."""
    return f"{corpus.name} {' '.join(sorted(corpus.kinds))}"


def _new(path: str, split: SplitFile, text: str) -> NewFile:
    content = text.encode(errors="replace")
    digest = hashlib.sha256(content).hexdigest()
    words = tuple(map(filed_words, split.chunks))
    return NewFile(path, digest[:40], digest, len(content), split, words)


def _repository(name: str) -> Repository:
    return Repository(name, name, "", name, name, name, "", False, (), (), AT)
