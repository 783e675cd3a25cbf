"""The rows of long documents and of their passages.

`READABLE` is the rule of who reads a document: the conversation that has it, while the message that
shows it is stored or being answered. Every statement that reads text applies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from db import Database, Row, Statement, Work, among, change, execute, fetch, fetch_first, lock
from db.database import delete_some, deleting_some
from db.statements import FOR_UPDATE
from db.values import micros, storable
from gateway.ports.long_documents import (
    MAX_CHARACTERS_OF_ALL,
    MAX_DOCUMENTS,
    MAX_DOCUMENTS_OF_PERSON,
    DocumentPlace,
    DocumentSource,
    LongDocument,
    Passage,
)
from memory.knowledge.long_documents.schema import partition_of
from memory.knowledge.ports import IndexedChunk, WordIndex

if TYPE_CHECKING:  # splitting is loaded with the first document
    from memory.knowledge.long_documents.passages import SplitDocument

MAX_NAME: Final = 200
"""Characters of the name of a file."""
DELETED_AT_ONCE: Final = 50
"""Passages that one step deletes."""
READABLE: Final = f"""
    d.conversation = :conversation AND d.tenant = :tenant AND (
        {among("d.message_id", "current")} OR EXISTS (
            SELECT 1 FROM turns t WHERE t.channel = d.channel AND t.message_id = d.message_id
                AND t.role = 'user' AND t.conversation = d.conversation))
"""
COLUMNS: Final = "d.number, d.name, d.total, d.searchable, d.characters, d.complete"
LISTED: Final = Statement(f"""
    SELECT {COLUMNS}, d.language FROM long_documents d WHERE {READABLE}
    ORDER BY d.number DESC LIMIT {MAX_DOCUMENTS}
""")
ADD: Final = Statement("""
    INSERT INTO long_documents (tenant, conversation, channel, message_id, ref, origin_id, person,
        name, language, total, searchable, characters, passages, complete, digest, at, kept_at)
    VALUES (:tenant, :conversation, :channel, :message_id, :ref, :origin_id, :person, :name,
        :language, :total, 0, 0, 0, false, :digest, :at, :kept_at)
    ON CONFLICT (channel, message_id, ref) DO NOTHING
""")
OF_MESSAGE: Final = Statement(f"""
    SELECT {COLUMNS}, d.passages, d.digest FROM long_documents d
    WHERE channel = :channel AND message_id = :message_id AND ref = :ref
        AND conversation = :conversation
""")
DROP: Final = Statement("DELETE FROM long_documents WHERE number = :number")
CROWDED_OUT: Final = Statement(f"""
    DELETE FROM long_documents WHERE number IN (
        SELECT number FROM (
            SELECT number, row_number() OVER (ORDER BY number DESC) AS place,
                sum(characters) OVER (ORDER BY number DESC) AS sum_of
            FROM long_documents WHERE conversation = :conversation
        ) AS counted
        WHERE place > {MAX_DOCUMENTS} OR (place > 1 AND sum_of > {MAX_CHARACTERS_OF_ALL})
        UNION ALL SELECT number FROM (
            SELECT number, row_number() OVER (ORDER BY number DESC) AS place
            FROM long_documents WHERE tenant = :tenant AND person = :person
        ) AS of_person
        WHERE place > {MAX_DOCUMENTS_OF_PERSON})
""")
CLAIM: Final = Statement(f"""
    SELECT 1 FROM long_documents WHERE number = :number AND passages = :first {FOR_UPDATE}
""")
ADD_PASSAGE: Final = Statement("""
    INSERT INTO long_document_passages (document, place, page, label, heading, text)
    VALUES (:document, :place, :page, :label, :heading, :text)
""")
ADDED: Final = Statement("""
    SELECT number FROM long_document_passages
    WHERE document = :document AND place >= :first AND place < :end ORDER BY place
