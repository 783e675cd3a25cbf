"""The tables, as a ledger of steps: each applied once, in order, and never changed afterwards."""

import sqlite3
from dataclasses import dataclass
from typing import Final

from gateway.errors import StoreUnavailable


@dataclass(frozen=True, slots=True)
class Migration:
    """One step. `sql` holds statements separated by semicolons."""

    version: int
    name: str
    sql: str


MIGRATIONS: Final = (
    Migration(
        1,
        "hot state: inbox, outbox, buckets, adapter state",
        """
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
        """,
    ),
    Migration(
        2,
        "long-lived state: conversations, usage, traces",
        """
        CREATE TABLE turns (
            id INTEGER PRIMARY KEY AUTOINCREMENT, conversation TEXT NOT NULL,
            channel TEXT NOT NULL, message_id TEXT NOT NULL, answers TEXT NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')), text TEXT NOT NULL,
            at REAL NOT NULL, person TEXT NOT NULL, speaker TEXT NOT NULL,
            UNIQUE (channel, message_id, role)
        );
        CREATE INDEX turns_conversation ON turns (conversation, id);
        CREATE INDEX turns_answers ON turns (channel, answers);
        CREATE INDEX turns_at ON turns (at);
        CREATE TABLE spent (key TEXT PRIMARY KEY, micros INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE reserved (
            turn TEXT NOT NULL, key TEXT NOT NULL, micros INTEGER NOT NULL, at REAL NOT NULL,
            PRIMARY KEY (key, turn)
        ) WITHOUT ROWID;
        CREATE TABLE usage (
            id INTEGER PRIMARY KEY AUTOINCREMENT, turn TEXT NOT NULL, tenant TEXT NOT NULL,
            person TEXT NOT NULL, workspace TEXT NOT NULL, model TEXT NOT NULL,
            input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
            cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
            micros INTEGER NOT NULL, at REAL NOT NULL
        );
        CREATE INDEX usage_person ON usage (tenant, person, at);
        CREATE TABLE traces (
            id TEXT PRIMARY KEY, message_id TEXT NOT NULL, platform TEXT NOT NULL,
            account TEXT NOT NULL, conversation TEXT NOT NULL, kind TEXT NOT NULL,
            at REAL NOT NULL, decisions TEXT NOT NULL, outcome TEXT NOT NULL,
            milliseconds REAL NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX traces_message ON traces (message_id);
        CREATE INDEX traces_at ON traces (at);
        """,
    ),
)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply what is missing. Raises `StoreUnavailable` when the file is newer than this program."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_migrations ("
        "version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
    )
    done = {row[0] for row in connection.execute("SELECT version FROM schema_migrations")}
    unknown = done - {migration.version for migration in MIGRATIONS}
    if unknown:
        raise StoreUnavailable(
            f"the database was written by a newer version of Parley (step {max(unknown)}); "
            "update the program, or restore a backup made before the update"
        )
    for migration in MIGRATIONS:
        if migration.version in done:
            continue
        connection.execute("BEGIN IMMEDIATE")
        for statement in migration.sql.split(";"):
            if statement.strip():
                connection.execute(statement)
        connection.execute(
            "INSERT INTO schema_migrations VALUES (?, ?, datetime('now'))",
            (migration.version, migration.name),
        )
        connection.execute("COMMIT")
