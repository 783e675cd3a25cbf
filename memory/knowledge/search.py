"""Search of repositories by words, and by meaning where chunks have vectors.

The words of a question choose chunks by the word index, rarest first; the chunks that have the most
of their weight are read, with the files that have them. The vector of the question chooses the
nearest chunks, which are read likewise. `memory.knowledge.ranking` ranks the files. Each statement
reads only what the access allows, and the statistics count only what is searched.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from db import Database, Row, Work, fetch
from db.values import storable, texts_of
from gateway.immutable import replace
from memory.knowledge.access import KnowledgeAccess
from memory.knowledge.model import ChunkHit, FileKind, KnowledgeQuery
from memory.knowledge.ports import Nearness
from memory.knowledge.question import MAX_TEXT, KnowledgeQuestion, understood
from memory.knowledge.ranking import ChunkStatistics, FoundFile, Ranked, RankingRules, ranked
from memory.knowledge.schema import partition_of
from memory.knowledge.stores.candidates import (
    DECISIONS,
    READABLE,
    FoundFiles,
    filtered,
    read_chunks,
    read_hits,
    read_paths,
)
from memory.knowledge.stores.word_index import ChunkWordSearch, Matches
from memory.knowledge.words import DEFINED
from memory.model.record import Embedding

_NUMBER: Final = re.compile(r"(?:adrs?|rfc|dr)?+[-_ #]*+0*+(\d{1,6}+)")


class Supersession:
    """Decision records by the names with which others refer to them.

    `records` are repositories, paths and what the records at these paths say that they replace.
    """

    def __init__(self, records: Iterable[tuple[str, str, tuple[str, ...]]]) -> None:
        self._paths: dict[tuple[str, str], str] = {}
        told = []
        for repository, path, replaced in records:
            told += [(repository, path, name) for name in replaced]
            for name in reference_names(path):
                self._paths.setdefault((repository, name), path)
        self._replaced: dict[tuple[str, str], str] = {}
        for repository, path, name in told:
            old = self._path_of(repository, name)
            if old and old != path:
                self._replaced.setdefault((repository, old), path)

    def replaces(self, repository: str, path: str, superseded_by: str) -> str:
        """Return the path of the record that replaces the one at `path`, which itself says
        `superseded_by`; that text if no record has such a name, "" if nothing replaces it."""
        if superseded_by:
            return self._path_of(repository, superseded_by) or superseded_by
        return self._replaced.get((repository, path), "")

    def _path_of(self, repository: str, reference: str) -> str:
        names = reference_names(reference)
        return next((p for n in names if (p := self._paths.get((repository, n)))), "")


def reference_names(reference: str) -> tuple[str, ...]:
    """The names under which a record is found: its file name, and its number without zeros."""
    name = reference.lower().rpartition("/")[2]
    number = _NUMBER.match(name)
    return (name, f"#{number[1]}") if number else (name,)


MAX_LIMIT: Final = 50
"""Results of one search."""
CLOSE: Final = 400
"""Chunks that are read closely."""
PORTIONS: Final = 5
"""Portions of `CLOSE` chunks that are read at most while a filter leaves too few."""


class _FoundChunks(Struct, frozen=True):
    """The result of reading by words. `partitions` are those of the readable repositories."""

    files: FoundFiles
    statistics: ChunkStatistics
    partitions: Sequence[str]


class Searcher:
    """Finds chunks of repositories that an access may read."""

    def __init__(
        self,
        database: Database,
        words: ChunkWordSearch,
        rules: RankingRules | None = None,
        nearness: Nearness | None = None,
    ) -> None:
        self._database = database
        self._words = words
        self._rules = rules or RankingRules()
        self._nearness = nearness

    async def search(self, access: KnowledgeAccess, query: KnowledgeQuery) -> list[ChunkHit]:
        """Return the best chunk of each file that fits, best file first, at most `query.limit`
        (1 to 50). Raises `StoreUnavailable`."""
        question = understood(storable(query.text))
        if not question.words:
            return []
        found, vector = await asyncio.gather(
            self._database.run(lambda: self._found(access, query, question)),
            self._vector(query.text),
        )
        if vector is not None and found.partitions:
            await self._add_nearest(access, query, found, vector)
        files = list(found.files.files.values())
        if not files:
            return []
        decisions = await self._database.run(lambda: _decisions(access, files))
        # Thousands of references between decisions take too long for the event loop.
        best, supersession = await asyncio.to_thread(
            _ranked, question, files, found.statistics, decisions, self._rules
        )
        chosen = best[: max(1, min(query.limit, MAX_LIMIT))]
        hits = await self._database.run(lambda: read_hits(chosen, access))
        return [_told(hit, supersession) for hit in hits]

    def _found(
        self, access: KnowledgeAccess, query: KnowledgeQuery, question: KnowledgeQuestion
    ) -> Work[_FoundChunks]:
        readable = yield from fetch(READABLE, access.parameters())
        kinds = sorted(query.kinds or FileKind)
        partitions = [partition_of(row[0], kind) for row in readable for kind in kinds]
        if not partitions:
            return _FoundChunks(FoundFiles(), ChunkStatistics(0, 0, {}), ())
        words = [*question.words, *(f"{DEFINED}{name}" for name in question.names)]
        matches = yield from self._words.matching(partitions, words)
        files = yield from _read(access, query, question, matches)
        having = dict(zip(words, matches.having, strict=True))
        return _FoundChunks(
            files, ChunkStatistics(matches.chunks, matches.words, having), partitions
        )

    async def _vector(self, text: str) -> Embedding | None:
        """The vector of a question; None without a model, and where words only are searched."""
        if self._nearness is None or not self._rules.nearness:
            return None
        return await self._nearness.vector(storable(text[:MAX_TEXT]))

    async def _add_nearest(
        self, access: KnowledgeAccess, query: KnowledgeQuery, found: _FoundChunks, vector: Embedding
    ) -> None:
        """Add the nearest chunks to what was found by words, as far as the access allows them."""
        assert self._nearness is not None  # noqa: S101 - it made the vector
        labelled = bool(query.services or query.topics)
        limit = PORTIONS * CLOSE if labelled else CLOSE
        cosines = await self._nearness.nearest(found.partitions, vector, limit)
        if not cosines:
            return
        rows = await self._database.run(lambda: _read_portions(list(cosines), access, query))
        for row in rows:
            found.files.add(row)
        found.files.note_nearness(cosines)


def _read(
    access: KnowledgeAccess, query: KnowledgeQuery, question: KnowledgeQuestion, matches: Matches
) -> Work[FoundFiles]:
    """Read the chunks with the greatest weight of words, and the files that the question names."""
    found = FoundFiles()
    if question.paths:
        conditions, values = filtered(query)
        values |= access.parameters()
        for row in (yield from read_paths(question.paths, conditions, values)):
            found.add(row, named=True)
    for row in (yield from _read_portions(matches.heaviest(), access, query)):
        found.add(row)
    return found


def _read_portions(
    numbers: Sequence[int], access: KnowledgeAccess, query: KnowledgeQuery
) -> Work[list[Row]]:
    """Read chunks, the first ones; further portions while a filter leaves too few."""
    conditions, values = filtered(query)
    values |= access.parameters()
    found: list[Row] = []
    for begin in range(0, min(len(numbers), PORTIONS * CLOSE), CLOSE):
        found += yield from read_chunks(numbers[begin : begin + CLOSE], conditions, values)
        if len(found) >= CLOSE // 2:
            break
    return found


def _decisions(access: KnowledgeAccess, files: Sequence[FoundFile]) -> Work[list[Row]]:
    repositories = {one.repository for one in files if one.kind is FileKind.DECISION}
    if not repositories:
        return []
    values = access.parameters() | {"repositories": sorted(repositories)}
    return (yield from fetch(DECISIONS, values))


def _ranked(
    question: KnowledgeQuestion,
    files: Sequence[FoundFile],
    statistics: ChunkStatistics,
    decisions: Sequence[Row],
    rules: RankingRules,
) -> tuple[list[Ranked], Supersession]:
    """Rank files; `decisions` are rows of `DECISIONS`."""
    records = ((repository, path, texts_of(told)) for repository, path, told in decisions)
    supersession = Supersession(records)
    for file in files:
        if file.kind is FileKind.DECISION:
            by = supersession.replaces(file.repository, file.path, file.superseded_by)
            file.superseded_by = by
    return ranked(question, files, statistics, rules), supersession


def _told(hit: ChunkHit, supersession: Supersession) -> ChunkHit:
    if hit.kind is not FileKind.DECISION:
        return hit
    by = supersession.replaces(hit.repository.id, hit.path, hit.superseded_by)
    return replace(hit, superseded_by=by)
