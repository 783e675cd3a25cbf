"""The tables of contents and their chunks. A content is deleted when no file has it any more."""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import uuid4

from db import Database, Statement, Work, among, change, execute, fetch, fetch_first
from db.statements import FOR_UPDATE
from db.values import storable
from memory.knowledge.ports import IndexedChunk, NewFile, WordIndex
from memory.knowledge.schema import partition_of

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
CHUNKS: Final = Statement("""
    SELECT number FROM knowledge_chunks WHERE content = :content AND number > :after ORDER BY number
""")
LAST_CHUNK: Final = Statement(
    "SELECT coalesce(max(number), 0) FROM knowledge_chunks WHERE content = :content"
)
COMPLETE: Final = Statement("UPDATE knowledge_contents SET sha256 = :sha256 WHERE number = :number")
MAX_STEP: Final = 64 * 1024
"""The weight of the chunks that one transaction stores; in SQLite it holds the event loop."""
CHUNK_WEIGHT: Final = 500
"""The weight of a chunk beside its words, one for each character of which it has."""
TEXT_SHARE: Final = 8
"""Characters of a chunk's text that weigh as one of its words."""
AT_ONCE: Final = 50
"""Contents that one step looks at to delete."""
CHUNKS_AT_ONCE: Final = 25
"""Chunks that one step deletes."""
ALL_CONTENTS: Final = Statement(f"""
    SELECT number FROM knowledge_contents WHERE repository = :repository
    ORDER BY number LIMIT {AT_ONCE} {FOR_UPDATE}
""")
UNUSED: Final = Statement(f"""
    SELECT number FROM knowledge_contents c WHERE repository = :repository
        AND NOT EXISTS (SELECT 1 FROM knowledge_files f WHERE f.content = c.number)
    ORDER BY number LIMIT {AT_ONCE} {FOR_UPDATE}
""")
HIDE: Final = Statement(f"""
    UPDATE knowledge_contents SET sha256 = 'gone ' || CAST(number AS text)
    WHERE {among("number", "contents")} AND length(sha256) = 64
""")
CHUNKS_OF: Final = Statement(f"""
    SELECT number FROM knowledge_chunks WHERE {among("content", "contents")}
    ORDER BY number LIMIT {CHUNKS_AT_ONCE}
""")
DELETE_CHUNKS: Final = Statement(f"DELETE FROM knowledge_chunks WHERE {among('number', 'chunks')}")
DELETE: Final = Statement(f"DELETE FROM knowledge_contents WHERE {among('number', 'contents')}")


def writing(repository: str) -> str:
    """Return the name of the lock that a transaction holds while it writes files of a repository.
    A repository is hidden under the same lock before it is deleted."""
    return f"knowledge files {repository}"


def weight_of(file: NewFile) -> int:
    """The weight of the chunks of a file, as `MAX_STEP` counts it."""
    return sum(_weights(file))


def steps_of(file: NewFile) -> Iterator[range]:
    """Yield the places of the chunks that each transaction stores."""
    begin = weight = 0
    for place, one in enumerate(_weights(file)):
        if place > begin and weight + one > MAX_STEP:
            yield range(begin, place)
            begin, weight = place, 0
        weight += one
    yield range(begin, len(file.words))


def found_content(repository: str, edition: int, file: NewFile) -> Work[int | None]:
    """Return the number of a file's content, None for a new one."""
    found = yield from fetch_first(FIND, _key(repository, edition, file))
    return None if found is None else int(found[0])


def unfinished_content(repository: str, edition: int, file: NewFile) -> Work[int]:
    """Store a content that no other file is given, until it is `completed`; `sweep_some` deletes
    it if that does not happen."""
    return _added({**_key(repository, edition, file), "sha256": f"unfinished {uuid4().hex}"}, file)


def completed(repository: str, edition: int, file: NewFile, number: int) -> Work[int]:
    """Return the number of a file's content, whose chunks are all stored under `number`."""
    found = yield from found_content(repository, edition, file)
    if found is not None:
        return found
    yield from change(COMPLETE, {"number": number, "sha256": file.content})
    return number


def content_number(repository: str, edition: int, file: NewFile, words: WordIndex) -> Work[int]:
    """Return the number of a file's content; a new one is stored with its chunks."""
    found = yield from found_content(repository, edition, file)
    if found is not None:
        return found
    number = yield from _added(_key(repository, edition, file), file)
    yield from add_chunks(repository, number, file, range(len(file.words)), words)
    return number


def add_chunks(
    repository: str, content: int, file: NewFile, places: range, words: WordIndex
) -> Work[None]:
    """Store some chunks of a content, and index them."""
    some = file.split.chunks[places.start : places.stop]
    if not some:
        return
    row = yield from fetch_first(LAST_CHUNK, {"content": content})
    after = int(row[0]) if row else 0
    yield from execute(
        ADD_CHUNK,
        *(
            {
                "repository": storable(repository),
                "content": content,
                "first_line": chunk.first_line,
                "last_line": chunk.last_line,
                "symbol": storable(chunk.symbol),
                "heading": storable(chunk.heading),
                "text": storable(chunk.text),
            }
            for chunk in some
        ),
    )
    rows = yield from fetch(CHUNKS, {"content": content, "after": after})
    filed = file.words[places.start : places.stop]
    partition = partition_of(repository, file.split.kind)
    yield from words.add(
        [IndexedChunk(int(row[0]), partition, one) for row, one in zip(rows, filed, strict=True)]
    )


def _weights(file: NewFile) -> Iterator[int]:
    for chunk, words in zip(file.split.chunks, file.words, strict=True):
        yield CHUNK_WEIGHT + len(words.text) + len(chunk.text) // TEXT_SHARE


def _key(repository: str, edition: int, file: NewFile) -> dict[str, object]:
    return {
        "repository": storable(repository),
        "edition": edition,
        "sha256": file.content,
        "language": storable(file.split.language),
        "kind": file.split.kind.value,
    }


def _added(key: dict[str, object], file: NewFile) -> Work[int]:
    added = yield from fetch_first(ADD, {**key, "size": file.size})
    assert added is not None  # noqa: S101 - INSERT … RETURNING gives a row
    return int(added[0])


async def sweep_some(
    database: Database, words: WordIndex, repository: str, which: Statement
) -> int:
    """Delete some of the contents that `which` selects, or of their chunks; return the number of
    contents that were looked at. Meanwhile no file is given one of them."""

    def work() -> Work[int]:
        rows = yield from fetch(which, {"repository": storable(repository)})
        contents: Sequence[int] = [int(row[0]) for row in rows]
        if contents:
            yield from change(HIDE, {"contents": contents})
            rows = yield from fetch(CHUNKS_OF, {"contents": contents})
            chunks = [int(row[0]) for row in rows]
            if chunks:
                yield from words.remove(chunks)
                yield from change(DELETE_CHUNKS, {"chunks": chunks})
            if len(chunks) < CHUNKS_AT_ONCE:
                yield from change(DELETE, {"contents": contents})
        return len(contents)

    return await database.run(work)
