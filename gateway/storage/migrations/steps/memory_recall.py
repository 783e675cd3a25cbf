"""What recall looks memories up by: their words as they are filed, and numbered vectors.

`memory_terms` holds the words that `memory/store/terms.py` makes of a text; a memory without an
entry is filed by the upkeep. In SQLite a vector that is set anew gets a new number, so that whoever
holds vectors in memory sees what is new; `memory_shelves` counts what is filed, shelf by shelf.
"""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    DROP TRIGGER memories_inserted;
    DROP TRIGGER memories_deleted;
    DROP TRIGGER memories_reworded;
    DROP TABLE memories_text;
    CREATE TABLE memory_terms (
        memory INTEGER PRIMARY KEY, words TEXT NOT NULL, shelves TEXT NOT NULL,
        length INTEGER NOT NULL, owner TEXT NOT NULL, room TEXT NOT NULL
    );
    CREATE VIRTUAL TABLE memories_text USING fts5(
        words, shelves, content = 'memory_terms', content_rowid = 'memory', detail = column,
        tokenize = "ascii tokenchars '-_./:@+#~='"
    );
    CREATE TABLE memory_shelves (
        shelf TEXT PRIMARY KEY, memories INTEGER NOT NULL, words INTEGER NOT NULL
    ) WITHOUT ROWID;
    INSERT INTO memory_upkeep SELECT 'file', EXISTS (SELECT 1 FROM memories);
    CREATE TABLE numbered_vectors (
        number INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL UNIQUE,
        model TEXT NOT NULL, dimension INTEGER NOT NULL, owner TEXT NOT NULL, room TEXT NOT NULL,
        vector BLOB NOT NULL
    );
    INSERT INTO numbered_vectors (memory, model, dimension, owner, room, vector)
        SELECT v.memory, v.model, v.dimension, m.owner,
            CASE m.scope WHEN 'user' THEN iif(m.room = '', '', m.tenant || char(31) || m.room)
                ELSE '' END,
            v.vector
        FROM memory_vectors v JOIN memories m ON m.seq = v.memory ORDER BY v.memory;
    DROP TABLE memory_vectors;
    ALTER TABLE numbered_vectors RENAME TO memory_vectors;
    CREATE INDEX memory_vectors_owner ON memory_vectors (owner, model, number);
    CREATE INDEX memory_vectors_model ON memory_vectors (memory, model);
    CREATE INDEX memory_vectors_room ON memory_vectors (room, model, number) WHERE room <> '';
    CREATE INDEX memories_conversation ON memories (tenant, conversation, at, seq)
        WHERE role <> '';
    CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN
        DELETE FROM memory_terms WHERE memory = old.seq;
        DELETE FROM memory_words WHERE memory = old.seq;
        DELETE FROM memory_origins WHERE memory = old.seq;
        DELETE FROM memory_vectors WHERE memory = old.seq;
        END;
    CREATE TRIGGER memories_reworded AFTER UPDATE OF content, tags ON memories BEGIN
        DELETE FROM memory_terms WHERE memory = old.seq;
        DELETE FROM memory_words WHERE memory = old.seq AND new.content <> old.content;
        DELETE FROM memory_vectors WHERE memory = old.seq AND new.content <> old.content;
        END;
    CREATE TRIGGER memory_terms_filed AFTER INSERT ON memory_terms BEGIN
        INSERT INTO memories_text (rowid, words, shelves)
            VALUES (new.memory, new.words, new.shelves);
        INSERT INTO memory_shelves
            SELECT shelf, 1, new.length
            FROM (SELECT new.owner AS shelf UNION ALL SELECT new.room) WHERE shelf <> ''
            ON CONFLICT (shelf) DO UPDATE
                SET memories = memories + 1, words = words + excluded.words;
        END;
    CREATE TRIGGER memory_terms_gone AFTER DELETE ON memory_terms BEGIN
        INSERT INTO memories_text (memories_text, rowid, words, shelves)
            VALUES ('delete', old.memory, old.words, old.shelves);
        UPDATE memory_shelves SET memories = memories - 1, words = words - old.length
            WHERE shelf IN (old.owner, old.room);
        DELETE FROM memory_shelves WHERE shelf IN (old.owner, old.room) AND memories <= 0;
        UPDATE memory_upkeep SET due = 1 WHERE task = 'merge' AND NOT due;
        END;
"""

POSTGRES: Final = """
    ALTER TABLE memories ADD COLUMN words text, ADD COLUMN length integer;
    CREATE INDEX memories_unfiled ON memories (seq) WHERE words IS NULL;
    CREATE INDEX memories_conversation ON memories (tenant, conversation, at, seq)
        WHERE role <> '';
    DROP TEXT SEARCH CONFIGURATION parley;
    DROP TEXT SEARCH DICTIONARY parley_stem;
"""

STEP: Final = Migration(10, "recall", SQLITE, POSTGRES)
