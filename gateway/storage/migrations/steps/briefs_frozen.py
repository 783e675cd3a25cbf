"""Every process and every restart tells a session the same brief: the one of this moment."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = "ALTER TABLE memory_sessions ADD COLUMN briefed REAL;"
POSTGRES: Final = "ALTER TABLE memory_sessions ADD COLUMN briefed timestamptz;"

STEP: Final = Migration(16, "when a session's brief is from", SQLITE, POSTGRES)
