"""The tables of contents and their chunks. A content is deleted when no file has it any more."""

from collections.abc import Sequence
from typing import Final

from db import Database, Statement, Work, among, change, execute, fetch, fetch_first
from db.statements import FOR_UPDATE
from db.values import storable
from memory.knowledge.ports.stores import IndexedChunk, NewFile, WordIndex

FIND: Final = Statement("""
    SELECT number FROM knowledge_contents
    WHERE repository = :repository AND sha256 = :sha256 AND language = :language AND kind = :kind
        AND edition = :edition
""")
ADD: Final = Statement("""
    INSERT INTO knowledge_contents (repository, edition, sha256, language, kind, size)
    VALUES (:repository, :edition, :sha256, :language, :kind, :size) RETURNING number
""")
ADD_CHUNK: Final = Statement("""
    INSERT INTO knowledge_chunks
        (repository, content, first_line, last_line, symbol, heading, text)
    VALUES (:repository, :content, :first_line, :last_line, :symbol, :heading, :text)
""")
CHUNKS: Final = Statement(
    "SELECT number FROM knowledge_chunks WHERE content = :content ORDER BY number"
)
AT_ONCE: Final = 50
"""Contents that one step deletes."""
ALL_CONTENTS: Final = Statement(f"""
    SELECT number FROM knowledge_contents WHERE repository = :repository
    ORDER BY number LIMIT {AT_ONCE} {FOR_UPDATE}
""")  # noqa: S608 - constants of this module
UNUSED: Final = Statement(f"""
    SELECT number FROM knowledge_contents c WHERE repository = :repository
        AND NOT EXISTS (SELECT 1 FROM knowledge_files f WHERE f.content = c.number)
    ORDER BY number LIMIT {AT_ONCE} {FOR_UPDATE}
""")  # noqa: S608 - constants of this module
CHUNKS_OF: Final = Statement(
    f"SELECT number FROM knowledge_chunks WHERE {among('content', 'contents')}"  # noqa: S608 - constants of this module
)
DELETE_CHUNKS: Final = Statement(
    f"DELETE FROM knowledge_chunks WHERE {among('content', 'contents')}"  # noqa: S608 - constants of this module
)
DELETE: Final = Statement(f"DELETE FROM knowledge_contents WHERE {among('number', 'contents')}")  # noqa: S608 - constants of this module


def writing(repository: str) -> str:
    """Return the name of the lock that a transaction holds while it writes files of a repository.
    A repository is hidden under the same lock before it is deleted."""
    return f"knowledge files {repository}"


def content_number(repository: str, edition: int, file: NewFile, words: WordIndex) -> Work[int]:
    """Return the number of a file's content; a new one is stored with its chunks."""
    key = {
        "repository": storable(repository),
        "edition": edition,
        "sha256": file.content,
        "language": storable(file.split.language),
        "kind": file.split.kind.value,
    }
    found = yield from fetch_first(FIND, key)
    if found is not None:
        return int(found[0])
    added = yield from fetch_first(ADD, {**key, "size": file.size})
    assert added is not None  # noqa: S101 - INSERT … RETURNING gives a row
    number = int(added[0])
    chunks = [
        {
            "repository": key["repository"],
            "content": number,
            "first_line": chunk.first_line,
            "last_line": chunk.last_line,
            "symbol": storable(chunk.symbol),
            "heading": storable(chunk.heading),
            "text": storable(chunk.text),
        }
        for chunk in file.split.chunks
    ]
    if chunks:
        yield from execute(ADD_CHUNK, *chunks)
        rows = yield from fetch(CHUNKS, {"content": number})
        yield from words.add(
            [
                IndexedChunk(int(row[0]), repository, file.split.kind, chunk)
                for row, chunk in zip(rows, file.split.chunks, strict=True)
            ]
        )
    return number


async def sweep_some(
    database: Database, words: WordIndex, repository: str, which: Statement
) -> int:
    """Delete some of the contents that `which` selects; return their number."""

    def work() -> Work[int]:
        rows = yield from fetch(which, {"repository": storable(repository)})
        contents: Sequence[int] = [int(row[0]) for row in rows]
        if contents:
            chunks = yield from fetch(CHUNKS_OF, {"contents": contents})
            yield from words.remove([int(row[0]) for row in chunks])
            yield from change(DELETE_CHUNKS, {"contents": contents})
            yield from change(DELETE, {"contents": contents})
        return len(contents)

    return await database.run(work)
