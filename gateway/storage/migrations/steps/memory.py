"""Memories with their indexes, the people they belong to, reviews, the brain's documents.

`memory_words` files a memory under some of its words, for duplicates; `memory_origins` under the
messages it goes back to. Triggers keep both, the full-text index and the vectors in step. In
PostgreSQL the table of vectors is there where the extension `vector` is or can be made.
"""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE memories (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,
        scope TEXT NOT NULL CHECK (scope IN ('user', 'project', 'global')),
        tier TEXT NOT NULL CHECK (tier IN ('working', 'episodic', 'semantic')),
        kind TEXT NOT NULL, behavioral INTEGER NOT NULL, content TEXT NOT NULL,
        project TEXT NOT NULL, tags TEXT NOT NULL, role TEXT NOT NULL, person TEXT NOT NULL,
        source TEXT NOT NULL, trust TEXT NOT NULL, at REAL NOT NULL, session TEXT NOT NULL,
        message_id TEXT NOT NULL, tool TEXT NOT NULL, conversation TEXT NOT NULL,
        room TEXT NOT NULL, channel TEXT NOT NULL, audience TEXT NOT NULL,
        external INTEGER NOT NULL, claim TEXT NOT NULL, captured_at REAL NOT NULL,
        confidence REAL NOT NULL, source_id TEXT NOT NULL, valid_until REAL, true_from REAL,
        true_until REAL, expires_at REAL, supersedes TEXT NOT NULL, superseded_by TEXT NOT NULL,
        superseded_at REAL, confirmed INTEGER NOT NULL, derived_from TEXT NOT NULL,
        owner TEXT NOT NULL, shelves TEXT NOT NULL
    );
    CREATE INDEX memories_person ON memories (tenant, person, at);
    CREATE INDEX memories_room ON memories (tenant, room, at) WHERE room <> '';
    CREATE INDEX memories_owner ON memories (owner, at);
    CREATE INDEX memories_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;
    CREATE INDEX memories_superseded ON memories (superseded_at) WHERE superseded_at IS NOT NULL;
    CREATE VIRTUAL TABLE memories_text USING fts5(
        content, tags, shelves, content = 'memories', content_rowid = 'seq',
        tokenize = 'porter unicode61 remove_diacritics 2'
    );
    CREATE TABLE memory_words (
        word INTEGER NOT NULL, size INTEGER NOT NULL, memory INTEGER NOT NULL,
        PRIMARY KEY (word, size, memory)
    ) WITHOUT ROWID;
    CREATE INDEX memory_words_memory ON memory_words (memory);
    CREATE TABLE memory_origins (
        origin TEXT NOT NULL, memory INTEGER NOT NULL, PRIMARY KEY (origin, memory)
    ) WITHOUT ROWID;
    CREATE INDEX memory_origins_memory ON memory_origins (memory);
    CREATE TABLE memory_vectors (
        memory INTEGER PRIMARY KEY, model TEXT NOT NULL, dimension INTEGER NOT NULL,
        vector BLOB NOT NULL
    );
    CREATE TABLE memory_upkeep (task TEXT PRIMARY KEY, due INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO memory_upkeep VALUES ('merge', 0);
    CREATE TRIGGER memories_inserted AFTER INSERT ON memories BEGIN
        INSERT INTO memories_text (rowid, content, tags, shelves)
            VALUES (new.seq, new.content, new.tags, new.shelves);
        END;
    CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN
        INSERT INTO memories_text (memories_text, rowid, content, tags, shelves)
            VALUES ('delete', old.seq, old.content, old.tags, old.shelves);
        DELETE FROM memory_words WHERE memory = old.seq;
        DELETE FROM memory_origins WHERE memory = old.seq;
        DELETE FROM memory_vectors WHERE memory = old.seq;
        UPDATE memory_upkeep SET due = 1 WHERE task = 'merge' AND NOT due;
        END;
    CREATE TRIGGER memories_reworded AFTER UPDATE OF content, tags, shelves ON memories BEGIN
        INSERT INTO memories_text (memories_text, rowid, content, tags, shelves)
            VALUES ('delete', old.seq, old.content, old.tags, old.shelves);
        INSERT INTO memories_text (rowid, content, tags, shelves)
            VALUES (new.seq, new.content, new.tags, new.shelves);
        DELETE FROM memory_words WHERE memory = old.seq AND new.content <> old.content;
        DELETE FROM memory_vectors WHERE memory = old.seq AND new.content <> old.content;
        UPDATE memory_upkeep SET due = 1 WHERE task = 'merge' AND NOT due;
        END;
"""

POSTGRES: Final = """
    CREATE TEXT SEARCH DICTIONARY parley_stem (TEMPLATE = snowball, LANGUAGE = english);
    CREATE TEXT SEARCH CONFIGURATION parley (COPY = simple);
    ALTER TEXT SEARCH CONFIGURATION parley
        ALTER MAPPING FOR asciiword, word WITH parley_stem;
    CREATE TABLE memories (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE,
        tenant text NOT NULL,
        scope text NOT NULL CHECK (scope IN ('user', 'project', 'global')),
        tier text NOT NULL CHECK (tier IN ('working', 'episodic', 'semantic')),
        kind text NOT NULL, behavioral boolean NOT NULL, content text NOT NULL,
        project text NOT NULL, tags text[] NOT NULL, role text NOT NULL, person text NOT NULL,
        source text NOT NULL, trust text NOT NULL, at timestamptz NOT NULL,
        session text NOT NULL, message_id text NOT NULL, tool text NOT NULL,
        conversation text NOT NULL, room text NOT NULL, channel text NOT NULL,
        audience text NOT NULL, external boolean NOT NULL, claim text NOT NULL,
        captured_at timestamptz NOT NULL, confidence double precision NOT NULL,
        source_id text NOT NULL, valid_until timestamptz, true_from timestamptz,
        true_until timestamptz, expires_at timestamptz, supersedes text NOT NULL,
        superseded_by text NOT NULL, superseded_at timestamptz, confirmed boolean NOT NULL,
        derived_from text[] NOT NULL, owner text NOT NULL, shelves text NOT NULL,
        lexemes tsvector NOT NULL
    );
    CREATE INDEX memories_person ON memories (tenant, person, at);
    CREATE INDEX memories_room ON memories (tenant, room, at) WHERE room <> '';
    CREATE INDEX memories_owner ON memories (owner, at);
    CREATE INDEX memories_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;
    CREATE INDEX memories_superseded ON memories (superseded_at)
        WHERE superseded_at IS NOT NULL;
    CREATE INDEX memories_text ON memories USING gin (lexemes) WITH (fastupdate = off);
    CREATE TABLE memory_words (
        word bigint NOT NULL, size integer NOT NULL, memory bigint NOT NULL,
        PRIMARY KEY (word, size, memory)
    );
    CREATE INDEX memory_words_memory ON memory_words (memory);
    CREATE TABLE memory_origins (
        origin text NOT NULL, memory bigint NOT NULL, PRIMARY KEY (origin, memory)
    );
    CREATE INDEX memory_origins_memory ON memory_origins (memory);
    CREATE FUNCTION memories_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM memory_words WHERE memory = old.seq;
        DELETE FROM memory_origins WHERE memory = old.seq;
        IF to_regclass('memory_vectors') IS NOT NULL THEN
            DELETE FROM memory_vectors WHERE memory = old.seq;
        END IF;
        RETURN old; END $$;
    CREATE TRIGGER memories_deleted AFTER DELETE ON memories
        FOR EACH ROW EXECUTE FUNCTION memories_deleted();
    CREATE FUNCTION memories_reworded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM memory_words WHERE memory = old.seq;
        IF to_regclass('memory_vectors') IS NOT NULL THEN
            DELETE FROM memory_vectors WHERE memory = old.seq;
        END IF;
        RETURN new; END $$;
    CREATE TRIGGER memories_reworded AFTER UPDATE OF content ON memories
        FOR EACH ROW EXECUTE FUNCTION memories_reworded();
"""

STEP: Final = Migration(4, "memories", SQLITE, POSTGRES)
