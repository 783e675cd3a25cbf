"""Traces of refusals have a place in a ring, which a later one takes over."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    ALTER TABLE traces ADD COLUMN slot INTEGER;
    CREATE INDEX traces_slot ON traces (slot) WHERE slot IS NOT NULL;
"""

POSTGRES: Final = """
    ALTER TABLE traces ADD COLUMN slot integer;
    CREATE INDEX traces_slot ON traces (slot) WHERE slot IS NOT NULL;
"""

STEP: Final = Migration(20, "traces of refusals in a ring", SQLITE, POSTGRES)
