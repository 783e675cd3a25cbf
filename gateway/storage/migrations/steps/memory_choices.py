"""People choose if they are remembered at all, in which conversations they are not, and if they are
shown what was noted; and what waits to be shown to them in private."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    ALTER TABLE people_choices ADD COLUMN memory_off INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE people_choices ADD COLUMN notes INTEGER;
    ALTER TABLE people_choices ADD COLUMN off_in TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE people_choices ADD COLUMN untold TEXT NOT NULL DEFAULT '[]';
"""

POSTGRES: Final = """
    ALTER TABLE people_choices ADD COLUMN memory_off boolean NOT NULL DEFAULT false;
    ALTER TABLE people_choices ADD COLUMN notes boolean;
    ALTER TABLE people_choices ADD COLUMN off_in text[] NOT NULL DEFAULT '{}';
    ALTER TABLE people_choices ADD COLUMN untold text[] NOT NULL DEFAULT '{}';
"""

STEP: Final = Migration(22, "choices about memory and its notes", SQLITE, POSTGRES)
