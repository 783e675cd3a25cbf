"""Turns that were answered and that memory has not looked at yet: few, except after a rush. Every
index is paid for by every answer, so that there are no more than looking somebody's up needs."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE waiting_turns (
        id TEXT PRIMARY KEY, tenant TEXT NOT NULL, person TEXT NOT NULL, room TEXT NOT NULL,
        channel TEXT NOT NULL, message_ids TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL
    );
    CREATE INDEX waiting_turns_person ON waiting_turns (person);
    CREATE INDEX waiting_turns_room ON waiting_turns (room) WHERE room <> '';
"""

POSTGRES: Final = """
    CREATE TABLE waiting_turns (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, room text NOT NULL,
        channel text NOT NULL, message_ids text[] NOT NULL, at timestamptz NOT NULL,
        body text NOT NULL
    );
    CREATE INDEX waiting_turns_at ON waiting_turns (at);
    CREATE INDEX waiting_turns_person ON waiting_turns (person);
    CREATE INDEX waiting_turns_room ON waiting_turns (room) WHERE room <> '';
"""

STEP: Final = Migration(9, "turns that wait for memory", SQLITE, POSTGRES)
