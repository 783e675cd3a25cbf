"""Rankings to compare with: counting lines as `grep -c` does, and plain BM25 over whole files."""

import re
import sqlite3
import time
from collections.abc import Callable
from typing import Final

from benchmarks.knowledge.corpora import Corpus
from benchmarks.recollection.measures import Measured, measured
from memory.knowledge.splitting import split_file
from memory.text.stop_words import STOP_WORDS

_WORD: Final = re.compile(r"\w+")


def counted_lines(corpus: Corpus) -> list[Measured]:
    """Files by the number of lines that have any of the words, as `rg -c -i` counts them."""
    lines = {path: text.lower().split("\n") for path, text in _searched(corpus)}
    results = []
    for one in corpus.questions:
        began = time.perf_counter()
        words = _words(one.text)
        counts = {
            path: sum(any(word in line for word in words) for line in some)
            for path, some in lines.items()
        }
        best = sorted((path for path in counts if counts[path]), key=lambda p: (-counts[p], p))
        ms = (time.perf_counter() - began) * 1000
        results.append(measured(best[:10], one.relevant, ms))
    return results


def plain_bm25(corpus: Corpus) -> list[Measured]:
    """SQLite's FTS5 over whole files: stems, any of the words."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE files USING fts5(path UNINDEXED, text, tokenize=porter)")
    database.executemany("INSERT INTO files VALUES (?, ?)", _searched(corpus))
    results = []
    for one in corpus.questions:
        began = time.perf_counter()
        query = " OR ".join(f'"{word}"' for word in _words(one.text))
        rows = database.execute(
            "SELECT path FROM files WHERE files MATCH ? ORDER BY rank LIMIT 10", (query,)
        ).fetchall()
        ms = (time.perf_counter() - began) * 1000
        results.append(measured([path for (path,) in rows], one.relevant, ms))
    database.close()
    return results


BASELINES: Final[dict[str, Callable[[Corpus], list[Measured]]]] = {
    "lines counted, as rg -c": counted_lines,
    "plain BM25 over whole files": plain_bm25,
}


def _words(text: str) -> list[str]:
    words = _WORD.findall(text.lower())
    return [word for word in words if word not in STOP_WORDS] or words


def _searched(corpus: Corpus) -> list[tuple[str, str]]:
    if not corpus.kinds:
        return list(corpus.files)
    return [
        (path, text) for path, text in corpus.files if split_file(path, text).kind in corpus.kinds
    ]
