"""The tables of the text of long documents, beside `gateway.stores.long_documents`.

`page` is the number of a passage's page, `place` that of the passage in its document, from 0. The
words of a passage are filed in a partition of their own for each document (`partition_of`).
"""

from typing import Final

from db.full_text import Merging
from db.statements import NUMBERED, either
from memory.knowledge.schema import word_tables

PREFIX: Final = "long_document"
TABLES: Final = (
    f"""CREATE TABLE long_document_passages (
        number {NUMBERED}, document bigint NOT NULL, place integer NOT NULL,
        page integer NOT NULL, label text NOT NULL, heading text NOT NULL, text text NOT NULL,
        UNIQUE (document, place)
    )""",
    *word_tables(PREFIX),
    "CREATE INDEX long_document_words_partition ON long_document_words (partition)",
    *(
        either(sqlite=statement, postgres="")
        for statement in (
            """CREATE TABLE long_document_upkeep (
                task text PRIMARY KEY, due integer NOT NULL
            ) WITHOUT ROWID""",
            "INSERT INTO long_document_upkeep VALUES ('merge', 0)",
            """CREATE TRIGGER long_document_unfiled AFTER DELETE ON long_document_words BEGIN
                UPDATE long_document_upkeep SET due = 1 WHERE task = 'merge' AND due <> 1;
            END""",
        )
    ),
)
MERGING: Final = Merging("long_document_text", "long_document_upkeep", "merge")


def partition_of(document: int) -> str:
    """Return the partition of a document, of the same length for each."""
    return f"{document:010x}"
