"""The task of a conversation, and what stands for its older part."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE conversation_notes (
        conversation TEXT PRIMARY KEY, channel TEXT NOT NULL, at REAL NOT NULL,
        task TEXT NOT NULL DEFAULT '', task_person TEXT NOT NULL DEFAULT '',
        task_name TEXT NOT NULL DEFAULT '', task_message TEXT NOT NULL DEFAULT '',
        summary TEXT NOT NULL DEFAULT '', upto_message TEXT NOT NULL DEFAULT '',
        upto_role TEXT NOT NULL DEFAULT '', upto_at REAL NOT NULL DEFAULT 0,
        persons TEXT NOT NULL DEFAULT '[]'
    );
    CREATE INDEX conversation_notes_channel ON conversation_notes (channel);
    CREATE INDEX conversation_notes_at ON conversation_notes (at);
"""

POSTGRES: Final = """
    CREATE TABLE conversation_notes (
        conversation text PRIMARY KEY, channel text NOT NULL, at timestamptz NOT NULL,
        task text NOT NULL DEFAULT '', task_person text NOT NULL DEFAULT '',
        task_name text NOT NULL DEFAULT '', task_message text NOT NULL DEFAULT '',
        summary text NOT NULL DEFAULT '', upto_message text NOT NULL DEFAULT '',
        upto_role text NOT NULL DEFAULT '', upto_at timestamptz,
        persons text[] NOT NULL DEFAULT '{}'
    );
    CREATE INDEX conversation_notes_channel ON conversation_notes (channel);
    CREATE INDEX conversation_notes_at ON conversation_notes (at);
"""

STEP: Final = Migration(11, "notes of conversations", SQLITE, POSTGRES)
