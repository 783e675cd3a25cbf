"""Takes a SQLite file through the ledger."""

import sqlite3

from gateway.storage.migrations.ledger import missing
from gateway.storage.migrations.step import statements

CREATE_LEDGER = (
    "CREATE TABLE IF NOT EXISTS schema_migrations ("
    "version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply what is missing, each step in a transaction; processes that start at once take turns.

    `connection` is in autocommit mode. Raises `StoreUnavailable` when the file is newer than this
    program, and `sqlite3.Error`; a step that failed leaves nothing behind.
    """
    while missing(applied(connection)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _take_next(connection)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def applied(connection: sqlite3.Connection) -> set[int]:
    """The versions a file has taken; none when it is new."""
    known = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'"
    ).fetchone()
    if known is None:
        return set()
    return {int(row[0]) for row in connection.execute("SELECT version FROM schema_migrations")}


def _take_next(connection: sqlite3.Connection) -> None:
    connection.execute(CREATE_LEDGER)
    left = missing(applied(connection))  # asked again: another process may have been faster
    if not left:
        return
    for statement in statements(left[0].sqlite):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO schema_migrations VALUES (?, ?, datetime('now'))",
        (left[0].version, left[0].name),
    )
