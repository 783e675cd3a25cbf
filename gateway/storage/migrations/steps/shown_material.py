"""A turn keeps material, which somebody else wrote, apart from the person's own text."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = "ALTER TABLE turns ADD COLUMN material TEXT NOT NULL DEFAULT '';"
POSTGRES: Final = "ALTER TABLE turns ADD COLUMN material text NOT NULL DEFAULT '';"

STEP: Final = Migration(21, "material of somebody else in turns", SQLITE, POSTGRES)
