"""Spending is forgotten in the end: sums know since when they run, rows are found by their age."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    ALTER TABLE spent ADD COLUMN since REAL NOT NULL DEFAULT 0;
    UPDATE spent SET since = unixepoch();
    CREATE INDEX spent_since ON spent (since);
    CREATE INDEX usage_at ON usage (at);
"""

POSTGRES: Final = """
    ALTER TABLE spent ADD COLUMN since timestamptz NOT NULL DEFAULT now();
    CREATE INDEX spent_since ON spent (since);
    CREATE INDEX usage_at ON usage (at);
"""

STEP: Final = Migration(6, "spending is forgotten in the end", SQLITE, POSTGRES)
