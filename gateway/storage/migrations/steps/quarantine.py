"""Work that processes died of and that is not begun any more: the list that an operator sees."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE quarantine (
        kind TEXT NOT NULL, id TEXT NOT NULL, tenant TEXT NOT NULL, person TEXT NOT NULL,
        place TEXT NOT NULL, deaths INTEGER NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (kind, id)
    ) WITHOUT ROWID;
"""

POSTGRES: Final = """
    CREATE TABLE quarantine (
        kind text NOT NULL, id text NOT NULL, tenant text NOT NULL, person text NOT NULL,
        place text NOT NULL, deaths integer NOT NULL, at timestamptz NOT NULL,
        PRIMARY KEY (kind, id)
    );
"""

STEP: Final = Migration(17, "work that is quarantined", SQLITE, POSTGRES)
