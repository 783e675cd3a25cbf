"""What a turn cost counts once, however often it is kept: its rows have a place in the turn."""

from typing import Final

from gateway.storage.migrations.step import Migration

ADD_POSITION: Final = """
    ALTER TABLE usage ADD COLUMN position integer NOT NULL DEFAULT 0;
    UPDATE usage SET position = -id;
    CREATE UNIQUE INDEX usage_turn ON usage (turn, position);
"""
"""Older rows get places that no new one takes."""

STEP: Final = Migration(3, "a turn is settled once", ADD_POSITION, ADD_POSITION)
