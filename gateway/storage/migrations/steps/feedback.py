"""What people think of answers; and receipts are found by the message that they confirm."""

from typing import Final

from gateway.storage.migrations.step import Migration

SQLITE: Final = """
    CREATE TABLE feedback (
        stands_at TEXT NOT NULL, person TEXT NOT NULL, tenant TEXT NOT NULL,
        exchange TEXT NOT NULL, rating INTEGER NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (stands_at, person)
    ) WITHOUT ROWID;
    CREATE INDEX feedback_exchange ON feedback (exchange);
    CREATE INDEX feedback_person ON feedback (tenant, person);
    CREATE INDEX feedback_at ON feedback (at);
    CREATE INDEX outbox_message ON outbox (message_id) WHERE state = 'sent';
"""

POSTGRES: Final = """
    CREATE TABLE feedback (
        stands_at text NOT NULL, person text NOT NULL, tenant text NOT NULL,
        exchange text NOT NULL, rating smallint NOT NULL, at timestamptz NOT NULL,
        PRIMARY KEY (stands_at, person)
    );
    CREATE INDEX feedback_exchange ON feedback (exchange);
    CREATE INDEX feedback_person ON feedback (tenant, person);
    CREATE INDEX feedback_at ON feedback (at);
"""

STEP: Final = Migration(23, "feedback on answers", SQLITE, POSTGRES)
