"""What became of a send's last try is known after a crash: whether it was begun, and until when the
platform wants no other. Only where SQLite moves."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    ALTER TABLE outbox ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE outbox ADD COLUMN not_before REAL;
"""

STEP: Final = Migration(15, "sends that were begun", SQLITE, None)
