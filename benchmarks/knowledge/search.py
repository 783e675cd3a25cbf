"""Does a search of repositories find it? nDCG@10 over the paths of files.

    python -m benchmarks.knowledge.search --semble semble.json --repositories DIR
                                            a folder of each repository; --whole: all of it
    python -m benchmarks.knowledge.search --cosqa cosqa.json     functions of one language
    python -m benchmarks.knowledge.search --decisions --repositories DIR
                                            decision records and incidents, questions of our own

    --rules          also with each rule taken away once
    --baselines      also by `git grep -c`, and by plain BM25 over whole files
    --vectors DIR    also by vectors of the model in a folder that `parley models pull` filled
    --postgres URL   an empty PostgreSQL database instead of SQLite files

DIR holds a bare clone `owner+name` of each repository, with the named commits. Each line is JSON.
Times include everything but the splitting and indexing of the files.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.knowledge.baselines import BASELINES
from benchmarks.knowledge.corpora import Corpus, cosqa, decisions, semble
from benchmarks.knowledge.indexed import (
    answered,
    embed,
    index,
    nearness_on,
    size_of,
    switched_off,
)
from benchmarks.recollection.measures import Measured, summary
from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from memory.embeddings.local import LocalEmbedder
from memory.knowledge.schema import FILE_SCHEMA


def main() -> int:
    """Print the requested measurement; return 2 when there is no data."""
    arguments = _arguments()
    try:
        corpora = _corpora(arguments)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"cannot read the collection: {error!r}", file=sys.stderr)
        return 2
    asyncio.run(_measure(arguments, corpora))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.knowledge.search")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--semble", type=Path, metavar="PATH")
    source.add_argument("--cosqa", type=Path, metavar="PATH")
    source.add_argument("--decisions", action="store_true")
    parser.add_argument("--repositories", type=Path, metavar="DIR", default=Path())
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--vectors", type=Path, metavar="DIR")
    parser.add_argument("--postgres", metavar="URL", default="")
    return parser.parse_args()


def _corpora(options: argparse.Namespace) -> list[Corpus]:
    if options.semble:
        return semble(options.semble, options.repositories, whole=options.whole)
    if options.cosqa:
        return cosqa(options.cosqa)
    return decisions(options.repositories)


async def _measure(options: argparse.Namespace, corpora: Iterable[Corpus]) -> None:
    results: dict[str, list[Measured]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, corpus in enumerate(corpora):
            await _measure_one(options, corpus, Path(folder) / f"{number}.db", results)
    for name, measures in results.items():
        print(json.dumps({"ranking": name, "questions": len(measures), **summary(measures)}))


async def _measure_one(
    options: argparse.Namespace, corpus: Corpus, file: Path, results: dict[str, list[Measured]]
) -> None:
    if options.postgres:
        database: SqliteDatabase | PostgresDatabase = PostgresDatabase(
            options.postgres, (FILE_SCHEMA,)
        )
    else:
        database = SqliteDatabase(file, (FILE_SCHEMA,))
    await database.start()
    try:
        began = time.perf_counter()
        await index(database, corpus)
        seconds = time.perf_counter() - began
        words_size = 0 if options.postgres else size_of(file) // 1000
        nearness, vectors = None, {}
        if options.vectors:
            model = LocalEmbedder(options.vectors)
            embed_s, chunks = await embed(database, model)
            nearness = nearness_on(database, model)
            vectors = {"vectors": chunks, "vectors_s": round(embed_s, 1), "words_kB": words_size}
        answers = await answered(database, corpus, nearness=nearness)
        results.setdefault("all rules", []).extend(answers)
        if options.rules:
            for name, rules in switched_off().items():
                without = await answered(database, corpus, rules, nearness)
                results.setdefault(f"without {name}", []).extend(without)
    finally:
        await database.stop()
    if options.baselines:
        for name, baseline in BASELINES.items():
            results.setdefault(name, []).extend(baseline(corpus))
    figures = {
        "corpus": corpus.name,
        "files": len(corpus.files),
        "kB": sum(len(text) for _, text in corpus.files) // 1000,
        "index_s": round(seconds, 2),
        "index_kB": 0 if options.postgres else size_of(file) // 1000,
    }
    print(json.dumps(figures | vectors | summary(answers)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
