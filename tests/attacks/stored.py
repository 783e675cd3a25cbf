"""All stored data, as a backup contains it."""

import sqlite3
from pathlib import Path

import psycopg
from psycopg import sql

from tests.attacks.stage import Stage


async def all_stored(stage: Stage) -> str:
    """Every cell of every table of the databases of a stage, as one text."""
    return "\n".join(_sqlite(file) for file in sorted(stage.folder.glob("*.db"))) + _postgres(stage)


def _sqlite(file: Path) -> str:
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        cells: list[str] = []
        for (table,) in tables:
            try:
                rows = db.execute(f'SELECT * FROM "{table}"').fetchall()
            except sqlite3.OperationalError:
                continue  # a table of an extension's own
            cells += [_text(cell) for row in rows for cell in row]
    db.close()
    return "\n".join(cells)


def _postgres(stage: Stage) -> str:
    url = stage.app.settings.database.url
    if not url.startswith("postgres"):
        return ""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        cells: list[str] = []
        for schema, table in tables:
            query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, table))
            rows = connection.execute(query).fetchall()
            cells += [_text(cell) for row in rows for cell in row]
    return "\n".join(cells)


def _text(cell: object) -> str:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)


def rows_of(stage: Stage, *tables: str) -> int:
    """The number of rows in tables of these names, in all databases of a stage."""
    result = 0
    for file in stage.folder.glob("*.db"):
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
            known = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            for table in known & set(tables):
                result += int(db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])
        db.close()
    url = stage.app.settings.database.url
    if url.startswith("postgres"):
        with psycopg.connect(url) as connection:
            for table in tables:
                if connection.execute("SELECT to_regclass(%s)", (table,)).fetchone() == (None,):
                    continue
                query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
                row = connection.execute(query).fetchone()
                result += int(row[0]) if row else 0
    return result
