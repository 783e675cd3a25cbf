"""Dead letters are forgotten in the end: they are found by their age. Only where SQLite moves."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE INDEX outbox_dead ON outbox (settled_at) WHERE state = 'dead';
"""

STEP: Final = Migration(7, "dead letters are forgotten in the end", SQLITE, None)
