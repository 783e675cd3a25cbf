"""Which tokens of the HTTP interface were given out."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE person_tokens (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL,
        person TEXT NOT NULL, issued_at REAL NOT NULL, until REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX person_tokens_person ON person_tokens (tenant, person);
    CREATE INDEX person_tokens_until ON person_tokens (until);
"""

POSTGRES: Final = """
    CREATE TABLE person_tokens (
        id text PRIMARY KEY, name text NOT NULL UNIQUE, tenant text NOT NULL,
        person text NOT NULL, issued_at timestamptz NOT NULL, until timestamptz NOT NULL
    );
    CREATE INDEX person_tokens_person ON person_tokens (tenant, person);
    CREATE INDEX person_tokens_until ON person_tokens (until);
"""

STEP: Final = Migration(13, "tokens of people", SQLITE, POSTGRES)