""")
GROWN: Final = Statement("""
    UPDATE long_documents SET passages = :end, searchable = :searchable, complete = :complete,
        characters = characters + :characters
    WHERE number = :number
""")
WORDS: Final = Statement(f"""
    SELECT p.number, w.length, w.words FROM long_document_passages p
    JOIN long_document_words w ON w.number = p.number
    JOIN long_documents d ON d.number = p.document
    WHERE {among("p.number", "numbers")} AND {READABLE}
""")
TEXTS: Final = Statement(f"""
    SELECT p.number, {COLUMNS}, p.page, p.label, p.heading, p.text FROM long_document_passages p
    JOIN long_documents d ON d.number = p.document
    WHERE {among("p.number", "numbers")} AND {READABLE}
""")
OF_MESSAGES: Final = f"""
    channel = :channel AND ({among("message_id", "message_ids")}
        OR (origin_id <> '' AND {among("origin_id", "message_ids")}))
"""
KNOWS: Final = Statement(f"SELECT 1 FROM long_documents WHERE {OF_MESSAGES} LIMIT 1")
DELETE_OF: Final = Statement(f"DELETE FROM long_documents WHERE {OF_MESSAGES}")
TAKEN_AWAY: Final = Statement(f"""
    DELETE FROM long_documents
    WHERE channel = :channel AND NOT {among("name", "names")}
        AND CASE WHEN origin_id = '' THEN message_id ELSE origin_id END = :message_id
""")
TABLE: Final = "long_documents"
OF_PEOPLE: Final = f"tenant = :tenant AND {among('person', 'persons')}"
MAX_EXPORTED: Final = 10_000
"""Documents of one person; their identities have `MAX_DOCUMENTS_OF_PERSON` each."""
EXPORTED: Final = Statement(f"""
    SELECT conversation, message_id, name, total, at FROM long_documents WHERE {OF_PEOPLE}
    ORDER BY number LIMIT {MAX_EXPORTED}
""")
COUNTED: Final = Statement(f"SELECT count(*) FROM long_documents WHERE {OF_PEOPLE}")
ERASE: Final = Statement(f"DELETE FROM long_documents WHERE {OF_PEOPLE}")
ORPHANS: Final = deleting_some(
    "long_documents",
    "number",
    """kept_at < :before AND NOT EXISTS (
        SELECT 1 FROM turns t WHERE t.channel = long_documents.channel
            AND t.message_id = long_documents.message_id AND t.role = 'user')""",
    "kept_at",
)
GONE: Final = Statement("SELECT number FROM long_documents_gone ORDER BY number LIMIT 1")
PASSAGES_OF: Final = Statement(f"""
    SELECT number FROM long_document_passages WHERE document = :document
    ORDER BY place LIMIT {DELETED_AT_ONCE}
