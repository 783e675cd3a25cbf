"""The people memories belong to, what waits for their word, and the brain's documents."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE people_links (
        tenant TEXT NOT NULL, person TEXT NOT NULL, human TEXT NOT NULL,
        PRIMARY KEY (tenant, person)
    ) WITHOUT ROWID;
    CREATE INDEX people_links_human ON people_links (tenant, human);
    CREATE TABLE people_projects (
        tenant TEXT NOT NULL, person TEXT NOT NULL, project TEXT NOT NULL, title TEXT NOT NULL,
        at REAL NOT NULL, PRIMARY KEY (tenant, person, project)
    ) WITHOUT ROWID;
    CREATE TABLE people_choices (
        tenant TEXT NOT NULL, person TEXT NOT NULL, project TEXT NOT NULL DEFAULT '',
        shows_private INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (tenant, person)
    ) WITHOUT ROWID;
    CREATE TABLE link_codes (
        tenant TEXT NOT NULL, person TEXT NOT NULL, code TEXT NOT NULL, until REAL NOT NULL,
        PRIMARY KEY (tenant, person)
    ) WITHOUT ROWID;
    CREATE INDEX link_codes_until ON link_codes (until);
    CREATE TABLE memory_sessions (
        id TEXT PRIMARY KEY, tenant TEXT NOT NULL, person TEXT NOT NULL,
        conversation TEXT NOT NULL, at REAL NOT NULL, stores INTEGER NOT NULL DEFAULT 0,
        supersedes INTEGER NOT NULL DEFAULT 0, deletes INTEGER NOT NULL DEFAULT 0,
        UNIQUE (tenant, person, conversation)
    ) WITHOUT ROWID;
    CREATE INDEX memory_sessions_at ON memory_sessions (at);
    CREATE TABLE memory_reviews (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,
        person TEXT NOT NULL, scope TEXT NOT NULL, project TEXT NOT NULL, room TEXT NOT NULL,
        target TEXT NOT NULL, state TEXT NOT NULL
            CHECK (state IN ('pending', 'approved', 'rejected')),
        record TEXT NOT NULL, reason TEXT NOT NULL, passed TEXT NOT NULL, failed TEXT NOT NULL,
        submitted_at REAL NOT NULL, decided_at REAL, note TEXT NOT NULL
    );
    CREATE INDEX memory_reviews_waiting ON memory_reviews (tenant, person)
        WHERE state = 'pending';
    CREATE INDEX memory_reviews_decided ON memory_reviews (decided_at)
        WHERE decided_at IS NOT NULL;
    CREATE TABLE brain_documents (
        tenant TEXT NOT NULL, document TEXT NOT NULL, owner TEXT NOT NULL,
        number INTEGER NOT NULL, content TEXT NOT NULL, author TEXT NOT NULL, at REAL NOT NULL,
        synced_at REAL, PRIMARY KEY (tenant, document, owner, number)
    ) WITHOUT ROWID;
"""

POSTGRES: Final = """
    CREATE TABLE people_links (
        tenant text NOT NULL, person text NOT NULL, human text NOT NULL,
        PRIMARY KEY (tenant, person)
    );
    CREATE INDEX people_links_human ON people_links (tenant, human);
    CREATE TABLE people_projects (
        tenant text NOT NULL, person text NOT NULL, project text NOT NULL, title text NOT NULL,
        at timestamptz NOT NULL, PRIMARY KEY (tenant, person, project)
    );
    CREATE TABLE people_choices (
        tenant text NOT NULL, person text NOT NULL, project text NOT NULL DEFAULT '',
        shows_private boolean NOT NULL DEFAULT false, PRIMARY KEY (tenant, person)
    );
    CREATE TABLE link_codes (
        tenant text NOT NULL, person text NOT NULL, code text NOT NULL,
        until timestamptz NOT NULL, PRIMARY KEY (tenant, person)
    );
    CREATE INDEX link_codes_until ON link_codes (until);
    CREATE TABLE memory_sessions (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL,
        conversation text NOT NULL, at timestamptz NOT NULL, stores integer NOT NULL DEFAULT 0,
        supersedes integer NOT NULL DEFAULT 0, deletes integer NOT NULL DEFAULT 0,
        UNIQUE (tenant, person, conversation)
    );
    CREATE INDEX memory_sessions_at ON memory_sessions (at);
    CREATE TABLE memory_reviews (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE,
        tenant text NOT NULL, person text NOT NULL, scope text NOT NULL, project text NOT NULL,
        room text NOT NULL, target text NOT NULL, state text NOT NULL
            CHECK (state IN ('pending', 'approved', 'rejected')),
        record text NOT NULL, reason text NOT NULL, passed text[] NOT NULL,
        failed text[] NOT NULL, submitted_at timestamptz NOT NULL, decided_at timestamptz,
        note text NOT NULL
    );
    CREATE INDEX memory_reviews_waiting ON memory_reviews (tenant, person)
        WHERE state = 'pending';
    CREATE INDEX memory_reviews_decided ON memory_reviews (decided_at)
        WHERE decided_at IS NOT NULL;
    CREATE TABLE brain_documents (
        tenant text NOT NULL, document text NOT NULL, owner text NOT NULL,
        number integer NOT NULL, content text NOT NULL, author text NOT NULL,
        at timestamptz NOT NULL, synced_at timestamptz,
        PRIMARY KEY (tenant, document, owner, number)
    );
"""

STEP: Final = Migration(5, "people, reviews, the brain's documents", SQLITE, POSTGRES)
