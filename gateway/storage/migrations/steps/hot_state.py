"""Inbox, outbox, buckets, adapter state. Beside PostgreSQL they live in SQLite or in Redis."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE inbox (
        arrival INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
        lane TEXT NOT NULL, event BLOB NOT NULL, received_at REAL NOT NULL,
        expires_at REAL NOT NULL, done INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX inbox_open ON inbox (arrival) WHERE done = 0;
    CREATE INDEX inbox_expiry ON inbox (expires_at) WHERE done = 1;
    CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
        outbound BLOB NOT NULL, created_at REAL NOT NULL,
        state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'dead')),
        attempts INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',
        message_id TEXT NOT NULL DEFAULT '', settled_at REAL
    );
    CREATE INDEX outbox_waiting ON outbox (seq) WHERE state = 'waiting';
    CREATE INDEX outbox_settled ON outbox (settled_at) WHERE state = 'sent';
    CREATE TABLE buckets (
        key TEXT PRIMARY KEY, tokens REAL NOT NULL, at REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE once (key TEXT PRIMARY KEY, expires_at REAL NOT NULL) WITHOUT ROWID;
    CREATE TABLE adapter_state (
        platform TEXT NOT NULL, account TEXT NOT NULL, key TEXT NOT NULL,
        value TEXT NOT NULL, expires_at REAL NOT NULL,
        PRIMARY KEY (platform, account, key)
    ) WITHOUT ROWID;
"""

STEP: Final = Migration(1, "hot state: inbox, outbox, buckets, adapter state", SQLITE, None)
