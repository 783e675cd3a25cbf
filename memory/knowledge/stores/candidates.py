"""Reads the candidates of a search, and what is shown of those that were chosen.

Every statement applies the rule of who may read (`memory.knowledge.access`) itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from db import Params, Row, Statement, Work, among, either, fetch
from db.statements import json_values
from db.values import storable, time_of
from gateway.immutable import replace
from memory.knowledge.access import READS, KnowledgeAccess
from memory.knowledge.model import ChunkHit, FileKind, KnowledgeQuery
from memory.knowledge.ranking import FoundChunk, FoundFile, Ranked
from memory.knowledge.stores.repositories import COLUMNS, repository_of
from memory.stores.filters import statement

MAX_REPOSITORIES: Final = 100
"""Repositories of one search, by name."""
MAX_BESIDE: Final = 2_000
"""Rows of files that one portion of chunks has, over all branches."""
MAX_DECISIONS: Final = 2_000
"""Decision records among which one is looked up that another one names."""
_REPOSITORY_COLUMNS: Final = ", ".join(f"r.{column.strip()}" for column in COLUMNS.split(","))
READABLE: Final = Statement(f"""
    SELECT r.id FROM knowledge_repositories r WHERE {READS}
    ORDER BY r.name, r.id LIMIT {MAX_REPOSITORIES}
""")
_LABELLED: Final = """ AND EXISTS (SELECT 1 FROM {labels} WHERE {named})"""
_FILES: Final = """
    JOIN knowledge_files f ON f.content = c.content
    JOIN knowledge_branches b ON b.number = f.branch
    JOIN knowledge_repositories r ON r.id = f.repository
"""
_FILE_COLUMNS: Final = """f.number, f.repository, f.path, f.kind, k.language, f.status,
    f.superseded_by, b.followed, w.number, w.length, w.words, c.symbol, c.heading"""
_FROM: Final = f"""
    SELECT {_FILE_COLUMNS} FROM knowledge_words w
    JOIN knowledge_chunks c ON c.number = w.number {_FILES}
    JOIN knowledge_contents k ON k.number = c.content
"""
_TAIL: Final = either(
    sqlite="substr(f.path, -length(named.value) - 1)",
    postgres="right(f.path, length(named.value) + 1)",
)
_ENDS: Final = f"(f.path = named.value OR {_TAIL} = '/' || named.value)"
SHOWN: Final = Statement(f"""
    SELECT c.number, f.number, {_REPOSITORY_COLUMNS}, f.path, b.name, f.at_commit, c.first_line,
        c.last_line, c.symbol, c.heading, f.kind, f.title, f.status, f.superseded_by, c.text,
        f.ingested_at
    FROM knowledge_chunks c {_FILES}
    WHERE {among("c.number", "chunks")} AND {among("f.number", "files")}
        AND {READS}
""")
DECISIONS: Final = Statement(f"""
    SELECT f.repository, f.path, f.supersedes FROM knowledge_files f
    JOIN knowledge_branches b ON b.number = f.branch
    JOIN knowledge_repositories r ON r.id = f.repository
    WHERE f.kind = 'decision' AND {among("f.repository", "repositories")}
        AND {READS}
    ORDER BY f.number DESC LIMIT {MAX_DECISIONS}
""")


@dataclass(slots=True)
class FoundFiles:
    """Files by repository and path. Of a path that is on several branches, the followed branch
    counts, then the one that was ingested first."""

    files: dict[tuple[str, str], FoundFile] = field(default_factory=dict)
    _standing: dict[tuple[str, str], tuple[bool, int]] = field(default_factory=dict)

    def add(self, row: Row, *, named: bool = False) -> None:
        """Add a row of a chunk in a file."""
        number, repository, path, kind, language, status, by, followed, *chunk = row
        key, standing = (repository, path), (not followed, int(number))
        if standing > self._standing.get(key, standing):
            return
        found = self.files.get(key)
        if found is None or found.number != number:
            self._standing[key] = standing
            found = FoundFile(int(number), repository, path, FileKind(kind), language, status, by)
            self.files[key] = found
        found.named = found.named or named
        if all(one.number != chunk[0] for one in found.chunks):
            found.chunks.append(FoundChunk(*chunk))

    def note_nearness(self, cosines: Mapping[int, float]) -> None:
        """Note the cosines of chunks, by their numbers."""
        for file in self.files.values():
            file.chunks = [
                replace(chunk, nearness=cosines.get(chunk.number, 0.0)) for chunk in file.chunks
            ]


def filtered(query: KnowledgeQuery) -> tuple[str, dict[str, object]]:
    """The conditions of a search's filters, with their values."""
    conditions, values = f" AND {READS}", dict[str, object]()
    if query.kinds:
        conditions += f" AND {among('f.kind', 'kinds')}"
        values["kinds"] = sorted(kind.value for kind in query.kinds)
    for name, labels in (("services", query.services), ("topics", query.topics)):
        if labels:
            conditions += _LABELLED.format(
                labels=json_values(f"f.{name}", "label"), named=among("label.value", name)
            )
            values[name] = [storable(" ".join(label.lower().split())) for label in labels]
    return conditions, values


def read_chunks(numbers: Sequence[int], conditions: str, values: Params) -> Work[list[Row]]:
    """Read chunks with the files that have them."""
    look = statement(f"{_FROM} WHERE {among('w.number', 'some')} {conditions} LIMIT {MAX_BESIDE}")
    return (yield from fetch(look, {**values, "some": list(numbers)}))


def read_paths(paths: Sequence[str], conditions: str, values: Params) -> Work[list[Row]]:
    """Read the first chunks of files that have one of the paths, or end with it."""
    named = either(
        sqlite="json_each(:paths) AS named",
        postgres="unnest(CAST(:paths AS text[])) AS named (value)",
    )
    first = "SELECT min(o.number) FROM knowledge_chunks o WHERE o.content = c.content"
    look = statement(
        f"{_FROM} WHERE w.number = ({first}) AND EXISTS (SELECT 1 FROM {named} WHERE {_ENDS})"
        f" {conditions} LIMIT {MAX_BESIDE}"
    )
    return (yield from fetch(look, {**values, "paths": [storable(path) for path in paths]}))


def read_hits(chosen: Sequence[Ranked], access: KnowledgeAccess) -> Work[list[ChunkHit]]:
    """Read what is shown of the chosen files, in their order."""
    values = access.parameters() | {
        "chunks": [one.chunk.number for one in chosen],
        "files": [one.file.number for one in chosen],
    }
    rows = yield from fetch(SHOWN, values)
    shown = {(int(row[0]), int(row[1])): row[2:] for row in rows}
    hits = []
    for one in chosen:
        row = shown.get((one.chunk.number, one.file.number))
        if row is not None:
            hits.append(_hit(row, one.score))
    return hits


def _hit(row: Row, score: float) -> ChunkHit:
    columns = len(COLUMNS.split(","))
    path, branch, commit, first, last, symbol, heading, kind, *rest = row[columns:]
    title, status, superseded_by, text, at = rest
    return ChunkHit(
        repository_of(row[:columns]),
        path,
        branch,
        commit,
        int(first),
        int(last),
        symbol,
        heading,
        FileKind(kind),
        title,
        status,
        superseded_by,
        text,
        score,
        time_of(at),
    )
