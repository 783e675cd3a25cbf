"""Words are looked up shelf by shelf: each is indexed behind the name of every shelf it lies on.

A question reads only what its own shelves have, however many memories there are, and needs no
second look at who they belong to. Where the index keeps neither texts nor places, it is a third as
large.
"""

from typing import Final

from gateway.storage.migrations.step import Migration

SHELVED: Final = """(
        SELECT group_concat(shelf.value || replace({row}.words, ' ', ' ' || shelf.value), ' ')
        FROM json_each('["' || replace({row}.shelves, ' ', '","') || '"]') shelf
        )"""
"""The words of a row of `memory_terms`, each behind each of its shelves."""

SQLITE: Final = f"""
    DROP TRIGGER memory_terms_filed;
    DROP TRIGGER memory_terms_gone;
    DROP TABLE memories_text;
    CREATE VIRTUAL TABLE memories_text USING fts5(
        terms, content = '', columnsize = 0, detail = none,
        tokenize = "ascii tokenchars '-_./:@+#~='"
    );
    INSERT INTO memories_text (rowid, terms)
        SELECT t.memory, {SHELVED.format(row="t")} FROM memory_terms t;
    CREATE TRIGGER memory_terms_filed AFTER INSERT ON memory_terms BEGIN
        INSERT INTO memories_text (rowid, terms)
            VALUES (new.memory, {SHELVED.format(row="new")});
        INSERT INTO memory_shelves
            SELECT shelf, 1, new.length
            FROM (SELECT new.owner AS shelf UNION ALL SELECT new.room) WHERE shelf <> ''
            ON CONFLICT (shelf) DO UPDATE
                SET memories = memories + 1, words = words + excluded.words;
        END;
    CREATE TRIGGER memory_terms_gone AFTER DELETE ON memory_terms BEGIN
        INSERT INTO memories_text (memories_text, rowid, terms)
            VALUES ('delete', old.memory, {SHELVED.format(row="old")});
        UPDATE memory_shelves SET memories = memories - 1, words = words - old.length
            WHERE shelf IN (old.owner, old.room);
        DELETE FROM memory_shelves WHERE shelf IN (old.owner, old.room) AND memories <= 0;
        UPDATE memory_upkeep SET due = 1 WHERE task = 'merge' AND NOT due;
        END;
"""  # noqa: S608 - constants

STEP: Final = Migration(14, "words by shelf", SQLITE, None)