""")
DELETE_PASSAGES: Final = Statement(
    f"DELETE FROM long_document_passages WHERE {among('number', 'numbers')}"
)
DELETE_TOTALS: Final = Statement(
    "DELETE FROM long_document_word_totals WHERE partition = :partition"
)
FORGOTTEN: Final = Statement("DELETE FROM long_documents_gone WHERE number = :document")


def parameters(place: DocumentPlace) -> dict[str, object]:
    """Return the parameters of `READABLE`."""
    return {
        "tenant": storable(place.tenant),
        "conversation": storable(place.conversation),
        "current": [storable(one) for one in place.current],
    }


def long_document(row: Row) -> LongDocument:
    """Return the document of the columns of `COLUMNS`."""
    number, name, total, searchable, characters, complete = row
    return LongDocument(
        int(number), name, int(total), int(searchable), int(characters), bool(complete)
    )


def begun(
    place: DocumentPlace, source: DocumentSource, split: SplitDocument, total: int, now: datetime
) -> Work[tuple[LongDocument, int]]:
    """Return the document and the number of its stored passages; a new one is stored without any,
    and older ones that it crowds out are deleted. A document whose text has changed since an
    earlier process began it begins anew."""
    params = {
        **parameters(place),
        "channel": storable(place.channel),
        "message_id": storable(source.message_id),
        "ref": storable(source.ref),
        "origin_id": storable(source.origin_id),
        "person": storable(source.person),
        "name": storable(source.name[:MAX_NAME]),
        "language": split.language,
        "total": total,
        "digest": split.digest,
        "at": micros(source.at),
        "kept_at": micros(now),
    }
    yield from lock(f"long documents {place.conversation}")
    row = yield from fetch_first(OF_MESSAGE, params)
    if row is not None and row[-1] == split.digest:
        return long_document(row[:-2]), int(row[-2])
    if row is not None:
        yield from change(DROP, {"number": row[0]})
    yield from change(ADD, params)
    yield from change(CROWDED_OUT, params)
    row = yield from fetch_first(OF_MESSAGE, params)
    if row is None:
        raise LookupError("a message of another conversation has this document")
    return long_document(row[:-2]), 0


def grown(number: int, split: SplitDocument, places: range, words: WordIndex) -> Work[bool]:
    """Store some passages with their words; False if the document was deleted, or grew by the work
    of another process."""
    if not (yield from fetch(CLAIM, {"number": number, "first": places.start})):
        return False
    some = split.passages[places.start : places.stop]
    rows = [
        {
            "document": number,
            "place": places.start + place,
            "page": one.page,
            "label": storable(one.label),
            "heading": storable(one.heading),
            "text": storable(one.text),
        }
        for place, one in enumerate(some)
    ]
    if rows:
        yield from execute(ADD_PASSAGE, *rows)
    params = {"document": number, "first": places.start, "end": places.stop}
    added = yield from fetch(ADDED, params)
    partition, filed = partition_of(number), split.words[places.start : places.stop]
    yield from words.add(
        [IndexedChunk(int(row[0]), partition, one) for row, one in zip(added, filed, strict=True)]
    )
    grown_by = {
        "number": number,
        "end": places.stop,
        "searchable": some[-1].page if some else 0,
        "complete": places.stop == len(split.passages),
        "characters": sum(len(one.text) for one in some),
    }
    yield from change(GROWN, grown_by)
    return True


def read_words(place: DocumentPlace, numbers: Sequence[int]) -> Work[list[tuple[int, int, str]]]:
    """Read the numbers of passages with how many words they have, and these."""
    rows = yield from fetch(WORDS, {**parameters(place), "numbers": list(numbers)})
    return [(int(row[0]), int(row[1]), str(row[2])) for row in rows]


def read_passages(place: DocumentPlace, numbers: Sequence[int]) -> Work[dict[int, Passage]]:
    """Read passages by their numbers; their share is 0."""
    rows = yield from fetch(TEXTS, {**parameters(place), "numbers": list(numbers)})
    return {
        int(row[0]): Passage(
            long_document(row[1:7]), int(row[7]), row[8], row[9], row[10], share=0.0
        )
        for row in rows
    }


async def deleted_orphans(database: Database, before: datetime) -> int:
    """Delete some documents, kept before then, whose message was never stored."""
    return await delete_some(database, ORPHANS, {"before": micros(before)})


def deleted_text(words: WordIndex) -> Work[int]:
    """Delete some passages of a deleted document; return how many rows, 0 if nothing is left."""
    row = yield from fetch_first(GONE)
    if row is None:
        return 0
    params = {"document": int(row[0])}
    numbers = [int(one) for (one,) in (yield from fetch(PASSAGES_OF, params))]
    if numbers:
        yield from words.remove(numbers)
        yield from change(DELETE_PASSAGES, {"numbers": numbers})
    if len(numbers) < DELETED_AT_ONCE:
        yield from change(DELETE_TOTALS, {"partition": partition_of(int(row[0]))})
        yield from change(FORGOTTEN, params)
    return len(numbers) + 1
